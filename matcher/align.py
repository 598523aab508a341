"""Align two module trees: the matcher's one entry point.

1. `traits`: what every module is; `fold`: equal subtrees become one kind.
2. `forest`: pairs of kinds are valued bottom-up (by names, shapes and, from two runs, by `agreement` of numbers) and
   linked level by level.
3. `stages`: a pipeline stage whose layers start at 0 is moved to where its neighbours say it belongs.
4. `shifts`: a downsampling that ends a stage here and begins the next there is moved by one.
5. `leftover`: what moved out of its parent's image is paired across levels.
6. `parents`: inner modules are paired by what is in them.
7. `groups`, `confidence`: fused modules are named, and every pair is judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .alignment import Alignment, Group, Pair
from .confidence import Calibration, judge
from .fold import fold
from .forest import Aligner
from .groups import fused_groups, settled
from .leftover import pair_leftovers
from .links import expanded
from .parents import pair_parents
from .score import Weights
from .shifts import shift_parts
from .stages import place_stages
from .traits import traits_of
from .tree import Tree
from .views import views_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Everything that can be tuned; the defaults are fitted on published models (`benchmarks/fit.py`)."""

    weights: Weights = field(default_factory=Weights)
    calibration: Calibration = field(default_factory=Calibration)


def align(npu: Tree, bench: Tree, options: Options | None = None) -> Alignment:
    """One-to-one pairs of the nodes of two trees, each with evidence; linear in nodes, quadratic in kinds.

    Nodes without counterpart stay out. A list of interleaved pipeline chunks is aligned as the one model that it is.
    """
    options = options or Options()
    left, right = views_of(npu, bench)
    pairs, groups = _align(left.tree, right.tree, options)
    if left.tree is npu and right.tree is bench:
        return Alignment(npu=npu, bench=bench, pairs=pairs, groups=groups)
    found = (_renumbered(pair, left.real, right.real) for pair in pairs if left.real[pair.npu] >= 0)
    return Alignment(
        npu=npu,
        bench=bench,
        pairs=tuple(sorted((pair for pair in found if pair.bench >= 0), key=lambda pair: pair.npu)),
        groups=tuple(
            Group(npu=tuple(left.real[a] for a in group.npu), bench=tuple(right.real[b] for b in group.bench))
            for group in groups
        ),
    )


def _align(npu: Tree, bench: Tree, options: Options) -> tuple[tuple[Pair, ...], tuple[Group, ...]]:
    left, right = fold(npu, traits_of(npu)), fold(bench, traits_of(bench))
    aligner = Aligner(left, right, options.weights)
    _, top = aligner.align_below(0, 0)
    links = place_stages(aligner, expanded(aligner, top))
    shifted = shift_parts(aligner, links.pairs)
    moved = pair_leftovers(aligner, shifted)
    complete = pair_parents(aligner, shifted, moved)
    fused, groups = settled(complete, fused_groups(aligner, complete))
    return judge(aligner, complete, options.calibration, doubtful=links.guessed, fused=fused), groups


def _renumbered(pair: Pair, own: tuple[int, ...], other: tuple[int, ...]) -> Pair:
    members = own if pair.split_side == "npu" else other
    return replace(
        pair,
        npu=own[pair.npu],
        bench=other[pair.bench],
        runner_up=None if pair.runner_up is None or other[pair.runner_up] < 0 else other[pair.runner_up],
        group=tuple(members[node] for node in pair.group),
    )
