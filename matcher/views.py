"""See a tree as the matcher wants it, and find back to the real nodes.

Two habits hide what a model is. A rank with virtual pipeline stages holds a list of *chunks*, each with its own
``decoder.layers`` that restarts at 0: they are laid over each other, what has the same path is the same module, and
numbered lists are appended. And some code bases number blocks in their names, ``encoder_layer_0 ... encoder_layer_11``,
without a list around them: such a *series* gets one. Limits: chunks are taken in list order, which is the order of
their layers within one rank; only blocks, never leaves, form a series.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .names import words
from .tree import Module, Tree

_NUMBERED = re.compile(r"(?P<stem>[A-Za-z_]\w*?)_?(?P<number>\d+)$")
_BLOCKS = frozenset({"layer", "block", "stage", "h", "resnet", "refinenet"})
_BACKWARDS = frozenset({"refinenet"})  # stems that number from the output to the input, unlike all others


@dataclass(frozen=True, slots=True)
class View:
    """A tree, and for each of its nodes the node of the real tree that it stands for, -1 if it stands for none."""

    tree: Tree
    real: tuple[int, ...]


def views_of(npu: Tree, bench: Tree) -> tuple[View, View]:
    """Both trees as they are held against each other: interleaved chunks only where one side alone has them."""
    views = plain_view(npu), plain_view(bench)
    if is_chunked(npu) != is_chunked(bench):
        return with_series(_unchunked(views[0])), with_series(_unchunked(views[1]))
    return with_series(views[0]), with_series(views[1])


def plain_view(tree: Tree) -> View:
    """The tree as it is."""
    return View(tree, tuple(range(len(tree))))


def is_chunked(tree: Tree) -> bool:
    """Whether the root is a list of models that repeat each other's paths."""
    tops = tree.children[0]
    if len(tops) < 2 or not all(tree.names[top].isdigit() and tree.children[top] for top in tops):
        return False
    inner = [{tree.paths[node][len(tree.paths[top]) :] for node in range(top + 1, tree.ends[top])} for top in tops]
    return all(len(inner[0] & other) * 2 > min(len(inner[0]), len(other)) for other in inner[1:])


def _unchunked(view: View) -> View:
    return without_chunks(view) if is_chunked(view.tree) else view


def without_chunks(view: View) -> View:
    """A list of chunks as one model."""
    tree = view.tree
    first = tree.names[tree.children[0][0]]
    filled: dict[str, int] = {}
    owner: dict[str, int] = {"": 0}
    stack = [(chunk, first) for chunk in reversed(tree.children[0])]
    while stack:
        node, path = stack.pop()
        owner.setdefault(path, node)
        below = []
        for child in tree.children[node]:
            name = tree.names[child]
            if name.isdigit():
                name = str(filled.setdefault(path, 0))
                filled[path] += 1
            below.append((child, f"{path}.{name}"))
        stack.extend(reversed(below))
    return _rebuilt(view, owner)


def with_series(view: View) -> View:
    """Blocks that are numbered in their names, put into a list each; the same view if there are none."""
    tree = view.tree
    series = _series(tree)
    if not series:
        return view
    place = [""] * len(tree)
    owner: dict[str, int] = {"": 0}
    for node in range(1, len(tree)):
        outer = place[tree.parents[node]]
        step = series.get(node, tree.names[node])
        place[node] = f"{outer}.{step}" if outer else step
        listed = place[node].rpartition(".")[0]
        if node in series and listed not in owner:
            owner[listed] = -1
            for step in _in_number_order(tree, series, tree.parents[node]):
                owner.setdefault(f"{outer}.{step}" if outer else step, -1)
        owner[place[node]] = node
    return _rebuilt(view, owner)


def _series(tree: Tree) -> dict[int, str]:
    """For every block of a series, its stem and number as two steps."""
    found: dict[int, str] = {}
    blocks = {name for name in set(tree.names) if (block := _NUMBERED.match(name)) and _is_block(block["stem"])}
    for below in tree.children if blocks else ():
        stems: dict[str, list[tuple[int, int]]] = {}
        for child in below:
            name = _NUMBERED.match(tree.names[child]) if tree.names[child] in blocks else None
            if name and tree.children[child]:
                stems.setdefault(name["stem"], []).append((int(name["number"]), child))
        names = {tree.names[child] for child in below}
        for stem, members in stems.items():
            if len(members) > 1 and stem not in names:
                last = max(members)[0] if stem in _BACKWARDS else 0
                found.update((child, f"{stem}.{abs(last - number)}") for number, child in members)
    return found


def _is_block(stem: str) -> bool:
    return not _BLOCKS.isdisjoint(words(stem)[-1:])


def _in_number_order(tree: Tree, series: dict[int, str], parent: int) -> list[str]:
    """The new steps of a node's children that are in a series."""
    steps = (series[child].rpartition(".") for child in tree.children[parent] if child in series)
    return [f"{stem}.{number}" for stem, number in sorted((stem, int(number)) for stem, _, number in steps)]


def _rebuilt(view: View, owner: dict[str, int]) -> View:
    """The tree whose paths are owned by these nodes of the viewed tree; -1 owns a list that is not really there."""
    tree = view.tree
    whole = Tree.build(
        tree.module(node, path) if node >= 0 else Module(path, "", False) for path, node in owner.items()
    )
    return View(whole, tuple(view.real[owner[path]] if owner[path] >= 0 else -1 for path in whole.paths))
