"""Name the modules that one side has fused: ``linear_qkv`` against three projections, ``linear_fc1`` against two.

A mapping has one target for one module. For a fused gate and up projection msprobe's own templates choose the up
projection, which is what the scores of `matcher.lexicon.KIN` do; for a fused query, key and value they choose none.
Either way the whole group is listed, so that the reviewer knows what the fused module stands for. Experts that one
side computes in one grouped linear and the other one by one get no partner either: no expert is more equal than others.
"""

from __future__ import annotations

from functools import cache

from .alignment import Group
from .fold import Folded
from .forest import Aligner
from .links import Links
from .names import words
from .roles import GROUPED, Roles

FUSED: dict[str, tuple[tuple[str, ...], ...]] = {
    "attn.qkv": (("attn.q", "attn.k", "attn.v"), ("attn.q_down", "attn.kv_down"), ("attn.q", "attn.kv")),
    "attn.kv": (("attn.k", "attn.v"),),
    "mlp.fc1": (("mlp.gate", "mlp.up"),),
}
Fused = tuple[tuple[int, ...], str]  # the members of a group on the side that is split, and that side
_BLOCK = 64  # the parts of a fused module stand in the same block; larger subtrees are not searched


def fused_groups(aligner: Aligner, links: Links) -> tuple[Group, ...]:
    """All groups, by the first NPU node; a member of a group is unmatched or matched with the fused module itself."""
    back = {b: a for a, b in links.items()}
    groups = [Group(npu=(a,), bench=parts) for a, parts in _fused(aligner.left, aligner.right, links, back)]
    groups += [Group(npu=parts, bench=(b,)) for b, parts in _fused(aligner.right, aligner.left, back, links)]
    groups += [Group(npu=(a,), bench=parts) for a, parts in _grouped_experts(aligner.left, aligner.right, links, back)]
    groups += [Group(npu=parts, bench=(b,)) for b, parts in _grouped_experts(aligner.right, aligner.left, back, links)]
    return tuple(sorted(groups, key=lambda group: (group.npu, group.bench)))


def settled(links: Links, groups: tuple[Group, ...]) -> tuple[dict[int, Fused], tuple[Group, ...]]:
    """Groups of which one member got the match, by the left node of that pair; and the others."""
    found: dict[int, Fused] = {}
    rest = []
    for group in groups:
        a = next((a for a in group.npu if links.get(a, -1) in group.bench), None)
        if a is None:
            rest.append(group)
        elif len(group.bench) > 1:
            found[a] = group.bench, "bench"
        else:
            found[a] = group.npu, "npu"
    return found, tuple(rest)


def _grouped_experts(side: Folded, other: Folded, links: Links, back: Links) -> list[tuple[int, tuple[int, ...]]]:
    """(module of all experts, the same module of every single expert on the other side) where one side groups them."""
    found = []
    grouped: dict[int, bool] = {}
    for node in range(1, len(side.tree)):
        trait = id(side.traits[node])
        if trait not in grouped:
            grouped[trait] = side.traits[node].solid and _is_grouped(side, node)
        if not grouped[trait] or node in links:
            continue
        home = _matched_above(side, side.tree.parents[node], links)
        parts = _single_experts(other, links.get(home, 0), _grouped_roles(side, node))
        if parts and not any(part in back for part in parts):
            found.append((node, parts))
    return found


def _is_grouped(side: Folded, node: int) -> bool:
    """Whether a module computes all experts of a layer at once."""
    return any(role.endswith(GROUPED) for role, _ in side.traits[node].roles)


def _grouped_roles(side: Folded, node: int) -> frozenset[str]:
    roles = set(_roles(side, node))
    return frozenset(roles.union(*(part for role in roles for part in FUSED.get(role, ()))))


def _single_experts(other: Folded, place: int, roles: frozenset[str]) -> tuple[int, ...]:
    """The modules of these roles below the numbered experts of one matched block."""
    tree = other.tree
    return tuple(
        node
        for expert in range(place + 1, tree.ends[place] if place else 0)
        if tree.names[expert].isdigit() and "experts" in words(tree.names[tree.parents[expert]])
        for node in tree.children[expert]
        if roles & set(_roles(other, node))
    )


def _matched_above(side: Folded, node: int, links: Links) -> int:
    while node > 0 and node not in links:
        node = side.tree.parents[node]
    return node


def _fused(side: Folded, other: Folded, links: Links, back: Links) -> list[tuple[int, tuple[int, ...]]]:
    """(fused node, its parts on the other side) for every fused node of one side."""
    found = []
    fusible: dict[int, tuple[str, ...]] = {}
    for node in range(1, len(side.tree)):
        trait = id(side.traits[node])
        roles = fusible.get(trait)
        if roles is None:
            roles = _roles(side, node) if not _is_grouped(side, node) else ()
            roles = fusible[trait] = tuple(role for role in roles if role in FUSED)
        for role in roles:
            parts = _parts(side, other, links, back, node, role)
            if parts:
                found.append((node, parts))
                break
    return found


def _parts(side: Folded, other: Folded, links: Links, back: Links, node: int, role: str) -> tuple[int, ...]:
    place = links.get(_matched_above(side, side.tree.parents[node], links), 0)
    if other.tree.ends[place] - place > _BLOCK:
        return ()
    inside = [
        (inner, _roles(other, inner))
        for inner in range(place + 1, other.tree.ends[place])
        if back.get(inner, node) == node
    ]
    for parts in FUSED[role]:
        members = [next((inner for inner, roles in inside if part in roles), -1) for part in parts]
        if min(members) >= 0:
            return tuple(sorted(members))
    return ()


def _roles(side: Folded, node: int) -> tuple[str, ...]:
    return _certain(side.traits[node].roles)


@cache
def _certain(roles: Roles) -> tuple[str, ...]:
    return tuple(role.removesuffix(GROUPED) for role, weight in roles if weight == 1.0)
