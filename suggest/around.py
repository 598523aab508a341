"""An alignment around what is given: rules that a person has settled, and targets that are ruled out.

What the given rules decide is settled; where the matcher saw it otherwise it is told so and looks again
(`suggest.prior`). Its pairs that contradict the rules, or that are ruled out, fall. A module that loses its pair so
takes its runner-up, if that is free and allowed. A pair of its first look that the rules lead to stays, where the
second found nothing for either module.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from matcher import Alignment, Evidence, Pair, Tree

from .mapping import LayerMap
from .needs import below, joined
from .prior import Vocabulary, align_with
from .replay import IDENTITY, NOWHERE, Landing, land
from .scopes import Scopes
from .synthesise import synthesise

_SECOND = "second choice: the first is ruled out"
_HALF = 0.5  # confidence of a second choice: whoever ruled out the first knew why, the matcher did not

Targets = dict[tuple[str, str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Ground:
    """What is given: rules, where they send every node, and the targets that are ruled out by section and key."""

    here: Scopes
    there: Scopes
    given: LayerMap
    landing: Landing
    refused: Targets


def meant(here: Scopes, there: Scopes, given: LayerMap, wanted: dict[int, str | None]) -> Landing:
    """Where the given rules send modules once the rest of the mapping is there.

    Which rule decides a node does not depend on other sides' names, so the given rules alone tell it; what a target
    hangs below is where the first alignment puts the node at which the rule is consulted.
    """
    fired = land(here, there, given).rules
    drafted = land(here, there, synthesise(here, there, wanted).layer_map).scopes
    scopes, nodes = [""] * len(here), [0] * len(here)
    for node in range(1, len(here)):
        parent = here.parents[node]
        rest = below(drafted[parent], drafted[node])
        scopes[node] = drafted[node] if rest is None else joined(scopes[parent], rest)
        if fired[node] != IDENTITY:
            stop = node
            for _ in given.rules[fired[node]].key.split("."):
                stop = here.parents[stop]
            scopes[node] = joined(scopes[stop], given.rules[fired[node]].target)
        found = there.find(scopes[node])
        nodes[node] = NOWHERE if found is None else found
    return Landing(tuple(scopes), tuple(nodes), fired)


def aligned(npu: Tree, bench: Tree, ground: Ground, first: Alignment, vocabulary: Vocabulary | None) -> Alignment:
    """The alignment around what is given; the first one, where it agrees with that."""
    ids, bench_ids = npu.id_of(), bench.id_of()
    settled: dict[int, int] = {}
    alone: set[int] = set()
    for place, rule in enumerate(ground.landing.rules):
        node = ids.get(ground.here.path(place))
        if rule != IDENTITY and node is not None and npu.called[node]:
            reached = ground.landing.nodes[place]
            partner = bench_ids.get(ground.there.path(reached)) if reached != NOWHERE else None
            if partner is not None and bench.called[partner]:
                settled[node] = partner
            else:
                alone.add(node)
    partner_of = first.bench_of()
    agrees = all(partner_of.get(node) == partner for node, partner in settled.items())
    found = first if agrees else align_with(npu, bench, vocabulary, settled)
    taken = set(settled.values())
    free = _open(found.pairs, settled.keys() | alone, taken)
    placed = [pair for pair in first.pairs if _stands_there(pair, first, ground.here, ground.there, ground.landing)]
    free += _open(placed, settled.keys() | alone | {pair.npu for pair in free}, taken | {pair.bench for pair in free})
    partners = {pair.npu: pair.bench for pair in free} | settled
    banned = banned_scopes(ground, {ground.here.find(npu.paths[node]): bench.paths[b] for node, b in partners.items()})
    taken |= {pair.bench for pair in free}
    known = {(pair.npu, pair.bench): pair for pair in found.pairs}
    pairs = [_given(known.get((node, partner)), node, partner) for node, partner in settled.items()]
    for pair in free:
        chosen = _allowed(pair, banned.get(ground.here.find(npu.paths[pair.npu]) or 0, frozenset()), bench, taken)
        if chosen is not None:
            taken.add(chosen.bench)
            pairs.append(chosen)
    return replace(found, pairs=tuple(sorted(pairs, key=lambda pair: pair.npu)))


def _open(pairs: Iterable[Pair], held: AbstractSet[int], taken: AbstractSet[int]) -> list[Pair]:
    """The pairs whose two modules are still to be had."""
    return [pair for pair in pairs if pair.npu not in held and pair.bench not in taken]


def _stands_there(pair: Pair, first: Alignment, here: Scopes, there: Scopes, landing: Landing) -> bool:
    """Whether a pair of the first look is where the given rules let its module land: a second look, which knows more
    of what is around it, does not tear it apart for nothing.
    """
    place = here.find(first.npu.paths[pair.npu])
    return place is not None and landing.nodes[place] == there.find(first.bench.paths[pair.bench])


def _given(known: Pair | None, node: int, partner: int) -> Pair:
    """A pair that is certain because a person said so, with the matcher's evidence if it found it too."""
    if known is not None:
        return replace(known, confidence=1.0, note="")
    return Pair(npu=node, bench=partner, score=1.0, confidence=1.0, evidence=Evidence(name=1.0))


def banned_scopes(ground: Ground, image: Mapping[int | None, str]) -> dict[int, frozenset[str]]:
    """By NPU place, the bench scopes that are ruled out for it; ``image`` is where its modules go."""
    here = ground.here
    found: dict[int, set[str]] = defaultdict(set)
    for (section, key), targets in sorted(ground.refused.items()):
        for stop, kind in enumerate(here.types):
            place: int | None = stop if kind == section else None
            for step in key.split("."):
                place = here.children[place].get(step) if place is not None else None
            if place is not None:
                outer = image.get(stop, ground.landing.scopes[stop]) if stop else ""
                found[place] |= {joined(outer, target) for target in targets}
    return {place: frozenset(scopes) for place, scopes in found.items()}


def _allowed(pair: Pair, banned: frozenset[str], bench: Tree, taken: set[int]) -> Pair | None:
    """The pair, or its runner-up where it is ruled out; None where that is taken or ruled out too."""
    if bench.paths[pair.bench] not in banned:
        return pair
    second = pair.runner_up
    if second is None or second in taken or bench.paths[second] in banned:
        return None
    confidence = min(pair.confidence, _HALF)
    return replace(pair, bench=second, confidence=confidence, note=_SECOND, runner_up=None, group=(), split_side="")
