"""What was read from an input, for a person to look at or a program to use.

    TransformerBlock decoder
      ModuleList layers
        0-27: 28 x TransformerLayer
          ...

Equal neighbours with numbers for names are shown once, as ``print(model)`` does it. As JSON it is a ``layermap-tree``,
which is an input again; as paths it is one module a line, for grep and diff.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from matcher import Tree

from .errors import LayermapError
from .live import modules_of, tree_json
from .source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Which modules to show: down to a depth, of a class, with a path that a pattern is found in; all if None."""

    depth: int | None = None
    cls: str | None = None
    grep: str | None = None

    def chooses(self) -> bool:
        """Whether single modules are wanted, and not the tree around them."""
        return self.cls is not None or self.grep is not None


def show(source: Source, style: str, wish: Wish) -> str:
    """The modules of a source as ``text``, ``paths`` or ``json``; raises `LayermapError` for a bad pattern."""
    tree = source.tree
    nodes = list(_wanted(tree, wish))
    if style == "json":
        modules = list(modules_of(tree))
        framework = "mindspore" if any(entry.name.startswith("Cell.") for entry in source.entries) else "pytorch"
        return tree_json((modules[node] for node in nodes), framework)
    if style == "paths":
        lines: Iterable[str] = (_path_line(tree, node) for node in nodes if node)
    elif wish.chooses():
        lines = (f"{_line(tree, node, tree.paths[node] or '.')}" for node in nodes)
    else:
        lines = _folded(tree, wish.depth)
    return "".join(f"{line}\n" for line in lines)


def headline(source: Source) -> str:
    """One line about the whole input."""
    tree = source.tree
    weights = sum(bool(params) for params in tree.params)
    return f"{source.label}: {source.kind}, {tree.called_count()} modules, {weights} with known parameters"


def _wanted(tree: Tree, wish: Wish) -> Iterator[int]:
    try:
        pattern = re.compile(wish.grep or "")
    except re.error as error:
        raise LayermapError(f"--grep {wish.grep}", f"no regular expression: {error}", "put a \\ before signs") from None
    for node in range(len(tree)):
        deep = wish.depth is not None and tree.depths[node] > wish.depth
        other = wish.cls is not None and tree.classes[node] != wish.cls
        if not deep and not other and pattern.search(tree.paths[node]):
            yield node


def _path_line(tree: Tree, node: int) -> str:
    return "\t".join([tree.paths[node], tree.classes[node] or "-", shapes_at(tree, node)]).rstrip("\t")


def shapes_at(tree: Tree, node: int) -> str:
    """The own parameters of a module with their shapes, ``weight[8,4] bias[8]``."""
    return " ".join(f"{name}{list(shape)}".replace(" ", "") for name, shape in tree.params[node])


def _line(tree: Tree, node: int, name: str) -> str:
    parts = [name, tree.classes[node], shapes_at(tree, node)]
    if not tree.called[node] and node:
        parts.append("(never called)")
    return " ".join(part for part in parts if part)


def _folded(tree: Tree, depth: int | None) -> Iterator[str]:
    """The tree with runs of equal numbered siblings as one."""
    kinds = _kinds(tree)
    stack = [(0, tree.names[0] or ".")]
    while stack:
        node, name = stack.pop()
        yield "  " * tree.depths[node] + _line(tree, node, name)
        if depth is None or tree.depths[node] < depth:
            stack.extend(reversed(list(_runs(tree, tree.children[node], kinds))))


def _runs(tree: Tree, siblings: Iterable[int], kinds: list[int]) -> Iterator[tuple[int, str]]:
    """The first node of every run, and the name of the run."""
    run: list[int] = []
    for node in siblings:
        if run and not _continues(tree, run[-1], node, kinds):
            yield run[0], _name(tree, run)
            run = []
        run.append(node)
    if run:
        yield run[0], _name(tree, run)


def _continues(tree: Tree, node: int, following: int, kinds: list[int]) -> bool:
    names = tree.names[node], tree.names[following]
    return (
        all(name.isdigit() for name in names) and int(names[1]) == int(names[0]) + 1 and kinds[node] == kinds[following]
    )


def _name(tree: Tree, run: list[int]) -> str:
    first, last = tree.names[run[0]], tree.names[run[-1]]
    return first if len(run) == 1 else f"{first}-{last}: {len(run)} x"


def _kinds(tree: Tree) -> list[int]:
    """Equal numbers for equal subtrees, whatever the names of their roots."""
    known: dict[object, int] = {}
    kinds = [0] * len(tree)
    for node in range(len(tree) - 1, -1, -1):
        below = tuple((tree.names[child], kinds[child]) for child in tree.children[node])
        kinds[node] = known.setdefault((tree.classes[node], tree.called[node], tree.params[node], below), len(known))
    return kinds
