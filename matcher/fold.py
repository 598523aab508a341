"""Equal subtrees become one *kind*, so that a network costs by what is different in it, not by its depth.

61 layers of 256 experts hold some thirty different subtrees. Two nodes are of one kind when their names (numbers
aside), classes, traits, parameters and children (kind by kind, in order) are equal: a structure hash, made exact by
interning signatures bottom-up (hash consing). Limits: a layer that differs in one shape is another kind.
"""

from __future__ import annotations

from dataclasses import dataclass

from .traits import Trait
from .tree import Tree


@dataclass(frozen=True, slots=True)
class Folded:
    """``kind[node]`` for every node, and for every kind the first node that is of it, and its size in nodes."""

    tree: Tree
    traits: tuple[Trait, ...]
    kind: tuple[int, ...]
    first: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.first)


def fold(tree: Tree, traits: tuple[Trait, ...]) -> Folded:
    """Kinds in the order of their first node from the end of the tree; linear in nodes."""
    kinds: dict[object, int] = {}
    kind = [0] * len(tree)
    first: list[int] = []
    facts = list(zip(tree.names, tree.classes, tree.called, _numbers(traits), tree.params, tree.children, strict=True))
    names = tree.names
    for node in range(len(tree) - 1, -1, -1):
        name, cls, called, number, params, below = facts[node]
        signature: tuple[object, ...] = ("#" if name.isdigit() else name, cls, called, number, params)
        if below:
            signature += (*[kind[child] for child in below], *[names[child] for child in below])
        found = kinds.get(signature)
        if found is None:
            found = kinds[signature] = len(first)
            first.append(node)
        else:
            first[found] = node
        kind[node] = found
    return Folded(tree, traits, tuple(kind), tuple(first))


def _numbers(traits: tuple[Trait, ...]) -> list[int]:
    """Equal numbers for equal traits; what is one object, as nearly all are, is compared but once."""
    known: dict[Trait, int] = {}
    by_object = {id(trait): trait for trait in traits}
    number = {place: known.setdefault(trait, len(known)) for place, trait in by_object.items()}
    return [number[id(trait)] for trait in traits]
