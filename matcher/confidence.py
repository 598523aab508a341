"""How sure a pair is: a calibrated probability from its value, its margin over the runner-up and its surroundings.

Logistic regression on a few features of the finished alignment (Platt, 1999), fitted on published models with whole
families left out (`benchmarks/calibrate.py`), so that of the pairs that say 0.9 nine in ten are right. Limits:
calibrated on networks whose names mean something; where they do not, the margin is small and the confidence low.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from .alignment import Evidence, Pair
from .forest import Aligner
from .likeness import name_likeness
from .links import Links
from .names import is_known
from .numbers import Numbers, closeness, comparable
from .shapes import shape_relation

_CANDIDATES = 40  # neighbours of the chosen node that are looked at as runners-up
_NOBODY = -3.0  # log odds of a runner-up that does not exist
_CLAMP = 4.0  # more evidence than this makes nothing surer
_ALONE: tuple[tuple[int, ...], str] = ((), "")
_GUESS = 0.5  # a layer whose place is a guess is right about as often as not


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Coefficients of the logistic regression, log odds per unit of the feature of that name."""

    bias: float = 1.30
    own: float = 0.76
    margin: float = 0.31
    inside: float = 2.93
    home: float = -0.21
    inner: float = 0.66
    spoken: float = 0.70


@dataclass(frozen=True, slots=True)
class Features:
    """What the regression sees of a pair.

    ``own`` is its value by itself and ``second`` that of the best other node nearby, ``runner_up`` (-1 if there is
    none); ``inside`` the share of what is below the two that is matched, None for leaves; ``home`` whether the nearest
    matched ancestor's partner is above the bench node, None if there is no such ancestor; ``spoken`` the share of the
    NPU side's names that mean something.
    """

    own: float
    second: float
    runner_up: int
    inside: float | None
    home: float | None
    spoken: float

    def values(self) -> tuple[float, ...]:
        """In the order of `Calibration`, without the bias."""
        return (
            max(-_CLAMP, min(_CLAMP, self.own)),
            max(-_CLAMP, min(_CLAMP, self.own - self.second)),
            0.0 if self.inside is None else self.inside,
            1.0 if self.home is None else self.home,
            0.0 if self.inside is None else 1.0,
            self.spoken,
        )

    def log_odds(self, calibration: Calibration) -> float:
        c = calibration
        weights = (c.own, c.margin, c.inside, c.home, c.inner, c.spoken)
        return c.bias + sum(weight * value for weight, value in zip(weights, self.values(), strict=True))


def judge(
    aligner: Aligner,
    links: Links,
    calibration: Calibration,
    *,
    doubtful: Mapping[int, str],
    fused: Mapping[int, tuple[tuple[int, ...], str]],
) -> tuple[Pair, ...]:
    """A `Pair` with evidence, score, runner-up and confidence for every link, by left node.

    ``doubtful`` gives left nodes that cannot be trusted, and why; what stands below them shares the doubt. ``fused``
    gives, by left node, the group that a pair stands for, and the side that it is on.
    """
    doubts = _inherited(aligner.left.tree.parents, doubtful)
    pairs = []
    known: dict[object, tuple[float, float, float, Evidence, tuple[float, ...]]] = {}
    left, right = aligner.left.kind, aligner.right.kind
    here, there = aligner.left.tree, aligner.right.tree
    measured = any(here.outputs) or any(here.weights)
    for a, b, features in features_of(aligner, links):
        key = (left[a], right[b], features.inside, features.home, features.second)
        judged = known.get(key)
        if judged is None:
            judged = known[key] = (
                _sigmoid(features.log_odds(calibration)),
                _sigmoid(features.own),
                _sigmoid(features.second),
                _evidence(aligner, a, b, features),
                features.values(),
            )
        confidence, score, second, evidence, values = judged
        if measured:  # equal subtrees share all but their numbers
            output, weight = _alike(here.outputs[a], there.outputs[b]), _alike(here.weights[a], there.weights[b])
            evidence = replace(evidence, output=output, weight=weight)
        note = doubts.get(a, "")
        group, split_side = fused.get(a, _ALONE)
        pairs.append(
            Pair(
                npu=a,
                bench=b,
                score=score,
                confidence=min(confidence, _GUESS) if note else confidence,
                evidence=evidence,
                runner_up=features.runner_up if features.runner_up >= 0 else None,
                runner_up_score=second if features.runner_up >= 0 else 0.0,
                group=group,
                split_side=split_side,
                note=note if a in doubtful else "",
                features=values,
            )
        )
    return tuple(pairs)


