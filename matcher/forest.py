"""Align two subtrees, kind by kind: the value of the best alignment, and who goes with whom at the next level.

The value of a pair of kinds is its own value (`matcher.score`) plus the best assignment of what is below. A level that
only one side has is *dissolved*: its node is left alone and its children stand in its place. Which levels to dissolve
is found by local search (one on either side, a matched pair at once, or a chain of wrappers) as long as the total
grows; an upper bound of the gain orders the search and cuts most of it off. This is unordered tree alignment (Jiang,
Wang and Zhang, 1995), which is NP-hard for unbounded degree, so the search is a heuristic. Ancestors of matched nodes
are never matched across: what moves out of its parent's image is left to `matcher.leftover`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from .assign import Links, assign
from .fold import Folded
from .levels import Level, Levels, Nodes, Standing, numbered, regroupings, replaced, soluble, thinned
from .names import words
from .score import PairScorer, Weights
from .sequence import align_sequences, uncrossed

_WORTH_REGROUPING = 1.0  # log odds that must be gained before two lists are read as grouped otherwise
_EPSILON = 1e-6
_PLACE = 0.05  # cost of first here for last there where genera tell no order: more than an accident of spelling
_DEEP = 60  # from this depth on, values are computed bottom-up, since every level takes several stack frames


@dataclass(frozen=True, slots=True)
class Solution:
    """Value of a pair of kinds, and links between nodes below their first instances."""

    value: float
    links: Links


@dataclass(frozen=True, slots=True)
class Move:
    """A level dissolved: nodes to replace on either side (none if nothing replaces them), and the most it can gain."""

    bound: float
    left: int
    left_by: Nodes
    right: int
    right_by: Nodes


Line = list[tuple[int, float]]  # the columns that a row could be linked with, and its values there


class Aligner:
    """Values of pairs of kinds, each computed once; not frozen because its memory grows."""

    __slots__ = ("_here", "_lines", "_solutions", "_there", "_values", "left", "right", "scorer", "weights")

    def __init__(self, left: Folded, right: Folded, weights: Weights) -> None:
        self.left = left
        self.right = right
        self.weights = weights
        self.scorer = PairScorer(left, right, weights)
        self._solutions: dict[tuple[int, int], Solution] = {}
        self._here, self._there = Levels(left), Levels(right)
        self._values: dict[int, dict[int, float]] = {}
        self._lines: dict[Nodes, dict[int, Line]] = {}
        if max(left.tree.depths) > _DEEP < max(right.tree.depths):
            for one in range(len(left)):
                for other in range(len(right)):
                    self.solve(one, other)

    def own(self, a: int, b: int) -> float:
        """The value of pairing two nodes, leaving aside what is below them."""
        return self.scorer.own(self.left.kind[a], self.right.kind[b])

    def value(self, a: int, b: int) -> float:
        """The value of pairing two nodes, everything below them included."""
        return self._row(self._here.key(a), (self._there.key(b),))[0]

    def links(self, a: int, b: int) -> Links:
        """The links at the next level below two nodes, between nodes below these very two."""
        one, other = self.left.kind[a], self.right.kind[b]
        up, over = a - self.left.first[one], b - self.right.first[other]
        return tuple(
            (x + up if x >= 0 else x - up, y + over if y >= 0 else y - over) for x, y in self.solve(one, other).links
        )

    def solve(self, one: int, other: int) -> Solution:
        """The best alignment of two kinds."""
        known = self._solutions.get((one, other))
        if known is None:
            known = self._solutions[one, other] = self._solve(one, other)
        return known

    def _solve(self, one: int, other: int) -> Solution:
        a, b = self.left.first[one], self.right.first[other]
        own = self.scorer.own(one, other)
        rows, columns = self.left.tree.children[a], self.right.tree.children[b]
        if not rows or not columns or own <= self.scorer.hopeless:
            return Solution(own, ())
        below, links = self.align_below(a, b)
        together = self.weights.block if len(links) > 1 else 0.0
        return Solution(own + below + together if links else min(own, 0.0), links)

    def align_below(self, a: int, b: int) -> tuple[float, Links]:
        """The best assignment of what is below two nodes: total value and links."""
        rows, columns = self.left.tree.children[a], self.right.tree.children[b]
        if numbered(self.left, rows) and numbered(self.right, columns):
            total, links = self._in_order(rows, columns, loose=self._counts_up(a, b))
            alike = len(rows) == len(columns) and total > 0.0
            return (total, links) if alike else self._regrouped(a, b, total, links)
        return self._search(thinned(self.left, rows), thinned(self.right, columns))

    def _counts_up(self, a: int, b: int) -> bool:
        """Whether both are the rising half of a network, which some count from the input and some from the output."""
        return all("up" in words(tree.names[node]) for tree, node in ((self.left.tree, a), (self.right.tree, b)))

    def _in_order(self, rows: Nodes, columns: Nodes, *, loose: bool = False) -> tuple[float, Links]:
        """The best order-preserving alignment of two lists of nodes."""
        ones, others = self._here.keys(rows), self._there.keys(columns)
        total, found = align_sequences([self._row(one, others) for one in ones], ones, others, loose=loose)
        return total, tuple((rows[row], columns[column]) for row, column in found)

    def _regrouped(self, a: int, b: int, total: float, links: Links) -> tuple[float, Links]:
        """Two lists of unequal length may hold the same blocks in other groups: compare what is inside the groups.

        ``input_blocks.4.1`` is ``down_blocks.1.attentions.0``; stages of blocks here are one list of blocks there.
        """
        ours, theirs = regroupings(self.left, a), regroupings(self.right, b)
        best, best_links = total + _WORTH_REGROUPING, links
        for here, rows in enumerate(ours):
            for there, columns in enumerate(theirs):
                if here + there == 0:
                    continue
                found, new_links = self._in_order(rows, columns)
                free, free_links, _ = self._assign(self._here.level(rows), self._there.level(columns))
                if free > found + _WORTH_REGROUPING:
                    found, new_links = free - _WORTH_REGROUPING, free_links
                if found > best:
                    best, best_links = found + _WORTH_REGROUPING, new_links
        return (best - _WORTH_REGROUPING, best_links) if best_links is not links else (total, links)

    def _row(self, one: int, others: Nodes) -> list[float]:
        """Values of one kind with several; negative keys are kinds without what is below them."""
        known = self._values.setdefault(one, {})
        try:
            return [known[other] for other in others]
        except KeyError:
            for other in others:
                if other not in known:
                    known[other] = self._fresh(one, other)
            return [known[other] for other in others]

    def _fresh(self, one: int, other: int) -> float:
        if one < 0 or other < 0:
            return self.scorer.bare(max(one, -1 - one), max(other, -1 - other))
        return self.solve(one, other).value

    def _search(self, left: Nodes, right: Nodes) -> tuple[float, Links]:
        here, there = self._here.level(left), self._there.level(right)
        total, links, worth = self._assign(here, there)
        while True:
            best: tuple[float, Links, dict[int, float], Level, Level] | None = None
            gain = _EPSILON
            for move in self._moves(here, there, links, worth):
                if move.bound <= gain:
                    break
                new_here, new_there = here, there
                if move.left_by:
                    new_here = self._here.level(replaced(here.nodes, move.left, move.left_by))
                if move.right_by:
                    new_there = self._there.level(replaced(there.nodes, move.right, move.right_by))
                found, new_links, new_worth = self._assign(new_here, new_there, least=total + gain)
                if found > total + gain:
                    gain = found - total
                    best = (found, new_links, new_worth, new_here, new_there)
            if best is None:
                return total, links
            total, links, worth, here, there = best

    def _moves(self, here: Level, there: Level, links: Links, worth: dict[int, float]) -> list[Move]:
        """Levels to dissolve that can gain anything, best bound first."""
        extra = self.weights.only
        from_left, from_right = self._reaches(here.kinds, there.kinds)
        moves: list[Move] = []
        for a, b in links:
            if soluble(self.left, a) and soluble(self.right, b) and not self._both_lists(a, b):
                ours, theirs = self._here.inside(a), self._there.inside(b)
                keys = self._there.keys(theirs)
                bound = sum([max(from_left(key), *self._row(key, keys)) for key in self._here.keys(ours)])
                bound += sum(map(from_right, keys)) + extra
                moves.append(Move(bound - worth[a], a, ours, b, theirs))
        for a in here.nodes:
            lost = worth.get(a, 0.0) - extra
            for by in self._here.chain(a):
                bound = self._bound(by, there, from_left, lost)
                if bound > _EPSILON:
                    moves.append(Move(bound, a, by.nodes, -1, ()))
        taken = {b: worth[a] for a, b in links}
        for b in there.nodes:
            lost = taken.get(b, 0.0) - extra
            for by in self._there.chain(b):
                bound = self._bound(by, here, from_right, lost)
                if bound > _EPSILON:
                    moves.append(Move(bound, -1, (), b, by.nodes))
        moves.sort(key=lambda move: -move.bound)
        return moves

    def _bound(self, by: Standing, against: Level, reach: Callable[[int], float], lost: float) -> float:
        """The most that can be gained; 0 without a look at any pair where even the best of pairs would be too few."""
        if self.scorer.ceiling * by.size[not against.listed] <= lost:
            return 0.0
        return sum(map(reach, by.keys)) - lost

    def _both_lists(self, a: int, b: int) -> bool:
        """Whether both are numbered lists: their elements are aligned in order, which assignment would forget."""
        return numbered(self.left, self.left.tree.children[a]) and numbered(self.right, self.right.tree.children[b])

    def _reaches(self, ones: Nodes, others: Nodes) -> tuple[Callable[[int], float], Callable[[int], float]]:
        """Two functions: the most that a key could be worth with any of the keys that stand on the other side."""

        @cache
        def from_left(key: int) -> float:
            return max(0.0, *self._row(key, others), 0.0)

        @cache
        def from_right(key: int) -> float:
            return max(0.0, *[self._row(one, (key,))[0] for one in ones], 0.0)

        return from_left, from_right

    def _line(self, one: int, others: Nodes) -> Line:
        """The places of those of several kinds that one could be linked with, if only for the bonus of lone genera."""
        least = min(0.0, -self.weights.only)
        return [(column, value) for column, value in enumerate(self._row(one, others)) if value > least]

    def _assign(self, left: Level, right: Level, *, least: float = 0.0) -> tuple[float, Links, dict[int, float]]:
        """The best assignment of two levels: value, links and worth of each; nothing if it cannot exceed ``least``."""
        here, there = left.places, right.places
        lone = left.lone & right.lone
        order, only = self.weights.order, self.weights.only
        lines = self._lines.setdefault(right.keys, {})
        tall, wide = max(len(here) - 1, 1), max(len(there) - 1, 1)
        most = [0.0] * len(there)
        nothing = most.copy()
        values = []
        for row, one in enumerate(left.keys):
            known = lines.get(one)
            if known is None:
                known = lines[one] = self._line(one, right.keys)
            line = nothing
            if known:
                line = nothing.copy()
                genus, rank = here[row]
                bonus = only if genus in lone else 0.0
                for column, value in known:
                    if value > -bonus:
                        kin, other = there[column]
                        worth = value - order * abs(rank - other)
                        line[column] = worth = (
                            worth + bonus if genus == kin else worth - _PLACE * abs(row / tall - column / wide)
                        )
                        if worth > most[column]:  # noqa: PLR1730  max() takes three times as long
                            most[column] = worth
            values.append(line)
        if least and sum(most) <= least - _EPSILON:
            return 0.0, (), {}
        self._keep_order(values, left, right)
        total, found = assign(values)
        found = uncrossed(found, left.keys, right.keys)
        links = tuple([(left.nodes[row], right.nodes[column]) for row, column in found])
        return total, links, {left.nodes[row]: values[row][column] for row, column in found}

    def _keep_order(self, values: list[list[float]], left: Level, right: Level) -> None:
        """Leave the items of two equally long dissolved lists only the partners that they have when they keep order."""
        for rows in left.lists if right.lists else []:
            for columns in right.lists:
                if len(rows) != len(columns):
                    continue  # other groups on either side: their items need not come in the same order
                block = [[values[row][column] for column in columns] for row in rows]
                ones = [left.keys[row] for row in rows]
                others = [right.keys[column] for column in columns]
                kept = set(align_sequences(block, ones, others)[1])
                for i, row in enumerate(rows):
                    values[row] = values[row].copy()
                    for j, column in enumerate(columns):
                        if (i, j) not in kept:
                            values[row][column] = 0.0
