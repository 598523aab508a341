"""What the matcher answers: pairs of nodes, each with its evidence, and the nodes left alone.

An `Alignment` is one-to-one: no node stands in two pairs. A fused module (one ``linear_qkv`` against three
projections) has at most one partner in its `Pair`; the whole group is listed in `Pair.group`, or in a `Group` of its
own where convention gives none of the members the match.
"""

from __future__ import annotations

from dataclasses import dataclass

from .tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What spoke for a pair, each part in [0, 1]; None where the input told nothing of it.

    ``output`` and ``weight`` are how close the statistics of the two results, and of the largest parameters, are.
    """

    name: float
    cls: float | None = None
    shape: float | None = None
    parent: float | None = None
    children: float | None = None
    output: float | None = None
    weight: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One NPU node and its bench counterpart.

    ``score`` and ``runner_up_score`` are in [0, 1] on one scale, ``confidence`` is the calibrated probability that the
    pair is right. ``runner_up`` is the best other bench node, None where there was no candidate. ``group`` lists every
    node of the side that is split (NPU ids if ``split_side`` is "npu", else bench ids) when the pair is a fused one.
    ``note`` says in a few words what a reviewer must know, "" if nothing. ``features`` are what the confidence was
    computed from, for calibration.
    """

    npu: int
    bench: int
    score: float
    confidence: float
    evidence: Evidence
    runner_up: int | None = None
    runner_up_score: float = 0.0
    group: tuple[int, ...] = ()
    split_side: str = ""
    note: str = ""
    features: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A one-to-many correspondence that a mapping cannot express: ``npu`` and ``bench`` node ids, one side has one."""

    npu: tuple[int, ...]
    bench: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Pairs in order of the NPU node; ``groups`` are fused correspondences without a pair."""

    npu: Tree
    bench: Tree
    pairs: tuple[Pair, ...]
    groups: tuple[Group, ...] = ()

    def bench_of(self) -> dict[int, int]:
        """A new dictionary from NPU node to bench node."""
        return {pair.npu: pair.bench for pair in self.pairs}


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A bench node that an NPU node could go with: what every part of the evidence adds, in log odds, by its name.

    ``role`` is what its name most likely means, "" if it means nothing; ``taken`` the NPU node that has it in the
    alignment, None if nobody has.
    """

    bench: int
    role: str
    shares: tuple[tuple[str, float], ...]
    taken: int | None

    @property
    def total(self) -> float:
        """The value of the pair, above 0 if it is more likely right than wrong."""
        return sum(share for _, share in self.shares)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The NPU node and what its name most likely means, its pair and what speaks for it (None if it has none), and the
    best others, best first.
    """

    npu: int
    role: str
    pair: Pair | None
    chosen: Candidate | None
    others: tuple[Candidate, ...]
