"""Align two module trees."""

from __future__ import annotations

from dataclasses import replace

from .alignment import Alignment, Pair
from .chunks import is_chunked, merged
from .confidence import Calibration, judge
from .fold import fold
from .forest import Aligner
from .leftover import pair_leftovers
from .parents import complete
from .score import Weights
from .traits import traits_of
from .tree import Tree


def align(npu: Tree, bench: Tree, weights: Weights = Weights()) -> Alignment:
    here, there = npu, bench
    own: tuple[int, ...] | range = range(len(npu))
    other: tuple[int, ...] | range = range(len(bench))
    if is_chunked(npu) != is_chunked(bench):
        if is_chunked(npu):
            here, own = merged(npu)
        else:
            there, other = merged(bench)
    pairs = tuple(
        sorted(
            (
                replace(
                    pair,
                    npu=own[pair.npu],
                    bench=other[pair.bench],
                    runner_up=None if pair.runner_up is None else other[pair.runner_up],
                )
                for pair in _pairs(here, there, weights)
            ),
            key=lambda pair: pair.npu,
        )
    )
    return Alignment(npu=npu, bench=bench, pairs=pairs)


def _pairs(npu: Tree, bench: Tree, weights: Weights) -> tuple[Pair, ...]:
    left, right = fold(npu, traits_of(npu)), fold(bench, traits_of(bench))
    aligner = Aligner(left, right, weights)
    links: dict[int, int] = {}
    _, top = aligner._align_below(0, 0)
    _expand(aligner, 0, 0, top, links)
    moved: dict[int, int] = {}
    for _ in range(3):
        more = pair_leftovers(aligner, links | moved)
        if not more:
            break
        back = set(links.values()) | set(moved.values())
        for a, b in more:
            if a in links or a in moved or b in back:
                continue
            moved[a] = b
            _expand(aligner, a, b, aligner.solve(left.kind[a], right.kind[b]).links, moved)
            back = set(links.values()) | set(moved.values())
    return judge(aligner, complete(aligner, links, moved), Calibration())


def _expand(aligner, a0, b0, found, links):
    left, right = aligner.left, aligner.right
    stack = [(a0, b0, found)]
    while stack:
        a0, b0, found = stack.pop()
        first_a, first_b = left.first[left.kind[a0]], right.first[right.kind[b0]]
        for a, b in found:
            bare = a < 0 or b < 0
            x, y = max(a, -1 - a) - first_a + a0, max(b, -1 - b) - first_b + b0
            links[x] = y
            if not bare:
                stack.append((x, y, aligner.solve(left.kind[x], right.kind[y]).links))
