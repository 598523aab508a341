"""A model as a tree of named modules, in preorder arrays.

Every reader produces a `Tree`, and everything after it works on integer ids: id 0 is the model itself (the object that
is handed to the dump tool, path ""), and the ids of a subtree are the contiguous range ``range(i, ends[i])``. Arrays
instead of linked objects keep a tree of 100,000 modules small and make "all descendants of" a slice.

A node that msprobe can record is *called*; a ModuleList, or a path step of which nothing is known, is not, and only
lends its name to the paths below it. Limits: a module that is registered under two names is two nodes here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .numbers import Numbers

Shape = tuple[int, ...]
Params = tuple[tuple[str, Shape], ...]


@dataclass(frozen=True, slots=True)
class Module:
    """One module as a reader found it; the raw material of a `Tree`.

    ``path`` is the dotted path without the model's own name ("" is the model itself). ``cls`` is the class name, ""
    where the input does not tell it. ``params`` are the module's own parameters with their shapes, where known;
    ``output`` and ``weight`` the statistics of its first result and of its largest parameter, from a run; ``calls`` is
    how often it ran, 1 where that is not known.
    """

    path: str
    cls: str = ""
    called: bool = True
    params: Params = ()
    output: Numbers | None = None
    weight: Numbers | None = None
    calls: int = 1


@dataclass(frozen=True, slots=True)
class Tree:
    """Modules in preorder; all tuples have one element per node, and node 0 is the root."""

    names: tuple[str, ...]
    paths: tuple[str, ...]
    classes: tuple[str, ...]
    parents: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    ends: tuple[int, ...]
    depths: tuple[int, ...]
    called: tuple[bool, ...]
    params: tuple[Params, ...]
    outputs: tuple[Numbers | None, ...]
    weights: tuple[Numbers | None, ...]
    calls: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.names)

    def id_of(self) -> dict[str, int]:
        """A new dictionary from path to node id."""
        return {path: node for node, path in enumerate(self.paths)}

    def is_leaf(self, node: int) -> bool:
        return not self.children[node]

    def module(self, node: int, path: str | None = None) -> Module:
        """The module at a node, under another path if one is given."""
        return Module(
            self.paths[node] if path is None else path,
            self.classes[node],
            self.called[node],
            self.params[node],
            self.outputs[node],
            self.weights[node],
            self.calls[node],
        )

    def called_count(self) -> int:
        """How many nodes msprobe can record."""
        return sum(self.called)

    @staticmethod
    def build(modules: Iterable[Module]) -> Tree:
        """The tree of these modules, siblings in the order in which they, or anything below them, first appear.

        Steps of a path that no module stands for become uncalled nodes without a class. Of two modules with one path
        the later wins, as it does in msprobe's own trie.
        """
        names, paths = [""], [""]
        order: list[list[int]] = [[]]
        facts: list[Module | None] = [None]
        place = {"": 0}
        for module in modules:
            path = module.path
            if path in place:
                facts[place[path]] = module
                continue
            new = []
            outer, _, name = path.rpartition(".")
            while outer not in place:
                new.append(outer)
                outer = outer.rpartition(".")[0]
            above = place[outer]
            for step in reversed(new):
                order[above].append(len(names))
                above = place[step] = len(names)
                names.append(step.rpartition(".")[2])
                paths.append(step)
                order.append([])
                facts.append(None)
            order[above].append(len(names))
            place[path] = len(names)
            names.append(name)
            paths.append(path)
            order.append([])
            facts.append(module)
        return _in_preorder(names, paths, order, facts)


def _in_preorder(names: list[str], paths: list[str], order: list[list[int]], facts: list[Module | None]) -> Tree:
    count = len(names)
    new_id, stack = [0] * count, [0]
    sequence: list[int] = []
    while stack:
        node = stack.pop()
        new_id[node] = len(sequence)
        sequence.append(node)
        if order[node]:
            stack.extend(reversed(order[node]))
    parents, depths, ends = [-1] * count, [0] * count, list(range(1, count + 1))
    children: list[tuple[int, ...]] = [()] * count
    for here, node in enumerate(sequence):
        if order[node]:
            children[here] = below = tuple([new_id[child] for child in order[node]])
            depth = depths[here] + 1
            for child in below:
                parents[child] = here
                depths[child] = depth
    for here in range(count - 1, -1, -1):
        if children[here]:
            ends[here] = ends[children[here][-1]]
    known = [facts[node] for node in sequence]
    return Tree(
        names=tuple([names[node] for node in sequence]),
        paths=tuple([paths[node] for node in sequence]),
        classes=tuple([module.cls if module else "" for module in known]),
        parents=tuple(parents),
        children=tuple(children),
        ends=tuple(ends),
        depths=tuple(depths),
        called=(False, *[module is not None and module.called for module in known[1:]]),
        params=tuple([module.params if module else () for module in known]),
        outputs=tuple([module.output if module else None for module in known]),
        weights=tuple([module.weight if module else None for module in known]),
        calls=tuple([module.calls if module else 1 for module in known]),
    )
