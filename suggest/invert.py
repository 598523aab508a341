"""The same correspondence the other way round: a reviewed mapping inverted, and an alignment transposed.

A mapping is one-way: its rules are keyed by classes of the NPU side and only say where NPU modules land. The other
direction needs other rules for the same pairs, so they are synthesised anew, from the pairs that the replay of the
mapping gives. Where several NPU modules land on one bench module, msprobe draws the link back to the deepest of them,
and so does the inversion. APIs and gradients are inverted like modules, as far as the mapping matches them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from matcher import Alignment, Group

from .apis import is_api, misled
from .draft import Draft, called_places, draft_of, is_hit
from .mapping import LayerMap
from .needs import Wanted
from .replay import land
from .scopes import Scopes
from .source import Source
from .synthesise import Synthesis, synthesise, wrong_nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Inversion:
    """The rules from bench to NPU; how many pairs they keep, and the bench modules that had several NPU modules."""

    layer_map: LayerMap
    pairs: int
    contested: tuple[str, ...]


def invert(mapping: LayerMap, npu: Source, bench: Source) -> Inversion:
    """The mapping from bench to NPU that gives the pairs which ``mapping`` gives from NPU to bench."""
    here, there = Scopes.build(npu.entries), Scopes.build(bench.entries)
    landing = land(here, there, mapping)
    partners: dict[int, list[int]] = {}
    for _, node in called_places(npu.tree, here):
        if is_hit(here, there, node, landing.nodes):
            partners.setdefault(landing.nodes[node], []).append(node)
    wanted: dict[int, str | None] = {
        node: here.path(_deepest(here, partners[node])) if node in partners else None
        for _, node in called_places(bench.tree, there)
    }
    others = _followers(here, there, landing.nodes, wanted)
    whole = {**others, **wanted}
    found = _proven(there, here, {**whole, **misled(there, here, whole)})
    return Inversion(
        layer_map=found.layer_map,
        pairs=sum(scope is not None for scope in wanted.values()),
        contested=tuple(there.path(node) for node, several in sorted(partners.items()) if len(several) > 1),
    )


def reversed_draft(found: Draft, level: str = "") -> Draft:
    """The draft from bench to NPU of the pairs that a draft has from NPU to bench, those of APIs included."""
    here, there = Scopes.build(found.npu.entries), Scopes.build(found.bench.entries)
    landing = land(here, there, found.layer_map)
    apis: dict[int, str] = {}
    for node, place in enumerate(landing.nodes):
        if place > 0 and is_api(here, node) and is_api(there, place):
            apis[place] = here.path(node)
    return draft_of(transposed(found.alignment), found.bench, found.npu, level, apis)


def _followers(here: Scopes, there: Scopes, nodes: tuple[int, ...], modules: Wanted) -> dict[int, str | None]:
    """What stands at places that are no modules, APIs and doubled gradients, and is matched, by bench node."""
    partners: dict[int, list[int]] = {}
    for node, place in enumerate(nodes):
        if place > 0 and place not in modules and {*here.entries[node]} & {*there.entries[place]}:
            partners.setdefault(place, []).append(node)
    return {place: here.path(_deepest(here, several)) for place, several in partners.items()}


def _deepest(scopes: Scopes, nodes: list[int]) -> int:
    return max(nodes, key=lambda node: (scopes.path(node).count("."), node))


def _proven(npu: Scopes, bench: Scopes, wanted: Wanted) -> Synthesis:
    found = synthesise(npu, bench, wanted)
    wrong = wrong_nodes(npu, bench, wanted, land(npu, bench, found.layer_map))
    assert not wrong, f"the inverted rules are wrong at {npu.path(wrong[0])}"  # noqa: S101  synthesis is exact
    return found


def transposed(alignment: Alignment) -> Alignment:
    """The same pairs with the sides exchanged; runners-up are lost, since they were sought on one side only."""
    turned = {"npu": "bench", "bench": "npu", "": ""}
    pairs = [
        replace(
            pair,
            npu=pair.bench,
            bench=pair.npu,
            runner_up=None,
            runner_up_score=0.0,
            split_side=turned[pair.split_side],
        )
        for pair in alignment.pairs
    ]
    return Alignment(
        npu=alignment.bench,
        bench=alignment.npu,
        pairs=tuple(sorted(pairs, key=lambda pair: pair.npu)),
        groups=tuple(Group(npu=group.bench, bench=group.npu) for group in alignment.groups),
    )
