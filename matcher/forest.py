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
from .score import Weights, class_likeness, genus_value, name_likeness, shape_relation
from .sequence import align_sequences

_LONG_LIST = 12  # longer lists of numbered children are never dissolved: their elements only make sense in order
_RANKED = dict.fromkeys(("linear", "embedding", "router"), "matrix")  # genera that unknown names cannot tell apart
_EPSILON = 1e-6
_DEEPEST_CHAIN = 4  # levels that are dissolved at one go; deeper chains take several goes


@dataclass(frozen=True, slots=True)
class Solution:
    """Value of a pair of kinds, and links between nodes below their first instances."""

    value: float
    own: float
    links: Links


@dataclass(frozen=True, slots=True)
class Move:
    """A level dissolved: nodes to replace on either side (-1: none), what replaces them, and the most it can gain."""

    bound: float
    left: int
    left_by: tuple[int, ...]
    right: int
    right_by: tuple[int, ...]


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
        cls = w.cls * class_likeness(left.classes[a], right.classes[b])
        if not one.solid and not other.solid:
            unlike = w.called_clash if left.called[a] != right.called[b] else 0.0
            holders = self._holds_parameters(self.left, a) and self._holds_parameters(self.right, b)
            return (1.0 if holders else w.inner) * (name + genus + cls) + unlike
        shape = 0.0
        if one.shape and other.shape:
            relation = shape_relation(one.shape, other.shape)
            shape = {"equal": w.shape_equal, "compatible": w.shape_compatible, "clash": w.shape_clash}[relation]
        elif one.shape or other.shape:
            shape = w.one_sided_params
        lone = 0.0 if one.solid and other.solid else w.leaf_against_inner
        return w.bias + name + genus + cls + shape + lone

    @staticmethod
    def _holds_parameters(side: Folded, node: int) -> bool:
        """Whether the children are bare parameters, as in a list of keys: then the node is the module that counts."""
        return any(side.traits[child].genus == "parameter" for child in side.tree.children[node])

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
        return self.search(rows, columns)

    @staticmethod
    def _numbered(side: Folded, nodes: tuple[int, ...]) -> bool:
        return len(nodes) > 1 and all(side.tree.names[node].isdigit() for node in nodes)

    def search(self, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[float, Links]:
        """The best assignment between two forests, levels dissolved where that gains; total value and links."""
        total, links, worth = self._assign(left, right)
        while True:
            best: tuple[float, Links, dict[int, float], tuple[int, ...], tuple[int, ...]] | None = None
            gain = _EPSILON
            for move in self._moves(left, right, links, worth):
                if move.bound <= gain:
                    break
                new_left = _replaced(left, move.left, move.left_by)
                new_right = _replaced(right, move.right, move.right_by)
                found, new_links, new_worth = self._assign(new_left, new_right)
                if found > total + gain:
                    gain = found - total
                    best = (found, new_links, new_worth, new_left, new_right)
            if best is None:
                return total, links
            total, links, worth, left, right = best

    def _moves(
        self, left: tuple[int, ...], right: tuple[int, ...], links: Links, worth: dict[int, float]
    ) -> list[Move]:
        """Levels to dissolve, best bound first."""
        moves: list[Move] = []
        reach_left: dict[int, float] = {}
        reach_right: dict[int, float] = {}

        def right_of(a: int) -> float:
            known = reach_left.get(a)
            if known is None:
                known = reach_left[a] = max(0.0, *(self.value(a, b) for b in right), 0.0)
            return known

        def left_of(b: int) -> float:
            known = reach_right.get(b)
            if known is None:
                known = reach_right[b] = max(0.0, *(self.value(a, b) for a in left), 0.0)
            return known

        for a, b in links:
            if self._soluble(self.left, a) and self._soluble(self.right, b):
                ours, theirs = self._inside(self.left, a), self._inside(self.right, b)
                bound = sum(max(right_of(c), *(self.value(c, d) for d in theirs)) for c in ours)
                bound += sum(map(left_of, theirs))
                moves.append(Move(bound - worth[a], a, ours, b, theirs))
        for a in left:
            for ours in self._chain(self.left, a):
                moves.append(Move(sum(map(right_of, ours)) - worth.get(a, 0.0), a, ours, -1, ()))
        taken = {b: worth[a] for a, b in links}
        for b in right:
            for theirs in self._chain(self.right, b):
                moves.append(Move(sum(map(left_of, theirs)) - taken.get(b, 0.0), -1, (), b, theirs))
        moves.sort(key=lambda move: -move.bound)
        return moves

    def _chain(self, side: Folded, node: int) -> list[tuple[int, ...]]:
        """What stands in the place of a node when it is dissolved, then its largest child too, and so on down."""
        found: list[tuple[int, ...]] = []
        tree, standing = side.tree, (node,)
        while self._soluble(side, node) and len(found) < _DEEPEST_CHAIN:
            standing = _replaced(standing, node, self._inside(side, node))
            found.append(standing)
            node = max(tree.children[node], key=lambda child: (tree.ends[child] - child, -child))
        return found

    @staticmethod
    def _soluble(side: Folded, node: int) -> bool:
        below = side.tree.children[node] if node >= 0 else ()
        return bool(below) and (len(below) <= _LONG_LIST or not side.tree.names[below[0]].isdigit())

    @staticmethod
    def _inside(side: Folded, node: int) -> tuple[int, ...]:
        """The children of a node, and the node itself without them if it has parameters of its own."""
        below = side.tree.children[node]
        return (-1 - node, *below) if side.traits[node].solid else below

    @staticmethod
    def _places(side: Folded, nodes: tuple[int, ...]) -> tuple[list[tuple[str, float]], dict[str, int]]:
        """Genus and position (0 first to 1 last) of every node among those of its genus; and the size of each genus."""
        members: dict[str, int] = {}
        genera = [_RANKED.get(genus, genus) for genus in (side.traits[max(node, -1 - node)].genus for node in nodes)]
        ranks = []
        for genus in genera:
            ranks.append(members.get(genus, 0))
            members[genus] = ranks[-1] + 1
        spans = (max(members[genus] - 1, 1) for genus in genera)
        places = [(genus, rank / span) for genus, rank, span in zip(genera, ranks, spans, strict=True)]
        return places, members

    def _assign(self, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[float, Links, dict[int, float]]:
        here, ours = self._places(self.left, left)
        there, theirs = self._places(self.right, right)
        lone = {genus for genus, count in ours.items() if genus and count == 1 and theirs.get(genus) == 1}
        order, only = self.weights.order, self.weights.only
        values = [
            [
                self.value(a, b) - order * abs(rank - other) + (only if genus == kin and genus in lone else 0.0)
                for b, (kin, other) in zip(right, there, strict=True)
            ]
            for a, (genus, rank) in zip(left, here, strict=True)
        ]
        total, found = assign(values)
        links = tuple((left[row], right[column]) for row, column in found)
        return total, links, {left[row]: values[row][column] for row, column in found}


def _replaced(nodes: tuple[int, ...], node: int, by: tuple[int, ...]) -> tuple[int, ...]:
    if not by:
        return nodes
    at = nodes.index(node)
    return nodes[:at] + by + nodes[at + 1 :]
