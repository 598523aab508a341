"""Align two subtrees, kind by kind: the value of the best alignment, and who goes with whom at the next level.

The value of a pair of kinds is its own value (`matcher.score`) plus the best assignment of what is below. A level that
only one side has is *dissolved*: its node is left alone and its children stand in its place. Which levels to dissolve
is found by local search (one on either side, or a matched pair at once) as long as the total grows. This is unordered
tree alignment with deletions (Jiang, Wang and Zhang, 1995), which is NP-hard for unbounded degree; the search is a
heuristic that looks two levels ahead. Ancestors of matched nodes are never matched across: what moves out of its
parent's image is left to `matcher.leftover`.
"""

from __future__ import annotations

from dataclasses import dataclass

from .assign import Links, assign
from .fold import Folded
from .score import Weights, genus_value, name_likeness, shape_relation
from .sequence import align_sequences

_LONG_LIST = 12  # longer lists of numbered children are never dissolved: their elements only make sense in order
_EPSILON = 1e-6


@dataclass(frozen=True, slots=True)
class Solution:
    """Value of a pair of kinds, and links between nodes below their first instances."""

    value: float
    own: float
    links: Links


@dataclass(frozen=True, slots=True)
class Frontier:
    """Nodes of one side that stand for assignment, with their position among those of the same genus in [0, 1]."""

    nodes: tuple[int, ...]
    ranks: tuple[float, ...]


