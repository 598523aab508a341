"""Why a node got its counterpart: what every part of the evidence adds to the pair, and to the best others.

The same values that the alignment was found with are taken apart again: the pair's own value by `PairScorer.shares`,
the children's by the value of the whole subtrees. ``parent`` and ``order`` are what `matcher.leftover` and
`matcher.forest` charge for a place outside the image of the nearest matched ancestor, and for another rank among the
siblings of the genus. Limits: a node is not chosen by its own value alone but by the best sum over all nodes, so that
a runner-up may be worth more; whose it is then says why it was not to be had.
"""

from __future__ import annotations

from .align import Options
from .alignment import Alignment, Candidate, Explanation
from .fold import Folded, fold
from .forest import Aligner
from .links import Links
from .traits import traits_of
from .views import views_of

RIVALS = 3
_MOST = 400  # candidates of which the order is looked at; it cannot lift what is worth less than so many others


def explain(alignment: Alignment, node: int, options: Options | None = None) -> Explanation:
    """The evidence of an NPU node's pair and of the best others; linear in nodes."""
    options = options or Options()
    left, right = views_of(alignment.npu, alignment.bench)
    here = {real: place for place, real in enumerate(left.real)}
    there = {real: place for place, real in enumerate(right.real)}
    pair = next((pair for pair in alignment.pairs if pair.npu == node), None)
    if node not in here:  # a container that another chunk stands for
        return Explanation(npu=node, role="", pair=pair, chosen=None, others=())
    links = {here[a]: there[b] for a, b in alignment.bench_of().items() if a in here and b in there}
    aligner = Aligner(fold(left.tree, traits_of(left.tree)), fold(right.tree, traits_of(right.tree)), options.weights)
    judged = _Candidates(aligner, links, here[node])
    partner = links.get(here[node])
    chosen = None if partner is None else judged.candidate(partner)
    others = sorted(
        (judged.candidate(other) for other in judged.others(partner) if right.real[other] >= 0),
        key=lambda found: (-found.total, found.bench),
    )
    real_left, real_right = left.real, right.real
    found = [
        None
        if one is None
        else Candidate(
            bench=real_right[one.bench],
            role=one.role,
            shares=one.shares,
            taken=None if one.taken is None else real_left[one.taken],
        )
        for one in (chosen, *others[:RIVALS])
    ]
    return Explanation(
        npu=node,
        role=_role(aligner.left, here[node]),
        pair=pair,
        chosen=found[0],
        others=tuple(one for one in found[1:] if one is not None),
    )


class _Candidates:
    """The bench nodes that one NPU node could go with, in the light of everybody else's partners."""

    def __init__(self, aligner: Aligner, links: Links, node: int) -> None:
        self.aligner, self.node = aligner, node
        self.owner = {b: a for a, b in links.items()}
        above = aligner.left.tree.parents[node]
        while above > 0 and above not in links:
            above = aligner.left.tree.parents[above]
        self.home = links.get(above, 0)

    def candidate(self, other: int) -> Candidate:
        """What speaks for a bench node."""
        weights = self.aligner.weights
        shares = self.aligner.scorer.shares(self.node, other)
        shares["children"] = self.aligner.value(self.node, other) - self.aligner.own(self.node, other)
        shares["parent"] = 0.0 if self._at_home(other) else -weights.leftover
        apart = _rank(self.aligner.left, self.node) - _rank(self.aligner.right, other)
        shares["order"] = -weights.order * abs(apart)
        return Candidate(
            bench=other,
            role=_role(self.aligner.right, other),
            shares=tuple(shares.items()),
            taken=self.owner.get(other),
        )

    def others(self, partner: int | None) -> list[int]:
        """Every node within the image of the home, and one of every kind that stands elsewhere alone."""
        side, tree = self.aligner.right, self.aligner.right.tree
        called = self.aligner.left.tree.called[self.node]
        near = [node for node in range(self.home + 1, tree.ends[self.home]) if tree.called[node] == called]
        kinds = {side.kind[node] for node in near}
        far = [first for kind, first in enumerate(side.first) if kind not in kinds and tree.called[first] == called]
        middle = self.node / len(self.aligner.left.tree)
        found = [node for node in (*near, *far) if node not in (0, partner)]
        found.sort(
            key=lambda node: (-self.aligner.value(self.node, node), abs(node / len(tree) - middle), node),
        )
        return found[:_MOST]

    def _at_home(self, other: int) -> bool:
        return self.home < other < self.aligner.right.tree.ends[self.home]


def _rank(side: Folded, node: int) -> float:
    """The place of a node among its siblings of the same genus, from 0 for the first to 1 for the last."""
    genus = side.traits[node].genus
    alike = [other for other in side.tree.children[side.tree.parents[node]] if side.traits[other].genus == genus]
    return alike.index(node) / max(len(alike) - 1, 1)


def _role(side: Folded, node: int) -> str:
    """The likeliest meaning of a node's name."""
    return max(side.traits[node].roles, key=lambda role: role[1], default=("", 0.0))[0]