def features_of(aligner: Aligner, links: Links) -> list[tuple[int, int, Features]]:
    """(left node, right node, features) of every link, by left node."""
    left, right = aligner.left.tree, aligner.right.tree
    here, there = _counts(left.parents, set(links)), _counts(right.parents, set(links.values()))
    spoken = _spoken(left.names)
    found = []
    rivals: dict[tuple[int, int, int], tuple[int, float]] = {}
    for a in sorted(links):
        b = links[a]
        size = left.ends[a] - a + right.ends[b] - b - 2
        inside = None if size == 0 else min(1.0, (here[a] + there[b] - 2) / size)
        home = _nearest_matched(left.parents, a, links)
        held = None if home < 0 else float(links[home] <= b < right.ends[links[home]])
        parent = right.parents[b]
        key = (aligner.left.kind[a], aligner.right.kind[parent], b - parent)
        rival = rivals.get(key)
        if rival is None:
            beside, value = _runner_up(aligner, a, b)
            rival = rivals[key] = beside - parent, value
        runner_up, second = rival[0] + parent if rival[1] > _NOBODY else -1, rival[1]
        found.append((a, b, Features(aligner.own(a, b), second, runner_up, inside, held, spoken)))
    return found


def _spoken(names: tuple[str, ...]) -> float:
    """The share of the distinct names that are words of the field."""
    distinct = {name for name in names[1:] if not name.isdigit()}
    return sum(map(is_known, distinct)) / len(distinct) if distinct else 1.0


def _sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))


def _evidence(aligner: Aligner, a: int, b: int, features: Features) -> Evidence:
    left, right = aligner.left, aligner.right
    one, other = left.traits[a], right.traits[b]
    shape = None
    if one.shape and other.shape:
        shape = {"equal": 1.0, "transposed": 0.8, "compatible": 0.5}.get(shape_relation(one.shape, other.shape), 0.0)
    cls = None
    if left.tree.classes[a] and right.tree.classes[b]:
        same = left.tree.classes[a] == right.tree.classes[b]
        cls = 1.0 if same else 0.5 if one.genus == other.genus else 0.0
    name = name_likeness(left.tree.names[a], right.tree.names[b], one, other)
    return Evidence(
        name=name,
        cls=cls,
        shape=shape,
        parent=features.home,
        children=features.inside,
    )


def _alike(one: Numbers | None, other: Numbers | None) -> float | None:
    """How close the numbers of two tensors are; None for those that cannot be held against each other."""
    if one is None or other is None or not (one.telling and other.telling):
        return None
    return closeness(one, other) if comparable(one, other) else None


def _runner_up(aligner: Aligner, a: int, b: int) -> tuple[int, float]:
    """The best other node beside the chosen one, and its value; (-1, `_NOBODY`) where there is none."""
    tree = aligner.right.tree
    best, value = -1, _NOBODY
    if not tree.names[b].isdigit():
        for other in tree.children[tree.parents[b]][:_CANDIDATES]:
            if other != b and tree.called[other] == tree.called[b]:
                found = aligner.own(a, other)
                if found > value:
                    best, value = other, found
    return best, value


def _counts(parents: tuple[int, ...], matched: set[int]) -> list[int]:
    """Number of matched nodes in every subtree."""
    count = [0] * len(parents)
    for node in range(len(parents) - 1, 0, -1):
        count[node] += node in matched
        count[parents[node]] += count[node]
    return count


def _nearest_matched(parents: tuple[int, ...], node: int, links: Links) -> int:
    node = parents[node]
    while node > 0 and node not in links:
        node = parents[node]
    return node if node > 0 else -1


def _inherited(parents: tuple[int, ...], doubtful: Mapping[int, str]) -> dict[int, str]:
    """The doubts of nodes, handed down to everything below them."""
    if not doubtful:
        return {}
    found = dict(doubtful)
    for node in range(1, len(parents)):
        if node not in found and parents[node] in found:
            found[node] = found[parents[node]]
    return found
