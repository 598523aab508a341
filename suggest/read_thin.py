"""Read two large dumps without the modules that others stand for (`suggest.thin`), which takes a third of the time.

The files are read whole, but what is left out never becomes an entry, a node of a tree and of a trie, and a pair. What
a dump tells is little as long as it holds no statistics, so the two are read side by side then. Limits: single dumps of
modules only; others are read as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from matcher import Numbers

from .dump_directory import only_dump
from .files import Input, is_place
from .progress import stage
from .read_dump import FILES, Contents, noted, read_rank, recording_of
from .read_json import dump_beside
from .recording import source_of
from .records import Records
from .side_by_side import with_processes
from .source import LAYER_PREFIXES, Source
from .thin import Rows, Thin, rows_of, thinned, whole

_LEAST = 1 << 20  # bytes of both dump.json; smaller ones are matched in no time
_FEWEST = 4_000  # entries of a side
_HEAD = 1 << 16  # bytes that tell whether there are statistics
_STATISTICS = (b'"Max"', b'"md5"')
_MIX = (b'"mix"', b'"L1"')
_RENUMBERED = ".ParallelTransformer."
_NAME_DOTS = 3


@dataclass(frozen=True, slots=True)
class _Dump:
    """A single dump: the directory that it was found in below the one that was given, or the file."""

    label: str
    place: Path

    def data(self) -> Path:
        return self.place / FILES[0] if self.place.is_dir() else self.place

    def head(self) -> bytes:
        if not self.data().is_file():
            return b""
        with self.data().open("rb") as stream:
            return stream.read(_HEAD)

    def size(self) -> int:
        return self.data().stat().st_size if self.data().is_file() else 0

    def contents(self) -> Contents | None:
        if self.place.is_dir():
            return read_rank(self.place, self.place.relative_to(self.label).as_posix())
        return dump_beside(Input(self.label, self.place))


@dataclass(frozen=True, slots=True)
class _Digest:
    """What a dump tells, by rows of equal modules where it has them: its contents are without names then."""

    contents: Contents
    rows: Rows | None


def read_thin(npu: str, bench: str) -> tuple[Source, Source] | None:
    """Both sides, thinned where that can be; None for what is no pair of large single dumps.

    Raises `ReadError` as `suggest.read.read` does.
    """
    dumps = [dump for dump in map(_dump_at, (npu, bench)) if dump is not None]
    size = sum(dump.size() for dump in dumps)
    if len(dumps) < 2 or size < _LEAST:
        return None
    heads = [dump.head() for dump in dumps]
    if any(sign in head for head in heads for sign in _MIX):
        return None
    stage(f"reading {npu} and {bench}")
    bare = not any(sign in head for head in heads for sign in _STATISTICS)
    found = with_processes(_digest, dumps, size, small=True) if bare else map(_digest, dumps)
    here, there = found
    if here is None or there is None:
        return None
    left: Thin | None
    right: Thin | None
    if here.rows is not None and there.rows is not None:
        left, right = thinned(here.rows, there.rows)
    else:
        left, right = (whole(one.rows) if one.rows is not None else None for one in (here, there))
    return _source(here.contents, npu, left), _source(there.contents, bench, right)


def _dump_at(path: str) -> _Dump | None:
    if not is_place(path):
        return None
    place = Path(path)
    if place.is_dir():
        home = only_dump(place)
        return _Dump(path, home) if home is not None else None
    return _Dump(path, place) if place.name in FILES else None


def _digest(dump: _Dump) -> _Digest | None:
    """What a dump tells; None for what turns out to be none."""
    contents = dump.contents()
    rows = _rows(contents) if contents is not None else None
    if contents is None or contents.records is None or rows is None:
        return _Digest(contents, None) if contents is not None else None
    rest = replace(contents.records, names=[], params={})
    return _Digest(replace(contents, records=rest, parents=None, stack={}, notes=noted(contents)), rows)


def _rows(contents: Contents) -> Rows | None:
    """The rows of equal modules of a dump; None if it holds what cannot be thinned."""
    names = contents.records.names if contents.records is not None else []
    parents = set((contents.parents or {}).values())
    bad = any(parent is not None and 0 < parent.count(".") < _NAME_DOTS for parent in parents)
    text = "\n".join(["", *names])
    modules = sum(text.count(f"\n{prefix}.") for prefix in LAYER_PREFIXES)
    if len(names) < _FEWEST or bad or modules != len(names) or _RENUMBERED in text or contents.records is None:
        return None
    return rows_of(names, contents.records.params)


def _source(contents: Contents, label: str, thin: Thin | None) -> Source:
    records = contents.records
    if thin is None or records is None:
        return source_of(recording_of(contents), label, "msprobe dump")
    stay = replace(contents, records=replace(records, names=thin.names, params=thin.params))
    source = source_of(recording_of(stay), label, "msprobe dump")
    return replace(source, repeats=thin.repeats, results=tuple(_results(records)) if thin.repeats else ())


def _results(records: Records) -> Iterator[tuple[str, Numbers]]:
    """What all modules returned first, by path."""
    for name, numbers in records.outputs.items():
        yield name.partition(".")[2].rsplit(".", 3)[0], numbers
