"""What is known of every module before the two sides meet: its genus, its roles and its main shape.

All of it is a guess that scoring weighs, never a filter; "" and () mean that nothing is known, which is what
meaningless names lead to.
"""

from __future__ import annotations

from dataclasses import dataclass

from .genus import LIGHT, genus_of, is_solid, main_shape
from .names import plain, words
from .roles import GROUPED, Roles, roles_of
from .tree import Tree

_FEW = 8  # a list with more items than this is a stack of blocks, not the halves of an MLP


@dataclass(frozen=True, slots=True)
class Trait:
    """Genus (`matcher.genus`), weighted roles (`matcher.roles`), and the largest parameter's shape without ones.

    ``shape`` is () if unknown or a scalar; ``solid`` says that the module computes something itself.
    """

    genus: str
    roles: Roles
    shape: tuple[int, ...]
    solid: bool


def traits_of(tree: Tree) -> tuple[Trait, ...]:
    """The trait of every node, by id.

    What stands below a node has the traits of what stands below an equal one, if the same steps lead to the two; so a
    layer that repeats an earlier one is copied from it.
    """
    build = _builds(tree)
    around, genera = _names_below(tree, build), _genera(tree, build)
    cache: dict[object, Trait] = {}
    found: list[Trait] = []
    steps_of: dict[int, tuple[str, ...]] = {-1: ()}
    known: dict[tuple[tuple[str, ...], str], tuple[str, ...]] = {}
    earlier: dict[tuple[int, tuple[str, ...]], int] = {}
    node, count = 0, len(tree)
    while node < count:
        name, parent = tree.names[node], tree.parents[node]
        above = steps_of[parent]
        steps = above if name.isdigit() or not node else known.get((above, name))
        if steps is None:
            steps = known[above, name] = (*above[-2:], plain(name))
        siblings = around[parent] if node else frozenset[str]()
        rank = _rank(tree, genera, node) if name.isdigit() else (0, 0)
        solid = is_solid(tree, genera, node)
        grouped = _holds_all_experts(tree, node)
        key = (steps, genera[node], siblings, tree.params[node], rank, solid, grouped)
        trait = cache.get(key)
        if trait is None:
            roles = roles_of(steps, genera[node], siblings, rank)
            roles = tuple((f"{role}{GROUPED}", weight) for role, weight in roles) if grouped else roles
            trait = cache[key] = Trait(genera[node], roles, main_shape(tree.params[node]), solid)
        found.append(trait)
        size = tree.ends[node] - node
        node += 1
        if size > 1:
            first = earlier.setdefault((build[node - 1], steps), node)
            if first < node:
                found += found[first : first + size - 1]
                node += size - 1
            else:
                steps_of[node - 1] = steps
    return tuple(found)


def _builds(tree: Tree) -> list[int]:
    """Equal numbers for nodes whose subtrees are equal; numbers in the names of the nodes themselves do not count."""
    known: dict[object, int] = {}
    build = [0] * len(tree)
    for node in range(len(tree) - 1, -1, -1):
        name = tree.names[node]
        signature: tuple[object, ...] = ("#" if name.isdigit() else name, tree.classes[node], tree.params[node])
        if below := tree.children[node]:
            signature += (*[build[child] for child in below], *[tree.names[child] for child in below])
        build[node] = known.setdefault(signature, len(known))
    return build


def _holds_all_experts(tree: Tree, node: int) -> bool:
    """Whether a module stands directly in the experts of a layer, rather than in one of them."""
    outer = words(tree.names[tree.parents[node]]) if node else ()
    return "experts" in outer and "shared" not in outer and not tree.names[node].isdigit() and not tree.children[node]


def _genera(tree: Tree, build: list[int]) -> list[str]:
    """The genus of every node; a module that only holds bare parameters and activations is read as a leaf."""
    known: dict[int, str] = {}
    genera = [""] * len(tree)
    for node in range(len(tree) - 1, -1, -1):
        genus = known.get(build[node])
        if genus is None:
            simple = all(genera[child] in LIGHT or genera[child] == "parameter" for child in tree.children[node])
            genus = known[build[node]] = genus_of(tree.classes[node], tree.names[node], tree.params[node], leaf=simple)
        genera[node] = genus
    return genera


def _names_below(tree: Tree, build: list[int]) -> list[frozenset[str]]:
    """The plain names of every node's children; equal sets are one object, so that comparing them is cheap."""
    known: dict[int, frozenset[str]] = {}
    for node, below in enumerate(tree.children):
        if build[node] not in known:
            known[build[node]] = frozenset([plain(tree.names[child]) for child in below])
    return [known[number] for number in build]


def _rank(tree: Tree, genera: list[str], node: int) -> tuple[int, int]:
    """Position among, and number of, the linear siblings: all that tells ``mlp.0`` from ``mlp.2``."""
    siblings = tree.children[tree.parents[node]]
    if len(siblings) > _FEW or genera[node] not in ("linear", "matrix"):
        return (0, 0)
    linears = [child for child in siblings if genera[child] in ("linear", "matrix")]
    return linears.index(node) + 1, len(linears)
