"""How sure a pair is: a calibrated probability from its value, its margin over the runner-up and its surroundings.

Logistic regression on a few features of the finished alignment (Platt scaling), fitted in `benchmarks/fit.py` on left-out
model families, so that of the pairs that say 0.9 nine in ten are right. Limits: calibrated on published architectures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .alignment import Evidence, Pair
from .forest import Aligner
from .score import name_likeness, shape_relation

_CANDIDATES = 40  # neighbours of the chosen node that are looked at as runners-up


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Coefficients of the logistic regression, in log odds per unit."""

    bias: float = 0.2
    own: float = 0.6
    margin: float = 0.5
    children: float = 1.5
    parent: float = 0.8


def judge(
    aligner: Aligner, links: dict[int, int], calibration: Calibration, doubtful: dict[int, str]
) -> tuple[Pair, ...]:
    """A `Pair` with evidence, score, runner-up and confidence for every link, by left node.

    ``doubtful`` gives left nodes that cannot be trusted, and why; what stands below them shares the doubt.
    """
    left, right = aligner.left.tree, aligner.right.tree
    matched_left, matched_right = (
        _matched_below(left.parents, links),
        _matched_below(right.parents, set(links.values())),
    )
    pairs = []
    for a, b in sorted(links.items()):
        own = aligner.own(a, b)
        runner, second = _runner_up(aligner, a, b)
        shared = _agreement(aligner, a, b, matched_left, matched_right)
        home = _nearest_matched(left.parents, a, links)
        parent = None if home is None else float(right.ends[links[home]] > b >= links[home])
        log_odds = calibration.bias + calibration.own * own + calibration.margin * min(own - second, 3.0)
        log_odds += calibration.children * (shared if shared is not None else 0.5) + calibration.parent * (
            parent or 0.0
        )
        pairs.append(
            Pair(
                npu=a,
                bench=b,
                score=_sigmoid(own),
                confidence=_sigmoid(log_odds),
                evidence=_evidence(aligner, a, b, shared, parent),
                runner_up=runner,
                runner_up_score=_sigmoid(second) if runner is not None else 0.0,
            )
        )
    return tuple(pairs)


def _sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, value))))


def _evidence(aligner: Aligner, a: int, b: int, children: float | None, parent: float | None) -> Evidence:
    left, right = aligner.left, aligner.right
    one, other = left.traits[a], right.traits[b]
    shape = None
    if one.shape and other.shape:
        shape = {"equal": 1.0, "compatible": 0.5, "clash": 0.0}[shape_relation(one.shape, other.shape)]
    cls = None
    if left.tree.classes[a] and right.tree.classes[b]:
        same = left.tree.classes[a] == right.tree.classes[b]
        cls = 1.0 if same else 0.5 if one.genus == other.genus != "" else 0.0
    name = name_likeness(left.tree.names[a], right.tree.names[b], one, other)
    return Evidence(name=name, cls=cls, shape=shape, parent=parent, children=children)


def _runner_up(aligner: Aligner, a: int, b: int) -> tuple[int | None, float]:
    """The best other node near the chosen one, and its own value; (None, a low value) where there is none."""
    tree = aligner.right.tree
    parent = tree.parents[b]
    near = tree.children[parent][:_CANDIDATES] if parent >= 0 else ()
    best, value = None, -3.0
    for other in near:
        if other != b and tree.called[other] == tree.called[b] and not tree.names[other].isdigit():
            found = aligner.own(a, other)
            if found > value:
                best, value = other, found
    return best, value


def _matched_below(parents: tuple[int, ...], matched: dict[int, int] | set[int]) -> list[int]:
    """Number of matched nodes in every subtree."""
    count = [0] * len(parents)
    for node in range(len(parents) - 1, -1, -1):
        count[node] += node in matched
        if node:
            count[parents[node]] += count[node]
    return count


def _agreement(aligner: Aligner, a: int, b: int, here: list[int], there: list[int]) -> float | None:
    """Share of what is below the two nodes that is matched, None for leaves."""
    size = aligner.left.tree.ends[a] - a - 1 + aligner.right.tree.ends[b] - b - 1
    if size == 0:
        return None
    return min(1.0, (here[a] - 1 + there[b] - 1) / size) if size else None


def _nearest_matched(parents: tuple[int, ...], node: int, links: dict[int, int]) -> int | None:
    node = parents[node]
    while node > 0:
        if node in links:
            return node
        node = parents[node]
    return None
