"""Align two subtrees, kind by kind: the value of the best alignment, and who goes with whom at the next level.

The value of a pair of kinds is its own value (`matcher.score`) plus the best assignment of what is below. A level that
only one side has is *dissolved*: its node is left alone and its children stand in its place. Which levels to dissolve
is found by local search (one on either side, a matched pair at once, or a chain of wrappers) as long as the total
grows; an upper bound of the gain orders the search and cuts most of it off. This is unordered tree alignment (Jiang,
Wang and Zhang, 1995), which is NP-hard for unbounded degree, so the search is a heuristic. Ancestors of matched nodes
are never matched across: what moves out of its parent's image is left to `matcher.leftover`.

A node number ``-1 - node`` stands for a node without what is below it: a module that computes something itself and
holds others (``word_embeddings`` with a norm inside) can be dissolved and still find a partner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from .assign import Links, assign
from .fold import Folded
from .names import words
from .score import PairScorer, Weights
from .sequence import align_sequences, uncrossed

_LONG_LIST = 12  # longer lists of numbered children are never dissolved: their elements only make sense in order
_FEW = 4
_DEEPEST_CHAIN = 4  # levels that are dissolved at one go; deeper chains take several goes
_MOST_LEVELS = 3  # groups within groups that regrouped lists are compared through
_MOST_UNITS = 160
_WORTH_REGROUPING = 1.0  # log odds that must be gained before two lists are read as grouped otherwise
_EPSILON = 1e-6
_PLACE = 0.05  # cost of first here for last there where genera tell no order: more than an accident of spelling
_RANKED = dict.fromkeys(("linear", "embedding", "router"), "matrix")  # genera that unknown names cannot tell apart
_DEEP = 60  # from this depth on, values are computed bottom-up, since every level takes several stack frames


@dataclass(frozen=True, slots=True)
class Solution:
    """Value of a pair of kinds, and links between nodes below their first instances."""

    value: float
    links: Links


@dataclass(frozen=True, slots=True)
class _Level:
    """Nodes that stand beside each other: their kinds, genera with position, and the size of every genus."""

    nodes: tuple[int, ...]
    keys: tuple[int, ...]
    places: list[tuple[str, float]]
    count: dict[str, int]


@dataclass(frozen=True, slots=True)
class Move:
    """A level dissolved: nodes to replace on either side (none if nothing replaces them), and the most it can gain."""

    bound: float
    left: int
    left_by: tuple[int, ...]
    right: int
    right_by: tuple[int, ...]


class Aligner:
    """Values of pairs of kinds, each computed once; not frozen because its memory grows."""

    __slots__ = ("_genera", "_lines", "_solutions", "_values", "left", "right", "scorer", "weights")

    def __init__(self, left: Folded, right: Folded, weights: Weights) -> None:
        self.left = left
        self.right = right
        self.weights = weights
        self.scorer = PairScorer(left, right, weights)
        self._solutions: dict[tuple[int, int], Solution] = {}
        self._genera = tuple(
            tuple(_RANKED.get(trait.genus, trait.genus) for trait in side.traits) for side in (left, right)
        )
        self._values: dict[int, dict[int, float]] = {}
        self._lines: dict[tuple[int, ...], dict[int, tuple[list[float], float]]] = {}  # and their maximum
        if max(left.tree.depths) > _DEEP < max(right.tree.depths):
            for one in range(len(left)):
                for other in range(len(right)):
                    self.solve(one, other)

    def own(self, a: int, b: int) -> float:
        """The value of pairing two nodes, leaving aside what is below them."""
        return self.scorer.own(self.left.kind[a], self.right.kind[b])

    def value(self, a: int, b: int) -> float:
        """The value of pairing two nodes, everything below them included."""
        return self._row(self._key(self.left, a), (self._key(self.right, b),))[0]

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
        if _numbered(self.left, rows) and _numbered(self.right, columns):
            total, links = self._in_order(rows, columns, loose=self._counts_up(a, b))
            alike = len(rows) == len(columns) and total > 0.0
            return (total, links) if alike else self._regrouped(a, b, total, links)
        return self._search(_thinned(self.left, rows), _thinned(self.right, columns))

    def _counts_up(self, a: int, b: int) -> bool:
        """Whether both are the rising half of a network, which some count from the input and some from the output."""
        return all("up" in words(tree.names[node]) for tree, node in ((self.left.tree, a), (self.right.tree, b)))

    def _in_order(self, rows: tuple[int, ...], columns: tuple[int, ...], *, loose: bool = False) -> tuple[float, Links]:
        """The best order-preserving alignment of two lists of nodes."""
        ones = tuple(self._key(self.left, a) for a in rows)
        others = tuple(self._key(self.right, b) for b in columns)
        total, found = align_sequences([self._row(one, others) for one in ones], ones, others, loose=loose)
        return total, tuple((rows[row], columns[column]) for row, column in found)

    def _regrouped(self, a: int, b: int, total: float, links: Links) -> tuple[float, Links]:
        """Two lists of unequal length may hold the same blocks in other groups: compare what is inside the groups.

        ``input_blocks.4.1`` is ``down_blocks.1.attentions.0``; stages of blocks here are one list of blocks there.
        """
        ours, theirs = _levels(self.left, a), _levels(self.right, b)
        best, best_links = total + _WORTH_REGROUPING, links
        for here, rows in enumerate(ours):
            for there, columns in enumerate(theirs):
                if here + there == 0:
                    continue
                found, new_links = self._in_order(rows, columns)
                free, free_links, _ = self._assign(self._level(0, rows), self._level(1, columns))
                if free > found + _WORTH_REGROUPING:
                    found, new_links = free - _WORTH_REGROUPING, free_links
                if found > best:
                    best, best_links = found + _WORTH_REGROUPING, new_links
        return (best - _WORTH_REGROUPING, best_links) if best_links is not links else (total, links)

    def _key(self, side: Folded, node: int) -> int:
        return side.kind[node] if node >= 0 else -1 - side.kind[-1 - node]

    def _row(self, one: int, others: tuple[int, ...]) -> list[float]:
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

    def _search(self, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[float, Links]:
        here, there = self._level(0, left), self._level(1, right)
        total, links, worth = self._assign(here, there)
        while True:
            best: tuple[float, Links, dict[int, float], _Level, _Level] | None = None
            gain = _EPSILON
            for move in self._moves(here.nodes, there.nodes, links, worth):
                if move.bound <= gain:
                    break
                new_here = self._level(0, _replaced(here.nodes, move.left, move.left_by)) if move.left_by else here
                new_there = (
                    self._level(1, _replaced(there.nodes, move.right, move.right_by)) if move.right_by else there
                )
                found, new_links, new_worth = self._assign(new_here, new_there, least=total + gain)
                if found > total + gain:
                    gain = found - total
                    best = (found, new_links, new_worth, new_here, new_there)
            if best is None:
                return total, links
            total, links, worth, here, there = best

    def _level(self, side: int, nodes: tuple[int, ...]) -> _Level:
        places, count = _places(self._genera[side], nodes)
        kind = (self.left, self.right)[side].kind
        keys = tuple([kind[node] if node >= 0 else -1 - kind[-1 - node] for node in nodes])
        return _Level(nodes, keys, places, count)

    def _moves(
        self, left: tuple[int, ...], right: tuple[int, ...], links: Links, worth: dict[int, float]
    ) -> list[Move]:
        """Levels to dissolve, best bound first."""
        extra = self.weights.only
        from_left, from_right = self._reaches(left, right)
        moves: list[Move] = []
        for a, b in links:
            if _soluble(self.left, a) and _soluble(self.right, b) and not self._both_lists(a, b):
                ours, theirs = _inside(self.left, a), _inside(self.right, b)
                keys = tuple(self._key(self.right, d) for d in theirs)
                bound = sum(max(from_left(c), *self._row(self._key(self.left, c), keys)) for c in ours)
                bound += sum(map(from_right, theirs)) + extra
                moves.append(Move(bound - worth[a], a, ours, b, theirs))
        for a in left:
            lost = worth.get(a, 0.0) - extra
            moves += [Move(sum(map(from_left, by)) - lost, a, by, -1, ()) for by in _chain(self.left, a)]
        taken = {b: worth[a] for a, b in links}
        for b in right:
            lost = taken.get(b, 0.0) - extra
            moves += [Move(sum(map(from_right, by)) - lost, -1, (), b, by) for by in _chain(self.right, b)]
        moves.sort(key=lambda move: -move.bound)
        return moves

    def _both_lists(self, a: int, b: int) -> bool:
        """Whether both are numbered lists: their elements are aligned in order, which assignment would forget."""
        return _numbered(self.left, self.left.tree.children[a]) and _numbered(self.right, self.right.tree.children[b])

    def _reaches(
        self, left: tuple[int, ...], right: tuple[int, ...]
    ) -> tuple[Callable[[int], float], Callable[[int], float]]:
        """Two functions: the most that a node could be worth with any of the nodes that stand on the other side."""
        ones = tuple(self._key(self.left, a) for a in left)
        others = tuple(self._key(self.right, b) for b in right)

        @cache
        def best_of_left(key: int) -> float:
            return max(0.0, *self._row(key, others), 0.0)

        @cache
        def best_of_right(key: int) -> float:
            return max(0.0, *(self._row(one, (key,))[0] for one in ones), 0.0)

        return (
            lambda a: best_of_left(self._key(self.left, a)),
            lambda b: best_of_right(self._key(self.right, b)),
        )

    def _assign(self, left: _Level, right: _Level, *, least: float = 0.0) -> tuple[float, Links, dict[int, float]]:
        """The best assignment of two levels: value, links and worth of each; nothing if it cannot exceed ``least``."""
        here, there, ours, theirs = left.places, right.places, left.count, right.count
        lone = {genus for genus, count in ours.items() if genus and count == 1 and theirs.get(genus) == 1}
        order, only = self.weights.order, self.weights.only
        lines = self._lines.setdefault(right.keys, {})
        values = []
        tall, wide = max(len(here) - 1, 1), max(len(there) - 1, 1)
        most = [0.0] * len(there)
        for row, one in enumerate(left.keys):
            known = lines.get(one)
            if known is None:
                fresh = self._row(one, right.keys)
                known = lines[one] = fresh, max(fresh, default=0.0)
            line, top = known
            genus, rank = here[row]
            bonus = only if genus in lone else 0.0
            if top > -bonus:
                line = line.copy()
                for column, value in enumerate(line):
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
        self._keep_order(values, left.nodes, right.nodes)
        total, found = assign(values)
        found = uncrossed(found, left.keys, right.keys)
        links = tuple([(left.nodes[row], right.nodes[column]) for row, column in found])
        return total, links, {left.nodes[row]: values[row][column] for row, column in found}

    def _keep_order(self, values: list[list[float]], left: tuple[int, ...], right: tuple[int, ...]) -> None:
        """Leave the items of two equally long dissolved lists only the partners that they have when they keep order."""
        theirs = _dissolved_lists(self.right, right)
        for rows in _dissolved_lists(self.left, left) if theirs else []:
            for columns in theirs:
                if len(rows) != len(columns):
                    continue  # other groups on either side: their items need not come in the same order
                block = [[values[row][column] for column in columns] for row in rows]
                ones = tuple(self._key(self.left, left[row]) for row in rows)
                others = tuple(self._key(self.right, right[column]) for column in columns)
                kept = set(align_sequences(block, ones, others)[1])
                for i, row in enumerate(rows):
                    values[row] = values[row].copy()
                    for j, column in enumerate(columns):
                        if (i, j) not in kept:
                            values[row][column] = 0.0


def _numbered(side: Folded, nodes: tuple[int, ...]) -> bool:
    return len(nodes) > 1 and all(side.tree.names[node].isdigit() for node in nodes)


def _dissolved_lists(side: Folded, nodes: tuple[int, ...]) -> list[list[int]]:
    """Places of numbered nodes that are siblings, two or more, while others that are not stand among the nodes too."""
    lists: dict[int, list[int]] = {}
    for place, node in enumerate(nodes):
        if node >= 0 and side.tree.names[node].isdigit():
            lists.setdefault(side.tree.parents[node], []).append(place)
    return [places for places in lists.values() if len(places) > 1]


def _levels(side: Folded, node: int) -> list[tuple[int, ...]]:
    """What is below a list, then with its groups dissolved, then with the lists in those groups dissolved too."""
    tree = side.tree
    levels = [tree.children[node]]
    while len(levels) < _MOST_LEVELS:
        last = levels[-1]
        opened = tuple(
            inner for outer in last for inner in (tree.children[outer] if _is_group(side, outer) else (outer,))
        )
        if opened == last or len(opened) > _MOST_UNITS:
            break
        levels.append(opened)
    return levels


def _is_group(side: Folded, node: int) -> bool:
    """Whether a node only groups blocks: a list, or a module of lists and blocks alone."""
    tree = side.tree
    below = tree.children[node]
    return (
        bool(below)
        and not side.traits[node].solid
        and (
            all(tree.names[child].isdigit() for child in below)
            or all(tree.children[child] and tree.names[tree.children[child][0]].isdigit() for child in below)
        )
    )


def _thinned(side: Folded, nodes: tuple[int, ...]) -> tuple[int, ...]:
    """Of the items of a long list, the first few of every kind: against anything but a list no more find a partner."""
    if len(nodes) <= _LONG_LIST:
        return nodes
    seen: dict[int, int] = {}
    kept = []
    for node in nodes:
        kind = side.kind[node]
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= _FEW or not side.tree.names[node].isdigit():
            kept.append(node)
    return tuple(kept)


def _soluble(side: Folded, node: int) -> bool:
    below = side.tree.children[node] if node >= 0 else ()
    return bool(below) and (len(below) <= _LONG_LIST or not side.tree.names[below[0]].isdigit())


def _inside(side: Folded, node: int) -> tuple[int, ...]:
    """The children of a node, after the node itself without them if it computes something itself."""
    below = side.tree.children[node]
    return (-1 - node, *below) if side.traits[node].solid else below


def _chain(side: Folded, node: int) -> list[tuple[int, ...]]:
    """What stands in the place of a node when it is dissolved, then its largest child too, and so on down."""
    found: list[tuple[int, ...]] = []
    tree = side.tree
    standing: tuple[int, ...] = (node,)
    while _soluble(side, node) and len(found) < _DEEPEST_CHAIN:
        standing = _replaced(standing, node, _inside(side, node))
        found.append(standing)
        node = max(tree.children[node], key=lambda child: (tree.ends[child] - child, -child))
    return found


def _places(genus_of: tuple[str, ...], nodes: tuple[int, ...]) -> tuple[list[tuple[str, float]], dict[str, int]]:
    """Genus and position (0 first to 1 last) of every node among those of its genus; and the size of each genus."""
    members: dict[str, int] = {}
    genera = [genus_of[node] if node >= 0 else genus_of[-1 - node] for node in nodes]
    ranks = []
    for genus in genera:
        rank = members.get(genus, 0)
        ranks.append(rank)
        members[genus] = rank + 1
    spans = {genus: max(count - 1, 1) for genus, count in members.items()}
    return [(genus, rank / spans[genus]) for genus, rank in zip(genera, ranks, strict=True)], members


def _replaced(nodes: tuple[int, ...], node: int, by: tuple[int, ...]) -> tuple[int, ...]:
    at = nodes.index(node)
    return nodes[:at] + by + nodes[at + 1 :]
