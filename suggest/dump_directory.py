"""Find the recordings below a directory of msprobe, and read each different one once.

    dump_path/step0/rank0/{dump.json, construct.json, stack.json}
             /step1/proc4711/...

Steps and ranks are merged (see `suggest.recording`). Ranks whose construct.json has the same bytes made the same calls,
and only the first of them is read: that file is a tenth of a dump and holds no numbers, which differ on every rank.
Where there is none, as at level L1, dump.json decides. Ranks that differ are read side by side. Limits: equal ranks may
still differ in a parameter's shape, which no rule depends on.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from .errors import ReadError
from .progress import stage
from .read_dump import FILES, read_rank, recording_of
from .recording import Merger, Recording
from .side_by_side import with_processes, with_threads
from .source import Source

_DEEPEST = 4  # <version>/<side>/step0/rank0, so that several runs are told from none
_USUAL = re.compile(r"(step|rank|proc)\d*$")
_SHOWN = 4
_PIECE = 1 << 20


def holds_dumps(directory: Path) -> bool:
    """Whether there is a dump in or below a directory."""
    return next(_rank_directories(directory), None) is not None


def only_dump(directory: Path) -> Path | None:
    """The directory of the one dump at or below a directory, None if there are several, or none at all."""
    homes: set[Path] = set()
    for home in _rank_directories(directory):
        homes.add(home)
        if len(homes) > 1:
            break
    return homes.pop() if len(homes) == 1 else None


def read_directory(directory: Path, label: str) -> Source:
    """All different ranks and steps at or below a directory, merged."""
    homes = rank_directories(directory)
    _one_run(homes, directory, label)
    if len(homes) > 1:
        stage(f"comparing {len(homes):,} dumps below {label}")
    fresh = _different(homes)
    merger = Merger()
    merger.equal = len(homes) - len(fresh)
    if len(fresh) > 1:
        stage(f"reading {len(fresh):,} of {len(homes):,} dumps below {label}")
    for recording in with_processes(partial(_read, directory), fresh, sum(map(_size, fresh))):
        merger.add(recording)
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


def _read(directory: Path, home: Path) -> Recording:
    return recording_of(read_rank(home, home.relative_to(directory).as_posix()))


def _size(home: Path) -> int:
    return sum(place.stat().st_size for name in FILES if (place := home / name).is_file())


def _different(homes: Sequence[Path]) -> list[Path]:
    """The first of every structure; a file of a size that no other has is different without being looked into."""
    telling = {home: _telling(home) for home in homes}
    sizes = {home: place.stat().st_size if place else -1 for home, place in telling.items()}
    count = Counter(sizes.values())
    alike = [place for home, place in telling.items() if place and count[sizes[home]] > 1]
    digests = dict(zip(alike, with_threads(_digest, alike, sum(place.stat().st_size for place in alike)), strict=True))
    first: dict[object, Path] = {}
    for home, place in telling.items():
        known = (place.name, sizes[home], digests.get(place, b"")) if place else home
        first.setdefault(known, home)
    return list(first.values())


def _telling(home: Path) -> Path | None:
    """The file that tells the calls of a rank: construct.json, or dump.json where that is empty or not there."""
    places = (home / name for name in reversed(FILES))
    return next((place for place in places if place.is_file() and place.stat().st_size > len("{}\n")), None)


def _digest(place: Path) -> bytes:
    digest = hashlib.blake2b()
    with place.open("rb") as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
    return digest.digest()
