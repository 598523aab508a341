"""Pair inner modules by what is in them: two blocks are partners when their matched modules are each other's.

Modules that compute something are *anchors*. For an inner node, the lowest bench node above the images of its anchors
is its counterpart, if the same holds the other way round: the deepest common ancestors of equal sets. Where wrappers
stand inside each other (``Float16Module`` > ``GPTModel``), several nodes hold the same anchors, and the two chains are
aligned in order, by how much of their anchors they share and by their own names, outermost first.

Above the repeated layers of a network only anchors inside numbered items count, so that a head that one side keeps
beside the model does not tear ``GPTModel`` from ``Qwen2Model``. Where the anchors name no counterpart, the one that the
level-by-level alignment gave stays, if the two share nearly all of their anchors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate

from .forest import Aligner
from .genus import LIGHT
from .links import Links, overlap
from .tree import Tree

_SHARED = 4.0  # weight of shared anchors (0 to 1) against the log odds of the wrappers' own names
_HALF = 0.9  # two wrappers that share less than this of their anchors are no likelier partners than not
_NAMED = 0.5
_LEAST = 0.01  # two wrappers that hold the same are paired even when nothing in their names says so


@dataclass(frozen=True, slots=True)
class Cover:
    """For every node of one side: how many anchors count for it, and the lowest node above their images (-1: none).

    ``core`` tells which of the two ways of counting was used, so that only like is compared with like.
    """

    count: tuple[int, ...]
    core: tuple[bool, ...]
    top: tuple[int, ...]


def pair_parents(aligner: Aligner, links: Links, moved: Links) -> Links:
    """All links: the anchors of ``links``, all of ``moved``, and the inner nodes that follow from the anchors."""
    left, right = aligner.left.tree, aligner.right.tree
    leaves = _anchors(left, right, links)
    anchors = {a: b for a, b in leaves.items() if aligner.left.traits[a].genus not in LIGHT} or leaves
    back = {b: a for a, b in anchors.items()}
    inside_left, inside_right = _inside_items(left), _inside_items(right)
    ours = _cover(left, right, anchors, inside_left, inside_right)
    theirs = _cover(right, left, back, inside_right, inside_left)
    shared = overlap(left, right, _anchors(left, right, moved) | anchors)
    result = leaves | moved | _light(left, right, links, anchors)
    taken = set(result.values())
    seen: set[int] = set()
    for a in range(1, len(left)):
        if a in seen or a in result or not ours.count[a] or left.is_leaf(a):
            continue
        b = ours.top[a]
        alike = b > 0 and (theirs.count[b], theirs.core[b]) == (ours.count[a], ours.core[a])
        if not alike or not a <= theirs.top[b] < left.ends[a]:
            continue
        chain = _chain_down(left, ours, a, result)
        seen.update(chain)
        partners = [node for node in _chain_up(right, theirs, b) if node not in taken]
        for called in (True, False):
            here = [node for node in chain if left.called[node] == called]
            there = [node for node in partners if right.called[node] == called]
            for x, y in _in_order(
                here, there, lambda x, y: _SHARED * (shared(x, y) - _HALF) + _NAMED * aligner.own(x, y)
            ):
                result[x] = y
                taken.add(y)
    open_ = {a: b for a, b in links.items() if a not in result and b not in taken and shared(a, b) > _HALF}
    return result | {a: b for a, b in open_.items() if left.called[a] == right.called[b]}


def _anchors(left: Tree, right: Tree, links: Links) -> Links:
    """Links of leaves, and of inner nodes below which nothing else is linked."""
    before = _sums(len(left), links)
    return {
        a: b for a, b in links.items() if left.is_leaf(a) or right.is_leaf(b) or before[left.ends[a]] == before[a] + 1
    }


def _light(left: Tree, right: Tree, links: Links, anchors: Links) -> Links:
    """Links of inner nodes that hold no anchor on either side: nothing speaks against them."""
    ours, theirs = _sums(len(left), anchors), _sums(len(right), anchors.values())
    return {a: b for a, b in links.items() if ours[a] == ours[left.ends[a]] and theirs[b] == theirs[right.ends[b]]}


def _sums(size: int, marked: Iterable[int]) -> list[int]:
    """Running number of marked nodes before each node."""
    steps = [0] * (size + 1)
    for node in marked:
        steps[node + 1] = 1
    return list(accumulate(steps))


def _inside_items(tree: Tree) -> list[bool]:
    """Whether a node is a numbered block of a list, or below one."""
    inside = [False] * len(tree)
    for node in range(1, len(tree)):
        parent = tree.parents[node]
        item = tree.names[node].isdigit() and len(tree.children[parent]) > 1 and not tree.is_leaf(node) and parent > 0
        inside[node] = inside[parent] or item
    return inside


def _cover(tree: Tree, other: Tree, anchors: Links, inside: list[bool], inside_other: list[bool]) -> Cover:
    size = len(tree)
    counts, tops = [[0] * size, [0] * size], [[-1] * size, [-1] * size]
    for node, image in anchors.items():
        for core in range(1 + (inside[node] and inside_other[image])):
            counts[core][node], tops[core][node] = 1, image
    parents, above = tree.parents, other.parents
    for count, top in zip(counts, tops, strict=True):
        for node in range(size - 1, 0, -1):
            if count[node]:
                parent = parents[node]
                a, b = top[parent], top[node]
                if count[parent]:
                    while a != b:  # the lowest common ancestor
                        if a > b:
                            a = above[a]
                        else:
                            b = above[b]
                count[parent] += count[node]
                top[parent] = b
    use = [every and not within for every, within in zip(counts[1], inside, strict=True)]
    return Cover(
        count=tuple([core if used else every for used, every, core in zip(use, *counts, strict=True)]),
        core=tuple(map(bool, use)),
        top=tuple([core if used else every for used, every, core in zip(use, *tops, strict=True)]),
    )


def _chain_down(tree: Tree, cover: Cover, node: int, taken: Links) -> list[int]:
    """A node and the nodes below it that hold the same anchors, outermost first."""
    chain = [node]
    while True:
        same = [
            child
            for child in tree.children[node]
            if cover.count[child] == cover.count[node] and not tree.is_leaf(child) and child not in taken
        ]
        if not same:
            return chain
        node = same[0]
        chain.append(node)


def _chain_up(tree: Tree, cover: Cover, node: int) -> list[int]:
    """A node and the nodes above it that hold the same anchors, outermost first, the root left out."""
    chain = []
    here = (cover.count[node], cover.core[node])
    while node > 0 and (cover.count[node], cover.core[node]) == here:
        chain.append(node)
        node = tree.parents[node]
    return chain[::-1]


def _in_order(here: list[int], there: list[int], worth: Callable[[int, int], float]) -> list[tuple[int, int]]:
    """The order-preserving pairing of two chains of greatest worth; ties go to the outermost."""
    if not here or not there:
        return []
    if len(here) == len(there) == 1:
        return [(here[0], there[0])]
    values = [[max(worth(a, b), _LEAST) for b in there] for a in here]
    height, width = len(here), len(there)
    best = [[0.0] * (width + 1) for _ in range(height + 1)]
    for row in range(height - 1, -1, -1):
        for column in range(width - 1, -1, -1):
            paired = values[row][column] + best[row + 1][column + 1]
            best[row][column] = max(paired, best[row + 1][column], best[row][column + 1])
    found, row, column = [], 0, 0
    while row < height and column < width:
        if values[row][column] + best[row + 1][column + 1] >= best[row][column] - 1e-9:
            found.append((here[row], there[column]))
            row, column = row + 1, column + 1
        elif best[row + 1][column] >= best[row][column + 1]:
            row += 1
        else:
            column += 1
    return found
