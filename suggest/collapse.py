"""Many paths in few lines: paths that differ only in layer numbers become one pattern with a count.

decoder.layers.0-27.cross_attention (28)
"""

from __future__ import annotations

from collections.abc import Iterable


def collapsed(paths: Iterable[str]) -> list[str]:
    """One line a pattern, in order of first appearance; ranges where numbers vary, the count where above one."""
    groups: dict[tuple[str, ...], list[tuple[int, ...]]] = {}
    known: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {}
    for path in paths:
        outer, dot, last = path.rpartition(".")
        if outer not in known:
            steps = outer.split(".") if dot else []
            known[outer] = (
                tuple(["#" if step.isdigit() else step for step in steps]),
                tuple([int(step) for step in steps if step.isdigit()]),
            )
        shape, numbers = known[outer]
        if last.isdigit():
            shape, numbers = (*shape, "#"), (*numbers, int(last))
        else:
            shape = (*shape, last)
        groups.setdefault(shape, []).append(numbers)
    return [_line(shape, numbers) for shape, numbers in groups.items()]


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


def _line(shape: tuple[str, ...], numbers: list[tuple[int, ...]]) -> str:
    columns = iter(zip(*numbers, strict=True))
    path = ".".join(_span(next(columns)) if step == "#" else step for step in shape)
    return f"{path} ({len(numbers)})" if len(numbers) > 1 else path


def _span(values: tuple[int, ...]) -> str:
    low, high = min(values), max(values)
    if low == high:
        return str(low)
    return f"{low}-{high}" if len(set(values)) == high - low + 1 else ",".join(map(str, sorted(set(values))))
