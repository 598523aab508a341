"""Interleaved pipeline chunks, seen as the one model that they are.

With virtual pipeline stages a rank holds a list of models, each with its own ``decoder.layers`` that restarts at 0, and
only the last has the head. To compare such a list with one whole model, the chunks are laid over each other: what has
the same path is the same module, and numbered lists are appended. Limits: chunks are taken in list order, which is the
order of their layers within one rank.
"""

from __future__ import annotations

from .tree import Module, Tree


def is_chunked(tree: Tree) -> bool:
    """Whether the root is a list of models that repeat each other's paths."""
    tops = tree.children[0]
    if len(tops) < 2 or not all(tree.names[top].isdigit() for top in tops):
        return False
    inner = [{tree.paths[n][len(tree.paths[top]) :] for n in range(top, tree.ends[top])} for top in tops]
    return all(len(inner[0] & other) * 2 > min(len(inner[0]), len(other)) for other in inner[1:])


def merged(tree: Tree) -> tuple[Tree, tuple[int, ...]]:
    """The chunks as one model, and for each of its nodes the node of ``tree`` that it stands for."""
    top = tree.names[tree.children[0][0]]
    place: dict[int, str] = {}
    owner: dict[str, int] = {"": 0}
    filled: dict[str, int] = {}
    modules: list[Module] = []
    stack = [(chunk, top) for chunk in reversed(tree.children[0])]
    while stack:
        node, path = stack.pop()
        if path not in owner:
            owner[path] = node
            modules.append(Module(path, tree.classes[node], tree.called[node], tree.params[node]))
        place[node] = path
        below = []
        for child in tree.children[node]:
            name = tree.names[child]
            if name.isdigit():
                name = str(filled.setdefault(path, 0))
                filled[path] += 1
            below.append((child, f"{path}.{name}"))
        stack.extend(reversed(below))
    whole = Tree.build(modules)
    return whole, tuple(owner[path] for path in whole.paths)
