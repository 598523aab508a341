"""What msprobe measured at every module: the tensors of its first forward call, read from dump.json once more.

For people to look at in a review; the matcher does not see it. Of several steps and ranks
the first tells it. An input that is no dump has none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .source import Source

_MOST_TENSORS = 3  # of a module's inputs or outputs; the rest adds nothing to tell two modules apart


@dataclass(frozen=True, slots=True)
class Tensor:
    """One input or output. Figures are None where the dump does not tell them."""

    shape: tuple[int, ...]
    dtype: str
    figures: tuple[float | None, float | None, float | None, float | None]  # Max, Min, Mean, Norm


@dataclass(frozen=True, slots=True)
class Measured:
    """The first tensors that went into a module and came out of it."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


def statistics(path: str, source: Source) -> dict[str, Measured]:
    """By scope, what the dump at a path tells of every module's first forward call; empty if it is no dump."""
    data = records(path) if source.kind == "msprobe dump" else {}
    found: dict[str, Measured] = {}
    for entry in source.entries if data else ():
        scope = ".".join(entry.scope)
        record = data.get(entry.name)
        if entry.state == "forward" and scope not in found and isinstance(record, dict):
            inputs, outputs = (tuple(_tensors(record.get(part)))[:_MOST_TENSORS] for part in ("input_args", "output"))
            if inputs or outputs:
                found[scope] = Measured(inputs, outputs)
    return found


def records(path: str) -> Mapping[str, Any]:
    """The entries of the first dump.json at or below a path, by name; empty where there is none to be read."""
    place = Path(path)
    if place.is_dir():
        found = sorted((*place.glob("dump.json"), *place.glob("*/dump.json"), *place.glob("*/*/dump.json")), key=_order)
        place = found[0] if found else place / "dump.json"
    elif place.name == "construct.json":
        place = place.parent / "dump.json"
    try:
        data = json.loads(place.read_bytes()).get("data")
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _order(path: Path) -> list[tuple[int, str]]:
    """Step and rank in the order of their numbers."""
    return [(len(part), part) for part in path.parts]


def _tensors(value: object) -> Iterator[Tensor]:
    if isinstance(value, dict) and isinstance(value.get("shape"), list):
        yield Tensor(
            tuple(extent for extent in value["shape"] if isinstance(extent, int)),
            str(value.get("dtype", "")).rpartition(".")[2],
            (_figure(value, "Max"), _figure(value, "Min"), _figure(value, "Mean"), _figure(value, "Norm")),
        )
    elif isinstance(value, (list, dict)):
        parts: Iterable[object] = value if isinstance(value, list) else value.values()
        for part in parts:
            yield from _tensors(part)


def _figure(tensor: Mapping[str, Any], name: str) -> float | None:
    value = tensor.get(name)
    return float(value) if isinstance(value, (int, float)) and abs(value) < float("inf") else None
