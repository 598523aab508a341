"""Many paths in few lines: paths that differ only in layer numbers become one pattern with a count.

decoder.layers.0-27.cross_attention (28)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from .repeats import NONE, Repeats

_Numbers = tuple[tuple[int, ...], ...]  # for every number of a path, those that it stands for, its own among them


@dataclass(slots=True)
class _Pattern:
    """The numbers at every place, and how many paths there are."""

    columns: list[set[int]]
    count: int = 0

    def add(self, numbers: _Numbers) -> None:
        for column, several in zip(self.columns, numbers, strict=True):
            column.update(several)
        self.count += prod(map(len, numbers))

    def line(self, shape: tuple[str, ...]) -> str:
        columns = iter(self.columns)
        path = ".".join(_span(next(columns)) if step == "#" else step for step in shape)
        return f"{path} ({self.count})" if self.count > 1 else path


def collapsed(paths: Iterable[str], repeats: Repeats = NONE) -> list[str]:
    """One line a pattern, in order of first appearance; ranges where numbers vary, the count where above one.

    Paths stand for those of modules that were left out, too.
    """
    groups: dict[tuple[str, ...], _Pattern] = {}
    known: dict[str, tuple[tuple[str, ...], _Numbers]] = {"": ((), ())}
    for path in paths:
        outer, _, last = path.rpartition(".")
        above, numbers = known[outer] if outer in known else _taken_apart(outer, repeats, known)
        if last.isdecimal():
            shape, numbers = (*above, "#"), (*numbers, (int(last), *repeats.numbers.get(path, ())))
        else:
            shape = (*above, last)
        pattern = groups.get(shape)
        if pattern is None:
            pattern = groups[shape] = _Pattern([set() for _ in numbers])
        pattern.add(numbers)
    return [pattern.line(shape) for shape, pattern in groups.items()]


def _taken_apart(
    path: str, repeats: Repeats, known: dict[str, tuple[tuple[str, ...], _Numbers]]
) -> tuple[tuple[str, ...], _Numbers]:
    """The steps of a path with numbers as ``#``, and its numbers."""
    shape: list[str] = []
    numbers: list[tuple[int, ...]] = []
    above = ""
    for step in path.split("."):
        above = f"{above}.{step}" if above else step
        shape.append("#" if step.isdecimal() else step)
        if step.isdecimal():
            numbers.append((int(step), *repeats.numbers.get(above, ())))
    found = known[path] = tuple(shape), tuple(numbers)
    return found


def topmost(alone: Iterable[str], hit: Iterable[str]) -> list[str]:
    """One-sided paths, without those inside a one-sided module of which nothing is matched at all."""
    listed = list(alone)
    busy: set[str] = set()
    for path in hit if listed else ():
        outer = path.rpartition(".")[0]
        while outer and outer not in busy:
            busy.add(outer)
            outer = outer.rpartition(".")[0]
    empty = set(listed) - busy
    inside = {"": False}
    found = []
    for path in listed:
        outer, way = path.rpartition(".")[0], []
        while outer not in inside:
            way.append(outer)
            outer = outer.rpartition(".")[0]
        within = inside[outer]
        for step in reversed(way):
            within = inside[step] = within or step in empty
        if not within:
            found.append(path)
    return found


def _span(values: set[int]) -> str:
    low, high = min(values), max(values)
    if low == high:
        return str(low)
    return f"{low}-{high}" if len(values) == high - low + 1 else ",".join(map(str, sorted(values)))
