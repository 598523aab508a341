"""What is kept of the entries in a dump.json: their names, and of forward calls of modules shapes and statistics.

Everything else, nine tenths of the file, is skipped undecoded: inputs, backward entries, APIs. Records that are equal
byte for byte, as those of experts in a dump without statistics are, are decoded once.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from matcher import Numbers, Params

from .source import LAYER_PREFIXES
from .stream import JsonStream
from .tensors import result_of, shape_of, weight_of

_REMEMBERED = 4_096  # records kept for recognising equal ones


@dataclass(frozen=True, slots=True)
class Told:
    """What one record tells; ``params`` is None where it has no parameters, ``shapeless`` counts unreadable shapes."""

    output: Numbers | None
    params: Params | None
    weight: Numbers | None
    shapeless: int


_NOTHING = Told(None, None, None, 0)


@dataclass(slots=True)
class Records:
    """What dump.json tells: names in order, and of modules the parameters, of which some may have no readable shape.

    ``outputs`` are the statistics of first results, ``weights`` those of largest parameters, by name, of forward calls.
    """

    names: list[str] = field(default_factory=list)
    params: dict[str, Params] = field(default_factory=dict)
    outputs: dict[str, Numbers] = field(default_factory=dict)
    weights: dict[str, Numbers] = field(default_factory=dict)
    shapeless: int = 0

    def add(self, name: str, told: Told) -> None:
        """What the record of a module's forward call tells."""
        if told.output is not None:
            self.outputs[name] = told.output
        if told.params is not None:
            self.params[name] = told.params
        if told.weight is not None:
            self.weights[name] = told.weight
        self.shapeless += told.shapeless

    def take(self, name: str, record: Mapping[str, object]) -> None:
        """One entry."""
        name = sys.intern(name)
        self.names.append(name)
        if is_read(name):
            self.add(name, told_by(record))


def is_read(name: str) -> bool:
    """Whether an entry is a module's forward call: of no other one is the record used."""
    return ".forward." in name and name.startswith(LAYER_PREFIXES)


def read_records(stream: JsonStream) -> Records:
    """The object ``data`` of a dump.json at the cursor, batch by batch; of several calls of a module the first."""
    import msgspec  # noqa: PLC0415  start-up: a printed model needs none of it

    records = Records()
    decode = _decoder()
    known: dict[bytes, Told] = {}
    read: set[str] = set()
    for batch in stream.batches(msgspec.Raw):
        records.names += batch
        for name in _first_calls(batch, read):
            record = batch[name]
            if isinstance(record, msgspec.Raw):
                raw = bytes(record)
                told = known.get(raw)
                if told is None:
                    told = told_by(decode(raw))
                    if len(known) < _REMEMBERED:
                        known[raw] = told
            else:
                told = told_by(record) if isinstance(record, dict) else _NOTHING
            if told is not _NOTHING:
                records.add(name, told)
    return records


def _first_calls(names: Iterable[str], read: set[str]) -> list[str]:
    """The forward calls among these names that are the first of their module; ``read`` are the modules of those before
    them, each named as its call 0, and gets the new ones.
    """
    found = []
    for name in names:
        if is_read(name):
            module = name if name.endswith(".0") else f"{name.rpartition('.')[0]}.0"
            if module not in read:
                read.add(module)
                found.append(name)
    return found


def told_by(record: Mapping[str, object]) -> Told:
    """What the record of a module's forward call tells."""
    output = result_of(record)
    parameters = record.get("parameters")
    if not isinstance(parameters, dict) or not parameters:
        return Told(output, None, None, 0) if output is not None else _NOTHING
    shapes = [(key, shape_of(tensor)) for key, tensor in parameters.items()]
    found = tuple((sys.intern(key), shape) for key, shape in shapes if shape is not None)
    return Told(output, found, weight_of(parameters), len(shapes) - len(found))


def _decoder() -> Callable[[bytes], Mapping[str, object]]:
    """A function that decodes of a record only what is used; {} for what is no object."""
    import msgspec  # noqa: PLC0415

    record = msgspec.defstruct("record", [("output", Any, None), ("parameters", Any, None)], gc=False)
    decode = msgspec.json.Decoder(record).decode

    def decoded(raw: bytes) -> Mapping[str, object]:
        try:
            found: Any = decode(raw)
        except msgspec.DecodeError:
            other = json.loads(raw)
            return other if isinstance(other, dict) else {}
        return {"output": found.output, "parameters": found.parameters}

    return decoded
