"""Align two module trees."""

from __future__ import annotations

from dataclasses import replace

from .assign import Links
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
    _, top = aligner.align_below(0, 0)
    _expand(aligner, top, links)
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
            _expand(aligner, aligner.links(a, b), moved)
            back = set(links.values()) | set(moved.values())
    return judge(aligner, complete(aligner, links, moved), Calibration())


def _expand(aligner: Aligner, found: Links, links: dict[int, int]) -> None:
    stack = [found]
    while stack:
        for a, b in stack.pop():
            links[max(a, -1 - a)] = max(b, -1 - b)
            if a >= 0 and b >= 0:
                stack.append(aligner.links(a, b))
