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
    """The trait of every node, by id; equal neighbourhoods are looked at once."""
    around = _names_below(tree)
    genera = _genera(tree)
    cache: dict[object, Trait] = {}
    found: list[Trait] = []
    steps_of = _steps(tree)
    for node, steps in enumerate(steps_of):
        siblings = around[tree.parents[node]] if node else frozenset[str]()
        rank = _rank(tree, genera, node) if tree.names[node].isdigit() else (0, 0)
        solid = is_solid(tree, genera, node)
        grouped = _holds_all_experts(tree, node)
        key = (steps, genera[node], siblings, tree.params[node], rank, solid, grouped)
        trait = cache.get(key)
        if trait is None:
            roles = roles_of(steps, genera[node], siblings, rank)
            roles = tuple((f"{role}{GROUPED}", weight) for role, weight in roles) if grouped else roles
            trait = cache[key] = Trait(genera[node], roles, main_shape(tree.params[node]), solid)
        found.append(trait)
    return tuple(found)


def _holds_all_experts(tree: Tree, node: int) -> bool:
    """Whether a module stands directly in the experts of a layer, rather than in one of them."""
    outer = words(tree.names[tree.parents[node]]) if node else ()
    return "experts" in outer and "shared" not in outer and not tree.names[node].isdigit() and not tree.children[node]


def _genera(tree: Tree) -> list[str]:
    """The genus of every node; a module that only holds bare parameters and activations is read as a leaf."""
    genera = [""] * len(tree)
    for node in range(len(tree) - 1, -1, -1):
        simple = all(genera[child] in LIGHT or genera[child] == "parameter" for child in tree.children[node])
        genera[node] = genus_of(tree.classes[node], tree.names[node], tree.params[node], leaf=simple)
    return genera


def _names_below(tree: Tree) -> list[frozenset[str]]:
    """The plain names of every node's children; equal sets are one object, so that comparing them is cheap."""
    known: dict[tuple[str, ...], frozenset[str]] = {}
    found = []
    for below in tree.children:
        names = tuple(tree.names[child] for child in below)
        if names not in known:
            known[names] = frozenset(map(plain, names))
        found.append(known[names])
    return found


def _steps(tree: Tree) -> list[tuple[str, ...]]:
    """Every node's own name and up to two named ancestors', outermost first, numbers skipped."""
    steps: list[tuple[str, ...]] = [()]
    known: dict[tuple[tuple[str, ...], str], tuple[str, ...]] = {}
    for node in range(1, len(tree)):
        name, above = tree.names[node], steps[tree.parents[node]]
        if name.isdigit():
            steps.append(above)
            continue
        own = known.get((above, name))
        if own is None:
            own = known[above, name] = (*above[-2:], plain(name))
        steps.append(own)
    return steps


def _rank(tree: Tree, genera: list[str], node: int) -> tuple[int, int]:
    """Position among, and number of, the linear siblings: all that tells ``mlp.0`` from ``mlp.2``."""
    siblings = tree.children[tree.parents[node]]
    if len(siblings) > _FEW or genera[node] not in ("linear", "matrix"):
        return (0, 0)
    linears = [child for child in siblings if genera[child] in ("linear", "matrix")]
    return linears.index(node) + 1, len(linears)
