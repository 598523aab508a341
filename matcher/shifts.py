"""Move an optional part of numbered blocks by one block where the other code base ends a stage one module earlier.

A hierarchical network halves its resolution between stages. Some code bases write the downsampling as the last module
of a stage, others as the first of the next, under the same name; stage by stage the two then lie one apart. For every
two lists of blocks that are aligned, a child that not all blocks have is laid against the same child one block on, and
one block back; the shift is taken if it makes the pairs worth more. Limits: only direct children of the blocks, and
only a shift by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from .fold import Folded
from .forest import Aligner
from .links import Links, block_lists, relink

_WORTH_SHIFTING = 0.5  # log odds that the shifted pairs must be worth more: half of what one good pair is
_MOST_NAMES = 4

Line = list[int]  # a child of every block of a list, -1 where a block has none


def shift_parts(aligner: Aligner, links: Links) -> Links:
    """The links with such parts moved; ``links`` is not changed."""
    left, right = aligner.left.tree, aligner.right.tree
    result = dict(links)
    for rows, columns in block_lists(left, right, links).values():
        for ours, theirs in product(_optional(aligner.left, rows), _optional(aligner.right, columns)):
            best = max((_pairs(aligner, ours, theirs, shift) for shift in (0, 1, -1)), key=lambda found: found[0])
            current = sum(aligner.value(a, result[a]) for a in ours if a in result and result[a] in theirs)
            if best[0] > current + _WORTH_SHIFTING and _is_free(result, best[1], ours, theirs):
                relink(aligner, result, (a for a in ours if a >= 0), best[1])
    return result


def _optional(side: Folded, blocks: Sequence[int]) -> list[Line]:
    """One line for every name that some of the blocks have, and some have not, a child of; placeholders are none."""
    if len({side.kind[block] for block in blocks}) == 1:
        return []
    tree = side.tree
    below = [[c for c in tree.children[block] if side.traits[c].genus != "identity"] for block in blocks]
    lines: list[Line] = []
    for name in dict.fromkeys(tree.names[child] for children in below for child in children):
        line = [next((c for c in children if tree.names[c] == name), -1) for children in below]
        if -1 in line and len(lines) < _MOST_NAMES:
            lines.append(line)
    return lines


def _pairs(aligner: Aligner, ours: Line, theirs: Line, shift: int) -> tuple[float, Links]:
    """Total value and pairs of one line laid against another that is moved on by ``shift`` blocks."""
    found: Links = {}
    total = 0.0
    for place, a in enumerate(ours):
        b = theirs[place + shift] if 0 <= place + shift < len(theirs) else -1
        if a >= 0 <= b and (value := aligner.value(a, b)) > 0:
            found[a] = b
            total += value
    return total, found


def _is_free(links: Links, new: Links, ours: Line, theirs: Line) -> bool:
    """Whether neither side of the new pairs has a partner outside the two lines."""
    here, there = set(ours), set(theirs)
    wanted = set(new.values())
    return all(links.get(a, b) in there for a, b in new.items()) and all(
        a in here for a, b in links.items() if b in wanted
    )
