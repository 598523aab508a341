"""Fused correspondences that no rule can express, in words: what a draft lists below its rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from matcher import Alignment

from .collapse import collapsed
from .repeats import Repeats
from .source import Source


def group_lines(alignment: Alignment, npu: Source, bench: Source) -> tuple[str, ...]:
    """A line for every kind of group, collapsed over layers."""
    here, there = alignment.npu, alignment.bench
    lines: dict[str, tuple[Repeats, list[str]]] = {}
    for group in alignment.groups:
        ours, theirs = [here.paths[node] for node in group.npu], [there.paths[node] for node in group.bench]
        if len(ours) == 1:
            text = f"{{}} covers {_sum(theirs, bench.repeats, npu.repeats.count(ours))}"
            lines.setdefault(text, (npu.repeats, []))[1].extend(ours)
        else:
            text = f"{{}} covers {_sum(ours, npu.repeats, bench.repeats.count(theirs))} of the NPU side"
            lines.setdefault(text, (bench.repeats, []))[1].extend(theirs)
    return tuple(text.format(line) for text, (repeats, paths) in lines.items() for line in collapsed(paths, repeats))


def _sum(paths: Iterable[str], repeats: Repeats, layers: int) -> str:
    """The names of a group's members, each once, with its number where there are several (``4 x up_proj``); the group
    stands for as many layers.
    """
    count: Counter[str] = Counter()
    for path in paths:
        count[path.rpartition(".")[2]] += repeats.count([path]) // layers
    return " + ".join(name if number == 1 else f"{number} x {name}" for name, number in count.items())
