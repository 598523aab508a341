"""Nodes that stand beside each other, and what stands there when some of them are dissolved.

A *level* starts as the children of a node; dissolving a node puts its children in its place. A node number
``-1 - node`` stands for a node without what is below it: a module that computes something itself and holds others
(``word_embeddings`` with a norm inside) can be dissolved and still find a partner. Its *key* is then ``-1 - kind``, as
that of a whole node is its kind. Limits: long numbered lists are never dissolved, and long chains not at one go.
"""

from __future__ import annotations

from dataclasses import dataclass

from .fold import Folded

_LONG_LIST = 12  # longer lists of numbered children are never dissolved: their elements only make sense in order
_FEW = 4
_DEEPEST_CHAIN = 4  # levels that are dissolved at one go; deeper chains take several goes
_MOST_LEVELS = 3  # groups within groups that regrouped lists are compared through
_MOST_UNITS = 160
_RANKED = dict.fromkeys(("linear", "embedding", "router"), "matrix")  # genera that unknown names cannot tell apart

Nodes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands in the place of a dissolved node.

    ``size`` counts all nodes that the alignment could pair below and among these, with anything and with anything but
    a list.
    """

    nodes: Nodes
    keys: Nodes
    size: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Level:
    """Nodes that stand beside each other.

    Their keys, and each key once; genera with position (0 first to 1 last of its genus), the genera that only one of
    them has, the places of dissolved lists among them, and whether there is a list among them.
    """

    nodes: Nodes
    keys: Nodes
    kinds: Nodes
    places: list[tuple[str, float]]
    lone: frozenset[str]
    lists: list[list[int]]
    listed: bool


class Levels:
    """The levels of one side, each described once; not frozen because its memory grows."""

    __slots__ = ("_chains", "_genera", "_known", "_lists", "side")

    def __init__(self, side: Folded) -> None:
        self.side = side
        self._genera = tuple([_RANKED.get(trait.genus, trait.genus) for trait in side.traits])
        below = side.tree.children
        self._lists = frozenset([kind for kind, node in enumerate(side.first) if numbered(side, below[node])])
        self._known: dict[Nodes, Level] = {}
        self._chains: dict[int, list[Standing]] = {}

    def key(self, node: int) -> int:
        return self.side.kind[node] if node >= 0 else -1 - self.side.kind[-1 - node]

    def keys(self, nodes: Nodes) -> Nodes:
        kind = self.side.kind
        return tuple([kind[node] if node >= 0 else -1 - kind[-1 - node] for node in nodes])

    def level(self, nodes: Nodes) -> Level:
        known = self._known.get(nodes)
        if known is None:
            places, count = _places([self._genera[max(node, -1 - node)] for node in nodes])
            lone = frozenset([genus for genus, size in count.items() if size == 1 and genus])
            keys = self.keys(nodes)
            kinds = tuple(dict.fromkeys(keys))
            listed = not self._lists.isdisjoint(kinds)
            known = Level(nodes, keys, kinds, places, lone, _dissolved_lists(self.side, nodes), listed)
            self._known[nodes] = known
        return known

    def inside(self, node: int) -> Nodes:
        """The children of a node, after the node itself without them if it computes something itself."""
        below = self.side.tree.children[node]
        return (-1 - node, *below) if self.side.traits[node].solid else below

    def chain(self, node: int) -> list[Standing]:
        """What stands in the place of a node when it is dissolved, then its largest child too, and so on down."""
        found = self._chains.get(node)
        if found is None:
            found = self._chains[node] = self._chain(node)
        return found

    def _chain(self, node: int) -> list[Standing]:
        found: list[Standing] = []
        tree = self.side.tree
        standing: Nodes = (node,)
        while soluble(self.side, node) and len(found) < _DEEPEST_CHAIN:
            standing = replaced(standing, node, self.inside(node))
            found.append(Standing(standing, self.keys(standing), self._size(standing)))
            node = max(tree.children[node], key=lambda child: (tree.ends[child] - child, -child))
        return found

    def _size(self, nodes: Nodes) -> tuple[int, int]:
        tree, whole, short = self.side.tree, len(nodes), len(nodes)
        for node in nodes:
            if node >= 0 and tree.children[node]:
                whole += tree.ends[node] - node - 1
                short += sum([tree.ends[child] - child for child in thinned(self.side, tree.children[node])])
        return whole, short


def numbered(side: Folded, nodes: Nodes) -> bool:
    """Whether nodes are the items of a list."""
    return len(nodes) > 1 and all(side.tree.names[node].isdigit() for node in nodes)


def replaced(nodes: Nodes, node: int, by: Nodes) -> Nodes:
    at = nodes.index(node)
    return nodes[:at] + by + nodes[at + 1 :]


def soluble(side: Folded, node: int) -> bool:
    """Whether a node can be dissolved."""
    below = side.tree.children[node] if node >= 0 else ()
    return bool(below) and (len(below) <= _LONG_LIST or not side.tree.names[below[0]].isdigit())


def thinned(side: Folded, nodes: Nodes) -> Nodes:
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


def regroupings(side: Folded, node: int) -> list[Nodes]:
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


def _dissolved_lists(side: Folded, nodes: Nodes) -> list[list[int]]:
    """Places of numbered nodes that are siblings, two or more, while others that are not stand among the nodes too."""
    lists: dict[int, list[int]] = {}
    for place, node in enumerate(nodes):
        if node >= 0 and side.tree.names[node].isdigit():
            lists.setdefault(side.tree.parents[node], []).append(place)
    return [places for places in lists.values() if len(places) > 1]


def _places(genera: list[str]) -> tuple[list[tuple[str, float]], dict[str, int]]:
    """Genus and position of every node among those of its genus; and the size of each genus."""
    members: dict[str, int] = {}
    ranks = []
    for genus in genera:
        rank = members.get(genus, 0)
        ranks.append(rank)
        members[genus] = rank + 1
    spans = {genus: max(count - 1, 1) for genus, count in members.items()}
    return [(genus, rank / spans[genus]) for genus, rank in zip(genera, ranks, strict=True)], members
