"""Pair what the level-by-level alignment had to leave alone because it moved out of its parent's image.

``lm_head`` beside ``model`` on one side stands inside it on the other; mergers are kept in a list beside the layers
here and in the layers there. After the alignment, whatever is unmatched on both sides, and holds nothing matched, is
assigned once more across all levels. There are many more such pairs than good ones, so a pair must be worth more here
(`Weights.leftover`). Nodes below two layers that are not each other's partners are only paired if they are the only
ones of their kinds, and a module without parameters is not paired that one side has once and the other in every layer.
What one pair takes along is no longer free for the next.
"""

from __future__ import annotations

from collections import Counter

from .assign import assign
from .fold import Folded
from .forest import Aligner
from .genus import PARAMETRIC
from .links import Links, expanded, overlap
from .sequence import uncrossed

_MOST_PAIRS = 250_000  # beyond, an assignment of leftovers would take longer than everything else
_DRIFT = 0.4  # what being first here and last there costs a pair; it decides between equals only
_NEAR = 1.5  # what it is worth that the neighbours of the two are each other's partners
_LEAST = 1e-6
_ELSEWHERE = 2.5  # log odds beyond `Weights.leftover` at which two modules, the only ones of their kinds, may stand in
# layers that are not partners: a downsampling that ends one stage here and begins the next there


def pair_leftovers(aligner: Aligner, links: Links) -> Links:
    """Links of moved subtrees, everything matched below them included; ``links`` is not changed."""
    moved: Links = {}
    while found := _round(aligner, links | moved):
        taken = set(links.values()) | set(moved.values())
        for a, b in found:
            subtree = expanded(aligner, ((a, b),))
            if moved.keys().isdisjoint(subtree) and taken.isdisjoint(subtree.values()):
                moved |= subtree
                taken.update(subtree.values())
    return moved


def _round(aligner: Aligner, links: Links) -> list[tuple[int, int]]:
    left, right, least = aligner.left, aligner.right, aligner.weights.leftover
    back = {b: a for a, b in links.items()}
    rows, columns = _loose(left, links), _loose(right, back)
    ours, theirs = (sorted({side.kind[node] for node in loose}) for side, loose in ((left, rows), (right, columns)))
    worth = {
        (one, other): value - least
        for one in ours
        for other in theirs
        if left.tree.called[left.first[one]] == right.tree.called[right.first[other]]
        and (value := aligner.solve(one, other).value) > least
    }
    ones, others = {one for one, _ in worth}, {other for _, other in worth}
    rows = [a for a in rows if left.kind[a] in ones]
    columns = [b for b in columns if right.kind[b] in others]
    if not rows or not columns or len(rows) * len(columns) > _MOST_PAIRS:
        return []
    homes = [_layer(left, right, a, links) for a in rows]
    aways = [_layer(right, left, b, back) for b in columns]
    solid_rows = [_has_parameters(left, a) for a in rows]
    solid_columns = [_has_parameters(right, b) for b in columns]
    lone_rows, lone_columns = _lone([left.kind[a] for a in rows]), _lone([right.kind[b] for b in columns])
    neighbours = overlap(left.tree, right.tree, links)
    values = []
    for row, a in enumerate(rows):
        line = [0.0] * len(columns)
        for column, b in enumerate(columns):
            value = worth.get((left.kind[a], right.kind[b]), 0.0)
            parametric = solid_rows[row] and solid_columns[column]
            alone = parametric and lone_rows[row] and lone_columns[column] and value > _ELSEWHERE
            if value and (alone or _may_meet(homes[row], aways[column], links, parametric=parametric)):
                drift = abs(row / len(rows) - column / len(columns))
                near = neighbours(left.tree.parents[a], right.tree.parents[b])
                line[column] = max(value - _DRIFT * drift + _NEAR * near, _LEAST)
        values.append(line)
    _, found = assign(values)
    here = [(left.kind[a], links.get(home, -1)) for a, home in zip(rows, homes, strict=True)]
    there = [(right.kind[b], away) for b, away in zip(columns, aways, strict=True)]
    return [(rows[row], columns[column]) for row, column in uncrossed(found, here, there)]


def _lone(kinds: list[int]) -> list[bool]:
    """Whether every element is the only one of its kind."""
    count = Counter(kinds)
    return [count[kind] == 1 for kind in kinds]


def _may_meet(home: int, away: int, links: Links, *, parametric: bool) -> bool:
    """Whether layers that are known allow the pair: ``home`` and ``away`` are the nearest matched layers, or -1."""
    if home >= 0 and away >= 0:
        return links[home] == away
    return parametric or home == away


def _has_parameters(side: Folded, node: int) -> bool:
    return any(
        side.traits[inner].genus in PARAMETRIC or side.traits[inner].shape or side.traits[inner].genus == "parameter"
        for inner in range(node, side.tree.ends[node])
    )


def _loose(side: Folded, matched: Links) -> list[int]:
    """Nodes without a partner and without partners below."""
    tree = side.tree
    busy = [node in matched for node in range(len(tree))]
    for node in range(len(tree) - 1, 0, -1):
        if busy[node]:
            busy[tree.parents[node]] = True
    return [node for node in range(1, len(tree)) if not busy[node]]


def _layer(side: Folded, other: Folded, node: int, matched: Links) -> int:
    """The nearest numbered ancestor that has a numbered partner, -1 if there is none."""
    tree = side.tree
    node = tree.parents[node]
    while node > 0:
        if tree.names[node].isdigit() and node in matched and other.tree.names[matched[node]].isdigit():
            break
        node = tree.parents[node]
    return max(node, 0) or -1
