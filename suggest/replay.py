"""Apply a mapping exactly as msprobe does: where every NPU scope lands on the bench side.

``convert_scope`` of mindstudio-probe 26.2.0 walks from TopLayer to an entry. At the node where it stands it looks into
the section named like that node's type, takes the longest key that begins the rest of the path (else the next step
itself), appends the target and jumps over the key; once, greedily, without going back. The entry is matched if the
scope it ends at exists on the bench side with as many entries of the same state before it.

Where a node lands does not depend on what is below it, so one pass over the trie answers for all entries: every rule of
a node's section is tried once below that node, and a subtree that a longer key claims is left out of the shorter one's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .mapping import LayerMap
from .scopes import Scopes

NOWHERE = -1
IDENTITY = -1


@dataclass(frozen=True, slots=True)
class Landing:
    """By NPU trie node: the bench scope it lands at, that scope's bench node or `NOWHERE`, and the rule (its index in
    the map, or `IDENTITY`) that took the last step.
    """

    scopes: tuple[str, ...]
    nodes: tuple[int, ...]
    rules: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Key:
    steps: tuple[str, ...]
    target: tuple[str, ...]
    rule: int


_NO_KEYS: dict[str, list[_Key]] = {}
_NOBODY: dict[str, int] = {}


def land(npu: Scopes, bench: Scopes, layer_map: LayerMap) -> Landing:
    """Where every node of the NPU trie lands; linear in nodes for any number of rules per section."""
    sections = _compiled(layer_map)
    reaching = {
        section
        for section, keys in sections.items()
        if any(len(key.steps) + len(key.target) > 2 for several in keys.values() for key in several)
    }
    scopes, nodes, rules = [""] * len(npu), [NOWHERE] * len(npu), [IDENTITY] * len(npu)
    nodes[0] = 0
    stack: list[tuple[int, frozenset[int]]] = [(0, frozenset())]
    while stack:
        stop, claimed = stack.pop()
        kind, below = npu.types[stop], npu.children[stop]
        section = sections.get(kind, _NO_KEYS) if kind is not None else _NO_KEYS
        if not claimed and kind not in reaching:
            scope, there = scopes[stop], bench.children[nodes[stop]] if nodes[stop] != NOWHERE else _NOBODY
            for name, node in below.items():
                target = name
                if name in section:
                    key = section[name][0]
                    target, rules[node] = key.target[0], key.rule
                scopes[node] = f"{scope}.{target}" if stop else target
                nodes[node] = there.get(target, NOWHERE)
                if npu.children[node]:
                    stack.append((node, claimed))
            continue
        reached = _reached(npu, stop, section, claimed)
        ends = claimed.union(reached) if len(reached) > len(below) or claimed else claimed
        claims = _claims(npu, stop, reached, ends)
        for node, key in reached.items():
            scopes[node] = ".".join((scopes[stop], *key.target)) if stop else ".".join(key.target)
            nodes[node] = _descend(bench, nodes[stop], key.target)
            rules[node] = key.rule
            stack.append((node, frozenset(claims.get(node, ()))))
    return Landing(tuple(scopes), tuple(nodes), tuple(rules))


def lands_at(npu: Scopes, layer_map: LayerMap, node: int) -> str:
    """The bench scope of one node alone; as long as the way to it, however large the trie."""
    sections = _compiled(layer_map)
    way = [node]
    while way[-1]:
        way.append(npu.parents[way[-1]])
    way.reverse()
    names = tuple([npu.names[stop] for stop in way[1:]])
    scope: list[str] = []
    at = 0
    while at < len(names):
        kind = npu.types[way[at]]
        keys = sections.get(kind, {}).get(names[at], ()) if kind is not None else ()
        fitting = [key for key in keys if names[at : at + len(key.steps)] == key.steps]
        key = max(fitting, key=lambda key: len(key.steps), default=None)
        scope += key.target if key is not None else (names[at],)
        at += len(key.steps) if key is not None else 1
    return ".".join(scope)


def _compiled(layer_map: LayerMap) -> dict[str, dict[str, list[_Key]]]:
    """Section, then first step, then keys."""
    latest = {(rule.section, rule.key): index for index, rule in enumerate(layer_map.rules)}
    sections: dict[str, dict[str, list[_Key]]] = {}
    for (section, key), index in latest.items():
        steps = tuple(key.split("."))
        target = tuple(layer_map.rules[index].target.split("."))
        sections.setdefault(section, {}).setdefault(steps[0], []).append(_Key(steps, target, index))
    return sections


def _reached(npu: Scopes, stop: int, section: dict[str, list[_Key]], claimed: frozenset[int]) -> dict[int, _Key]:
    """The nodes that one step from a stop can reach, each with the key that does it; claimed subtrees are others'."""
    found: dict[int, _Key] = {}
    for name, child in npu.children[stop].items():
        if child in claimed:
            continue
        keys = section.get(name, ())
        if not any(len(key.steps) == 1 for key in keys):
            found[child] = _Key((name,), (name,), IDENTITY)
        for key in keys:
            node = _below(npu, child, key.steps[1:], claimed)
            if node is not None:
                found[node] = key
    return found


def _claims(npu: Scopes, stop: int, reached: Iterable[int], ends: Iterable[int]) -> dict[int, list[int]]:
    """For every node that was reached, the ends of other steps that stand below it."""
    known = set(reached)
    found: dict[int, list[int]] = {}
    for end in ends:
        above = npu.parents[end]
        while above != stop:
            if above in known:
                found.setdefault(above, []).append(end)
            above = npu.parents[above]
    return found


def _below(npu: Scopes, node: int, steps: Iterable[str], claimed: frozenset[int]) -> int | None:
    for step in steps:
        below = npu.children[node].get(step)
        if below is None or below in claimed:
            return None
        node = below
    return node


def _descend(bench: Scopes, node: int, steps: Iterable[str]) -> int:
    for step in steps:
        if node == NOWHERE:
            return NOWHERE
        node = bench.children[node].get(step, NOWHERE)
    return node


def replay(npu: Scopes, bench: Scopes, layer_map: LayerMap) -> dict[str, str | None]:
    """The bench entry of every NPU entry by name, None for what msprobe calls ``N/A``."""
    landing = land(npu, bench, layer_map)
    result: dict[str, str | None] = {}
    for node, by_state in enumerate(npu.entries):
        there = bench.entries[landing.nodes[node]] if landing.nodes[node] != NOWHERE else {}
        for state, names in by_state.items():
            partners = there.get(state, [])
            for index, name in enumerate(names):
                result[name] = partners[index] if index < len(partners) else None
    return result
