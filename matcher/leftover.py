"""Pair what the level-by-level alignment had to leave alone because it moved out of its parent's image.

``lm_head`` beside ``model`` on one side stands inside it on the other; a merger list is kept beside the layers here and
in them there. After alignment, the topmost unmatched subtrees of both sides are searched once more, as two forests,
whatever level they stand on. A pair must be worth more here than among siblings (`_LEFTOVER`), and nodes that stand
below two layers which are known not to be partners are never paired.
"""

from __future__ import annotations

from .assign import assign
from .forest import Aligner
from .traits import PARAMETRIC

_LEFTOVER = 1.2  # log odds that a pair out of place must be worth: there are many more such pairs than good ones
_MOST = 400_000  # pairs of kinds to look at; beyond, what is left over is not worth the time


def pair_leftovers(aligner: Aligner, links: dict[int, int]) -> list[tuple[int, int]]:
    """New links between topmost unmatched subtrees, by left node."""
    back = {b: a for a, b in links.items()}
    left = _loose(aligner.left.tree, links)
    right = _loose(aligner.right.tree, back)
    kinds_left = sorted({aligner.left.kind[a] for a in left})
    kinds_right = sorted({aligner.right.kind[b] for b in right})
    if len(kinds_left) * len(kinds_right) > _MOST:
        return []
    good = {
        (one, other): value
        for one in kinds_left
        for other in kinds_right
        if (value := aligner.solve(one, other).value) > _LEFTOVER
        and aligner.left.tree.called[aligner.left.first[one]] == aligner.right.tree.called[aligner.right.first[other]]
    }
    ones, others = {one for one, _ in good}, {other for _, other in good}
    rows = [a for a in left if aligner.left.kind[a] in ones]
    columns = [b for b in right if aligner.right.kind[b] in others]
    if not rows or not columns:
        return []
    home = [_item(aligner.left.tree, a, links) for a in rows]
    away = [_item(aligner.right.tree, b, back) for b in columns]
    values = []
    for i, a in enumerate(rows):
        line = []
        for j, b in enumerate(columns):
            value = good.get((aligner.left.kind[a], aligner.right.kind[b]), 0.0)
            if value and (home[i] is not None and away[j] is not None and links[home[i]] != away[j]):
                value = 0.0
            if (
                value
                and (home[i] is None) != (away[j] is None)
                and not (_has_params(aligner.left, a) and _has_params(aligner.right, b))
            ):
                value = 0.0
            if value:
                value = max(value - _LEFTOVER - 0.5 * abs(i / len(rows) - j / len(columns)), 0.0)
            line.append(value)
        values.append(line)
    _, found = assign(values)
    return [(rows[i], columns[j]) for i, j in found]


def _has_params(side, node):
    return any(side.traits[n].genus in PARAMETRIC or side.traits[n].shape for n in range(node, side.tree.ends[node]))


def _loose(tree, matched) -> list[int]:
    """Nodes without a partner and without partners below, topmost and everything below them."""
    busy = [False] * len(tree)
    for node in range(len(tree) - 1, 0, -1):
        if busy[node] or node in matched:
            busy[node] = True
            busy[tree.parents[node]] = True
    return [node for node in range(1, len(tree)) if not busy[node] and not _inside(tree, node, matched)]


def _inside(tree, node, matched) -> bool:
    return False


def _item(tree, node, matched):
    """The nearest numbered ancestor that has a partner."""
    node = tree.parents[node]
    while node > 0:
        if node in matched and tree.names[node].isdigit():
            return node
        node = tree.parents[node]
    return None
