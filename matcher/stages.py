"""Say where the layers of a pipeline stage belong in the whole model.

A stage numbers its layers from 0, so equal layers alone would always be laid against the first layers of the whole
model. What stands around the layers tells better: a stage with the embedding is the first, one with the final norm or
the head the last. Where nothing tells, or where both ends are there and the numbers of layers still differ, the
position is a guess, and said to be one. So is that of the experts of one expert-parallel rank.
"""

from __future__ import annotations

from dataclasses import dataclass

from .fold import Folded
from .forest import Aligner
from .links import Links, block_lists, relink
from .names import words

_SAME = 1e-3  # log odds by which a shifted list may be worth less: the preference for equal numbers, no more


@dataclass(frozen=True, slots=True)
class Placed:
    """Links after placing, and for the left items whose place is a guess the reason why."""

    pairs: Links
    guessed: dict[int, str]


@dataclass(frozen=True, slots=True)
class _Lists:
    """Two lists of numbered items of unequal length, by their parents; ``short_left`` tells which one is the stage."""

    left: int
    right: int
    short_left: bool


def place_stages(aligner: Aligner, links: Links) -> Placed:
    """Shift the items of shorter lists to where they belong; ``links`` is not changed."""
    pairs, guessed = dict(links), dict[int, str]()
    for lists in _unequal_lists(aligner, links):
        rows = aligner.left.tree.children[lists.left]
        columns = aligner.right.tree.children[lists.right]
        current = {a: pairs[a] for a in rows if a in pairs}
        shift = abs(len(rows) - len(columns))
        if lists.short_left:
            shifted = {a: columns[i + shift] for i, a in enumerate(rows)}
            first, last = _ends(aligner.right, lists.right, set(pairs.values()))
        else:
            shifted = {rows[i + shift]: b for i, b in enumerate(columns)}
            first, last = _ends(aligner.left, lists.left, set(pairs))
        if len(current) != len(shifted) or _worth(aligner, shifted) < _worth(aligner, current) - _SAME:
            continue
        if "experts" in words(aligner.left.tree.names[lists.left]):
            guessed.update((a, "offset is a guess: nothing tells which rank's experts these are") for a in current)
        elif last and not first:
            relink(aligner, pairs, current, shifted)
        elif first == last:
            why = "both ends are there" if first else "nothing beside the layers tells the stage"
            guessed.update((a, f"offset is a guess: {why}") for a in current)
    return Placed(pairs, guessed)


def _unequal_lists(aligner: Aligner, links: Links) -> list[_Lists]:
    left, right = aligner.left.tree, aligner.right.tree
    sizes = {(p, q): (len(left.children[p]), len(right.children[q])) for p, q in block_lists(left, right, links)}
    return [_Lists(p, q, ours < theirs) for (p, q), (ours, theirs) in sizes.items() if ours != theirs]


def _worth(aligner: Aligner, items: Links) -> float:
    return sum(aligner.value(a, b) for a, b in items.items())


def _ends(side: Folded, items: int, matched: set[int]) -> tuple[bool, bool]:
    """Whether anything that is matched stands before, and after, the list of items, other towers left out."""
    tree = side.tree
    before = after = False
    node = items
    while node > 0:
        parent = tree.parents[node]
        for sibling in tree.children[parent]:
            if sibling == node or _holds_items(side, sibling):
                continue
            if any(inner in matched and side.traits[inner].solid for inner in range(sibling, tree.ends[sibling])):
                before |= sibling < node
                after |= sibling > node
        node = parent
    return before, after


def _holds_items(side: Folded, node: int) -> bool:
    tree = side.tree
    return any(
        len(tree.children[inner]) > 1 and all(tree.children[child] for child in tree.children[inner])
        for inner in range(node, tree.ends[node])
        if tree.children[inner] and tree.names[tree.children[inner][0]].isdigit()
    )
