"""Find the recordings below a directory of msprobe, and read each different one once.

    dump_path/step0/rank0/{dump.json, construct.json, stack.json}
             /step1/proc4711/...

Steps and ranks are merged (see `suggest.recording`). Ranks whose construct.json has the same bytes made the same calls,
and only the first of them is read; where there is none, as at level L1, dump.json decides. Limits: such ranks may still
differ in a parameter's shape, which no rule depends on.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from .errors import ReadError
from .read_dump import FILES, read_rank
from .recording import Merger
from .source import Source

_DEEPEST = 4  # <version>/<side>/step0/rank0, so that several runs are told from none
_USUAL = re.compile(r"(step|rank|proc)\d*$")
_SHOWN = 4
_PIECE = 1 << 20


def holds_dumps(directory: Path) -> bool:
    """Whether there is a dump in or below a directory."""
    return next(_rank_directories(directory), None) is not None


def read_directory(directory: Path, label: str) -> Source:
    """All different ranks and steps at or below a directory, merged."""
    homes = rank_directories(directory)
    _one_run(homes, directory, label)
    merger = Merger()
    seen: set[bytes] = set()
    for home in homes:
        digest = _digest(home) if len(homes) > 1 else b""
        if digest in seen:
            merger.equal += 1
        else:
            seen.add(digest)
            merger.add(read_rank(home, home.relative_to(directory).as_posix()))
    return merger.source(label, "msprobe dump", _notes(merger, directory))


def rank_directories(directory: Path) -> list[Path]:
    """The directories with a dump at or below a directory, in the order of steps and ranks."""
    return sorted(set(_rank_directories(directory)), key=lambda home: _natural(home.relative_to(directory)))


def _notes(merger: Merger, directory: Path) -> list[str]:
    different = len(merger.wheres)
    if different + merger.equal == 1:
        return []
    name = directory.name or str(directory)
    shown = ", ".join(merger.wheres[:_SHOWN])
    more = f" and {different - _SHOWN} more" if different > _SHOWN else ""
    same = f"; {merger.equal} recorded the same calls and are read once" if merger.equal else ""
    verb = "merged" if different > 1 else "read"
    return [f"{verb} {shown}{more} of {different + merger.equal} dumps below {name}{same}"]


def _rank_directories(directory: Path) -> Iterator[Path]:
    if any((directory / name).is_file() for name in FILES):
        yield directory
        return
    for depth in range(1, _DEEPEST + 1):
        for name in FILES:
            yield from (path.parent for path in directory.glob("*/" * depth + name) if path.is_file())


def _one_run(homes: Sequence[Path], directory: Path, label: str) -> None:
    """Directories of other names than steps and ranks hold other runs, which nobody wants mixed."""
    if not homes:
        raise ReadError(label, "no dump.json or construct.json in this directory", "give an msprobe dump directory")
    runs = {
        "/".join(part for part in home.relative_to(directory).parts if not _USUAL.match(part)): None for home in homes
    }
    if len(runs) > 1:
        names = ", ".join(list(runs)[:_SHOWN])
        raise ReadError(label, f"holds the dumps of {len(runs)} runs: {names}", "give the directory of one of them")


def _natural(path: Path) -> list[list[tuple[int, str]]]:
    return [[(int(text or 0), word) for word, text in re.findall(r"(\D*)(\d*)", part)] for part in path.parts]


def _digest(home: Path) -> bytes:
    for name in reversed(FILES):
        place = home / name
        if place.is_file() and place.stat().st_size > len("{}\n"):
            digest = hashlib.blake2b(name.encode())
            with place.open("rb") as stream:
                while piece := stream.read(_PIECE):
                    digest.update(piece)
            return digest.digest()
    return str(home).encode()
