"""Links between nodes of two trees, as all stages after the level-by-level alignment pass them on.

A link from a node stands for the best alignment of what is below it too: `expanded` writes that out, and whoever moves
a node moves its subtree.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cache

from .forest import Aligner
from .tree import Tree

Links = dict[int, int]


def expanded(aligner: Aligner, top: tuple[tuple[int, int], ...]) -> Links:
    """These links, and the links below each of them, down to the leaves."""
    links: Links = {}
    stack = [top]
    while stack:
        for a, b in stack.pop():
            links[max(a, -1 - a)] = max(b, -1 - b)
            if a >= 0 and b >= 0:
                stack.append(aligner.links(a, b))
    return links


def relink(aligner: Aligner, links: Links, old: Iterable[int], new: Links) -> None:
    """Put ``new`` and everything below it in the place of the links of ``old`` left nodes and of what is below them."""
    for a in old:
        for node in range(a, aligner.left.tree.ends[a]):
            links.pop(node, None)
    links.update(expanded(aligner, tuple(new.items())))


def block_lists(left: Tree, right: Tree, links: Links) -> dict[tuple[int, int], tuple[list[int], list[int]]]:
    """Linked numbered blocks, in order, by the two lists that they stand in."""
    found: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for a in sorted([a for a in links if left.children[a] and left.names[a].isdigit()]):
        b = links[a]
        if right.names[b].isdigit() and right.children[b]:
            rows, columns = found.setdefault((left.parents[a], right.parents[b]), ([], []))
            rows.append(a)
            columns.append(b)
    return found


def overlap(left: Tree, right: Tree, links: Links) -> Callable[[int, int], float]:
    """A function: how much of what is linked in two subtrees is linked with each other, in [0, 1] (Jaccard)."""
    sources = sorted(links)
    images = [links[a] for a in sources]
    ordered = sorted(images)

    @cache
    def shared(a: int, b: int) -> float:
        mine = images[bisect_left(sources, a) : bisect_left(sources, left.ends[a])]
        common = sum(b <= image < right.ends[b] for image in mine)
        theirs = bisect_left(ordered, right.ends[b]) - bisect_left(ordered, b)
        return common / max(1, len(mine) + theirs - common)

    return shared