class Aligner:
    """Memoised values of pairs of kinds; not frozen because the memo grows."""

    __slots__ = ("left", "memo", "owns", "right", "weights")

    def __init__(self, left: Folded, right: Folded, weights: Weights) -> None:
        self.left = left
        self.right = right
        self.weights = weights
        self.memo: dict[tuple[int, int], Solution] = {}
        self.owns: dict[tuple[int, int], float] = {}

    def solve(self, one: int, other: int) -> Solution:
        """The best alignment of two kinds."""
        known = self.memo.get((one, other))
        if known is None:
            known = self.memo[one, other] = self._solve(one, other)
        return known

    def value(self, a: int, b: int) -> float:
        """The value of pairing two nodes; ``-1 - node`` stands for a node without what is below it."""
        if a < 0 or b < 0:
            return self._bare(a if a >= 0 else -1 - a, b if b >= 0 else -1 - b)
        return self.solve(self.left.kind[a], self.right.kind[b]).value

    def _bare(self, a: int, b: int) -> float:
        """The value of a pair of which at least one node has parameters of its own beside the modules below it."""
        holds = all(
            side.traits[node].shape or side.tree.is_leaf(node) for side, node in ((self.left, a), (self.right, b))
        )
        return self.own(self.left.kind[a], self.right.kind[b]) if holds else -1.0

    def own(self, one: int, other: int) -> float:
        """The value of a pair of kinds without what is below them."""
        known = self.owns.get((one, other))
        if known is None:
            known = self.owns[one, other] = self._own(self.left.first[one], self.right.first[other])
        return known

    def _own(self, a: int, b: int) -> float:
        left, right, w = self.left.tree, self.right.tree, self.weights
        one, other = self.left.traits[a], self.right.traits[b]
        name = w.name * (name_likeness(left.names[a], right.names[b], one, other) - w.name_middle)
        genus = genus_value(one.genus, other.genus, w)
        cls = w.cls * (left.classes[a] == right.classes[b] and bool(left.classes[a]))
        leaves = left.is_leaf(a) + right.is_leaf(b)
        if leaves == 0 and not one.shape and not other.shape:
            return w.inner * (name + genus + cls)
        shape = 0.0
        if one.shape and other.shape:
            relation = shape_relation(one.shape, other.shape)
            shape = {"equal": w.shape_equal, "compatible": w.shape_compatible, "clash": w.shape_clash}[relation]
        elif one.shape or other.shape:
            shape = w.one_sided_params
        inner = one if not left.is_leaf(a) else other
        lone = w.leaf_against_inner if leaves == 1 and not inner.shape else 0.0
        return w.bias + name + genus + cls + shape + lone

    def _solve(self, one: int, other: int) -> Solution:
        a, b = self.left.first[one], self.right.first[other]
        own = self.own(one, other)
        if self.left.tree.is_leaf(a) or self.right.tree.is_leaf(b):
            return Solution(own, own, ())
        if own <= self.weights.inner * (self.weights.genus_clash - 1.0):
            return Solution(own, own, ())
        below, links = self._align_below(a, b)
        return Solution(own + below if links else min(own, 0.0), own, links)

    def _align_below(self, a: int, b: int) -> tuple[float, Links]:
        rows, columns = self.left.tree.children[a], self.right.tree.children[b]
        if self._numbered(self.left, rows) and self._numbered(self.right, columns):
            return align_sequences(rows, columns, self.value)
        return self._search(rows, columns)

    @staticmethod
    def _numbered(side: Folded, nodes: tuple[int, ...]) -> bool:
        return len(nodes) > 1 and all(side.tree.names[node].isdigit() for node in nodes)

    def _search(self, rows: tuple[int, ...], columns: tuple[int, ...]) -> tuple[float, Links]:
        left, right = self._frontier(self.left, rows), self._frontier(self.right, columns)
        total, links, worth = self._assign(left, right)
        while True:
            best: tuple[float, Links, dict[int, float], Frontier, Frontier] | None = None
            for bound, new_left, new_right in self._moves(left, right, links, worth):
                if bound + total <= (best[0] if best else total) + _EPSILON:
                    break
                found, new_links, new_worth = self._assign(new_left, new_right)
                if found > (best[0] if best else total) + _EPSILON:
                    best = (found, new_links, new_worth, new_left, new_right)
            if best is None:
                return total, links
            total, links, worth, left, right = best

    def _moves(
        self, left: Frontier, right: Frontier, links: Links, worth: dict[int, float]
    ) -> list[tuple[float, Frontier, Frontier]]:
        """Frontiers with a level dissolved, each with an upper bound of what it gains, best bound first."""
        moves: list[tuple[float, Frontier, Frontier]] = []
        partner_worth = {b: worth[a] for a, b in links}
        for a, b in links:
            if self._soluble(self.left, a) and self._soluble(self.right, b):
                new_left, new_right = self._dissolve(self.left, left, a), self._dissolve(self.right, right, b)
                bound = self._reach(self.left.tree.children[a], new_right.nodes)
                rest = tuple(node for node in left.nodes if node != a)
                bound += sum(max(0.0, *(self.value(u, v) for u in rest), 0.0) for v in self.right.tree.children[b])
                moves.append((bound - worth[a], new_left, new_right))
        for a in left.nodes:
            for new, added in self._chain(self.left, left, a):
                moves.append((self._reach(added, right.nodes) - worth.get(a, 0.0), new, right))
        for b in right.nodes:
            for new, added in self._chain(self.right, right, b):
                bound = sum(max(0.0, *(self.value(u, v) for u in left.nodes)) for v in added)
                moves.append((bound - partner_worth.get(b, 0.0), left, new))
        moves.sort(key=lambda move: -move[0])
        return moves

    def _reach(self, rows: tuple[int, ...], columns: tuple[int, ...]) -> float:
        """The most that these rows could be worth, each with its best column."""
        return sum(max(0.0, *(self.value(u, v) for v in columns), 0.0) for u in rows)

    def _chain(self, side: Folded, frontier: Frontier, node: int) -> list[tuple[Frontier, tuple[int, ...]]]:
        """The frontier with this node dissolved, then its largest child too, and so on down; with the nodes added."""
        found: list[tuple[Frontier, tuple[int, ...]]] = []
        added: tuple[int, ...] = (node,)
        tree = side.tree
        while self._soluble(side, node) and len(found) < 4:
            frontier = self._dissolve(side, frontier, node)
            at = added.index(node)
            bare = (-1 - node,) if side.traits[node].shape else ()
            added = added[:at] + bare + tree.children[node] + added[at + 1 :]
            found.append((frontier, added))
            node = max(tree.children[node], key=lambda child: (tree.ends[child] - child, -child))
        return found

    @staticmethod
    def _soluble(side: Folded, node: int) -> bool:
        below = side.tree.children[node] if node >= 0 else ()
        return bool(below) and (len(below) <= _LONG_LIST or not side.tree.names[below[0]].isdigit())

    def _dissolve(self, side: Folded, frontier: Frontier, node: int) -> Frontier:
        at = frontier.nodes.index(node)
        bare = (-1 - node,) if side.traits[node].shape else ()
        return self._frontier(side, frontier.nodes[:at] + bare + side.tree.children[node] + frontier.nodes[at + 1 :])

    @staticmethod
    def _frontier(side: Folded, nodes: tuple[int, ...]) -> Frontier:
        members: dict[str, int] = {}
        ranks = []
        for node in nodes:
            genus = side.traits[max(node, -1 - node)].genus
            ranks.append(members.get(genus, 0))
            members[genus] = ranks[-1] + 1
        spans = [max(members[side.traits[max(node, -1 - node)].genus] - 1, 1) for node in nodes]
        return Frontier(nodes, tuple(rank / span for rank, span in zip(ranks, spans, strict=True)))

    def _assign(self, left: Frontier, right: Frontier) -> tuple[float, Links, dict[int, float]]:
        order = self.weights.order
        values = [
            [self.value(a, b) - order * abs(here - there) for b, there in zip(right.nodes, right.ranks, strict=True)]
            for a, here in zip(left.nodes, left.ranks, strict=True)
        ]
        total, found = assign(values)
        links = tuple((left.nodes[row], right.nodes[column]) for row, column in found)
        return total, links, {left.nodes[row]: values[row][column] for row, column in found}
