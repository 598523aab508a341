"""The records of a dump once more: what msprobe measured at every module, and the tensors of every entry.

Reading an input keeps of a record only what the matcher needs. People who review look at more, and so do formats that
name tensors; for them the files are read a second time, entry by entry, and only the entries asked for are kept. Of
several steps and ranks the first that has an entry tells it. An input that is no dump has no records.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from .dump_directory import rank_directories
from .errors import LayermapError
from .files import Input
from .recording import is_module, name_at
from .source import Source
from .stream import JsonStream
from .tensors import Tensor, tensors_in

_MOST_TENSORS = 3  # of a module's inputs or outputs; the rest adds nothing to tell two modules apart


@dataclass(frozen=True, slots=True)
class Measured:
    """The first tensors that went into a module and came out of it, and its parameters by name."""

    inputs: tuple[Tensor, ...] = ()
    outputs: tuple[Tensor, ...] = ()
    parameters: tuple[tuple[str, Tensor], ...] = ()


def measured(path: str, source: Source) -> dict[str, Measured]:
    """By scope, what the dump at a path tells of every module's first forward call; empty if it is no dump."""
    if source.kind != "msprobe dump":
        return {}
    first: dict[str, str] = {}
    for entry in source.entries:
        if entry.state == "forward" and is_module(entry):
            first.setdefault(".".join(entry.scope), entry.name)
    known = records(path, set(first.values()))
    found = {scope: _measured(known[name]) for scope, name in first.items() if name in known}
    return {scope: what for scope, what in found.items() if what != Measured()}


def records(path: str, wanted: Collection[str]) -> dict[str, Mapping[str, object]]:
    """The records of these entries in the dumps at or below a path, by name; what cannot be read has none."""
    found: dict[str, Mapping[str, object]] = {}
    try:
        for where, place in _dumps(Path(path)):
            for name, record in _data(place):
                names = (name, name_at(name, where))
                key = next((key for key in names if key in wanted and key not in found), None)
                if key is not None and isinstance(record, dict):
                    found[key] = record
            if len(found) == len(wanted):
                break
    except (LayermapError, OSError, ValueError):
        return found
    return found


def _dumps(place: Path) -> Iterator[tuple[str, Path]]:
    """Every dump.json, with the name of its rank within a directory."""
    if place.is_dir():
        for home in rank_directories(place):
            yield home.relative_to(place).as_posix(), home / "dump.json"
    else:
        yield "", place.parent / "dump.json" if place.name == "construct.json" else place


def _data(place: Path) -> Iterator[tuple[str, object]]:
    if not place.is_file():
        return
    stream = JsonStream(Input(str(place), place).chunks(), str(place))
    for key in stream.members():
        if key == "data" and stream.peek() == "{":
            yield from ((name, stream.value()) for name in stream.members())
        else:
            stream.value()


def _measured(record: Mapping[str, object]) -> Measured:
    parameters = record.get("parameters")
    pairs = parameters.items() if isinstance(parameters, dict) else ()
    return Measured(
        tuple(islice(tensors_in(record.get("input_args")), _MOST_TENSORS)),
        tuple(islice(tensors_in(record.get("output")), _MOST_TENSORS)),
        tuple((name, tensor) for name, value in pairs for tensor in islice(tensors_in(value), 1)),
    )
