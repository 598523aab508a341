"""The smallest readable rule set whose replay is exactly the alignment.

A rule ``section: {key: target}`` serves every place where the walk stands at a node of that type, so the work is to
find keys that are right everywhere they apply.

*Cost.* Fewest rules first; then the shortest keys, which puts a rule under the class where an expert would write it;
then model order.

*Method.* Every node gets a place to land (`suggest.needs`). A node that follows its parent by name needs no rule.
For any other, each ancestor whose place is a prefix of its own could hold the rule; the nearest has the shortest key.
All places to which a key applies are compared: the target that serves them at least cost stays, the others are *lifted*
to the next ancestor, whose key is longer and wins. Blocking rules keep one-sided nodes away from bench nodes that
merely have the same name. What is still wrong after replay gets a rule from TopLayer, which is always exact; what
replay shows to be superfluous is removed. So the result is exact by construction, and minimal by search: the exact
minimum is an integer program, which `benchmarks/minimum.py` solves to compare. A large trie is first shrunk to what is
different in it (`suggest.shrink`), so that the work grows with the number of kinds; only the replay sees every node.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .choose import Chosen, choose
from .mapping import LayerMap, Rule
from .needs import NO_COUNTERPART, Needs, Wanted, joined, needs_of, nowhere, taken
from .replay import IDENTITY, Landing, land, lands_at
from .scopes import TOP_LAYER, Scopes
from .shrink import shrunk

BLOCKED = "blocked: no counterpart"
KEPT = "kept: another rule would move it"
_LARGE = 1_000  # nodes from which on the rules are sought in a small trie first
_MOST_TRIALS = 3_000_000  # nodes times rules up to which every rule is tried for removal by replay


@dataclass(frozen=True, slots=True)
class Synthesis:
    """Rules in model order, and for each the NPU trie nodes that land where it sends them."""

    layer_map: LayerMap
    decides: tuple[tuple[int, ...], ...]


def synthesise(npu: Scopes, bench: Scopes, wanted: Wanted) -> Synthesis:
    """Rules under which every wanted node lands on its bench scope, or on no bench entry if that is None.

    ``wanted`` maps NPU trie nodes to bench scopes; nodes that are not in it may land anywhere. Any one-to-one wish can
    be fulfilled, so the result is always exact.
    """
    return synthesised(npu, bench, wanted)[0]


def synthesised(npu: Scopes, bench: Scopes, wanted: Wanted) -> tuple[Synthesis, Landing]:
    """What `synthesise` gives, and the replay of it that was made anyway."""
    if len(npu) > _LARGE:
        small, asked = shrunk(npu, wanted)
        rules = _rules(small, bench, asked)
        landing = land(npu, bench, _map(rules))
        if not wrong_nodes(npu, bench, wanted, landing):
            return _in_model_order(npu, rules, landing)
    rules = _rules(npu, bench, wanted)
    return _in_model_order(npu, rules, land(npu, bench, _map(rules)))


def _rules(npu: Scopes, bench: Scopes, wanted: Wanted) -> Chosen:
    needs = needs_of(npu, bench, wanted)
    rules = choose(npu, bench, needs)
    rules = _blocked(npu, bench, needs, wanted, rules)
    rules = _repaired(npu, bench, wanted, rules)
    return _reduced(npu, bench, wanted, rules)


def _map(rules: Chosen) -> LayerMap:
    return LayerMap(tuple(Rule(section=s, key=k, target=t) for (s, k), t in rules.items()))


def wrong_nodes(npu: Scopes, bench: Scopes, wanted: Wanted, landing: Landing) -> list[int]:
    """Wanted nodes that do not land where they should, parents first."""
    return [
        node
        for node, scope in sorted(wanted.items())
        if (landing.scopes[node] != scope if scope is not None else taken(npu, bench, node, landing.scopes[node]))
    ]


def _blocked(npu: Scopes, bench: Scopes, needs: Needs, wanted: Wanted, rules: Chosen) -> Chosen:
    """Rules added that send one-sided nodes nowhere; topmost first, since what is below them goes with them."""
    for _ in range(len(needs.alone)):
        landing = land(npu, bench, _map(rules))
        wrong = [node for node in wrong_nodes(npu, bench, wanted, landing) if node in needs.alone]
        if not wrong:
            break
        node = wrong[0]
        anchors = list(_anchors(npu, node))
        section, key = next(
            ((section, key) for section, key, _ in anchors if _may_block(npu, needs, rules, section, key)),
            anchors[-1][:2],
        )
        rules = rules | {(section, key): nowhere(bench, npu.names[node])}
    return rules


def _anchors(npu: Scopes, node: int) -> Iterable[tuple[str, str, int]]:
    """(section, key, ancestor) of every rule that could move a node, shortest key first."""
    key, at = npu.names[node], npu.parents[node]
    while at >= 0:
        section = npu.types[at]
        if section is not None:
            yield section, key, at
        key = joined(npu.names[at], key)
        at = npu.parents[at]


def _may_block(npu: Scopes, needs: Needs, rules: Chosen, section: str, key: str) -> bool:
    """Whether every place to which the key applies may go nowhere, with everything below it."""
    if (section, key) in rules:
        return False
    for stop in range(len(npu)):
        if npu.types[stop] == section:
            node: int | None = stop
            for step in key.split("."):
                node = npu.children[node].get(step) if node is not None else None
            if node is not None and needs.definite[node]:
                return False
    return True


def _repaired(npu: Scopes, bench: Scopes, wanted: Wanted, rules: Chosen) -> Chosen:
    """The topmost nodes that are still wrong get rules of their own from TopLayer, which nothing can override."""
    while True:
        landing = land(npu, bench, _map(rules))
        wrong = wrong_nodes(npu, bench, wanted, landing)
        if not wrong:
            return rules
        broken = set(wrong)
        added = {}
        for node in wrong:
            scope = wanted[node]
            key = (TOP_LAYER, npu.path(node))
            if npu.parents[node] not in broken:
                added[key] = scope if scope is not None else nowhere(bench, npu.names[node])
        rules = rules | added


def _reduced(npu: Scopes, bench: Scopes, wanted: Wanted, rules: Chosen) -> Chosen:
    """Rules that never fire dropped, then every rule without which all wanted nodes still land right."""
    landing = land(npu, bench, _map(rules))
    moved = {rule: node for node, rule in enumerate(landing.rules) if node in wanted and wanted[node] is not None}
    needing = {key: moved.get(index) for index, key in enumerate(rules)}
    fired = set(landing.rules)
    rules = {key: target for index, (key, target) in enumerate(rules.items()) if index in fired}
    if len(npu) * len(rules) > _MOST_TRIALS:
        return rules
    for key in sorted(rules, key=lambda key: (-key[1].count("."), key)):
        fewer = {other: target for other, target in rules.items() if other != key}
        node = needing[key]
        if node is not None and lands_at(npu, _map(fewer), node) != wanted[node]:
            continue  # one node that would go astray settles it, and is soon found
        if not wrong_nodes(npu, bench, wanted, land(npu, bench, _map(fewer))):
            rules = fewer
    return rules


def _in_model_order(npu: Scopes, rules: Chosen, landing: Landing) -> tuple[Synthesis, Landing]:
    """Sections by the first node at which they are consulted, rules by the first node that they decide."""
    keys = list(rules)
    decided: dict[tuple[str, str], list[int]] = {key: [] for key in keys}
    for node, rule in enumerate(landing.rules):
        if rule != IDENTITY:
            decided[keys[rule]].append(node)
    first_of_section: dict[str, int] = {}
    for (section, _), nodes in decided.items():
        first_of_section[section] = min(first_of_section.get(section, len(npu)), nodes[0] if nodes else len(npu))
    ordered = sorted(
        keys,
        key=lambda key: (key[0] != TOP_LAYER, first_of_section[key[0]], key[0], decided[key][:1], key[1]),
    )
    ordered = [key for section in dict.fromkeys(key[0] for key in ordered) for key in ordered if key[0] == section]
    noted = [Rule(section=s, key=k, target=rules[s, k], note=_note(k, rules[s, k])) for s, k in ordered]
    place = {key: index for index, key in enumerate(ordered)}
    new = [place[key] for key in keys]
    moved = tuple([new[rule] if rule != IDENTITY else IDENTITY for rule in landing.rules])
    return (
        Synthesis(LayerMap(tuple(noted)), tuple(tuple(decided[key]) for key in ordered)),
        Landing(landing.scopes, landing.nodes, moved),
    )


def _note(key: str, target: str) -> str:
    if NO_COUNTERPART in target:
        return BLOCKED
    return KEPT if key == target else ""
