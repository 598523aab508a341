"""Draft around a mapping that people have worked on: its rules are given, what they ruled out stays out.

1. The given rules are replayed within a first draft. What they decide is settled, and where the matcher saw it
   otherwise it is told so and looks again (`suggest.prior`).
2. The matcher aligns the rest; its pairs that contradict the given rules, or that a comment ``# layermap: no`` rules
   out, fall. A module that loses its pair so takes its runner-up, if that is free and allowed.
3. Rules are drafted for all of it. Of these, the ones that are still needed beside the given rules are added to the
   file, marked ``new``; every other line of the file stays as it is.

A given rule that sends modules nowhere keeps them there. Two given rules that want one bench module for two NPU
modules, or that stand at one key, are an error that names both lines.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from matcher import Alignment

from .apis import count_apis, is_api
from .around import Ground, aligned, banned_scopes, meant
from .document import RULE, Document, Line, ruled_out
from .draft import Draft, all_wishes, annotated, draft_of, is_hit, wishes
from .given import check_keys, check_places, refused
from .mapping import LayerMap, Rule
from .needs import NO_COUNTERPART, Wanted, joined, nowhere
from .prior import Vocabulary, align_with
from .read_document import load_document
from .replay import IDENTITY, land
from .review import refreshed
from .scopes import TOP_LAYER, Scopes
from .source import Source
from .synthesise import Synthesis, synthesise, wrong_nodes

_MOST_TRIALS = 3_000_000  # nodes times added rules up to which every added rule is tried for removal


@dataclass(frozen=True, slots=True)
class Kept:
    """A draft around given rules: the file with what is new in it, and the draft's figures for the summary."""

    draft: Draft
    text: str
    added: int


def draft_around(
    npu: Source, bench: Source, text: str, name: str, vocabulary: Vocabulary | None = None, level: str = ""
) -> Kept:
    """Draft what a mapping file leaves open; ``level`` as for `suggest.draft.draft_of`.

    Raises `MappingError` for a file that msprobe would not take, and for given rules that contradict each other.
    """
    check_keys(text, name)
    document = load_document(text, name)
    here, there = Scopes.build(npu.entries), Scopes.build(bench.entries)
    banned = refused(document)
    given = LayerMap(
        tuple(rule for rule in document.layer_map().rules if not document.lines[rule.line or 0].is_ruled_out())
    )
    first = align_with(npu.tree, bench.tree, vocabulary, {})
    landing = meant(here, there, given, wishes(first, here))
    check_places(here, there, given, landing, document, name)
    ground = Ground(here, there, given, landing, banned)
    alignment = aligned(npu.tree, bench.tree, ground, first, vocabulary)
    found = draft_of(alignment, npu, bench, level)
    modules = wishes(alignment, here)
    wanted = all_wishes(modules, (npu, here), (bench, there), level)
    refused_apis = _refused_apis(ground, wanted)
    wanted |= refused_apis
    drafted = synthesise(here, there, wanted).layer_map if refused_apis else found.layer_map
    added = _needed(here, there, wanted, given, drafted)
    document, whole = _written(here, there, wanted, document, _marked(here, there, given, added, alignment))
    landing = land(here, there, whole)
    found = replace(
        found,
        layer_map=whole,
        apis=count_apis(here, there, landing),
        matched=sum(is_hit(here, there, node, landing.nodes) for node in modules),
        faults=tuple(here.path(node) for node in wrong_nodes(here, there, wanted, landing)),
    )
    return Kept(found, refreshed(npu, bench, alignment, document, name), len(added))


def _refused_apis(ground: Ground, wanted: Wanted) -> dict[int, None]:
    """APIs whose counterpart, wished for or met by their own name, is ruled out: they get none."""
    here = ground.here
    places: dict[int | None, str] = {place: scope for place, scope in wanted.items() if scope is not None}
    found: dict[int, None] = {}
    for place, scopes in banned_scopes(ground, places).items():
        above = places.get(here.parents[place], ground.landing.scopes[here.parents[place]])
        if is_api(here, place) and places.get(place, joined(above, here.names[place])) in scopes:
            found[place] = None
    return found


def _needed(
    here: Scopes, there: Scopes, wanted: dict[int, str | None], given: LayerMap, drafted: LayerMap
) -> dict[tuple[str, str], str]:
    """Of the drafted rules, those that the given ones leave work to, by section and key; exact ones where none does."""
    taken = {(rule.section, rule.key) for rule in given.rules}

    def wrong(added: dict[tuple[str, str], str]) -> list[int]:
        return wrong_nodes(here, there, wanted, land(here, there, _with(given, added)))

    if not wrong({}):
        return {}
    added = {(r.section, r.key): r.target for r in drafted.rules if (r.section, r.key) not in taken}
    while True:
        missing = {}
        for node in wrong(added):
            scope, key = wanted[node], (TOP_LAYER, here.path(node))
            target = scope if scope is not None else nowhere(there, here.names[node])
            if key not in taken and added.get(key) != target:
                missing[key] = target
                break  # what is below it may be right now
        if not missing:
            break
        added |= missing
    left = len(wrong(added))
    if len(here) * len(added) <= _MOST_TRIALS:
        for key in sorted(added, key=lambda key: (-key[1].count("."), key)):
            fewer = {other: target for other, target in added.items() if other != key}
            if len(wrong(fewer)) <= left:
                added = fewer
    return added


def _with(given: LayerMap, added: dict[tuple[str, str], str]) -> LayerMap:
    return LayerMap((*given.rules, *(Rule(section=s, key=k, target=t) for (s, k), t in added.items())))


def _marked(
    here: Scopes, there: Scopes, given: LayerMap, added: dict[tuple[str, str], str], alignment: Alignment
) -> LayerMap:
    """The added rules with their confidence and doubts."""
    whole = _with(given, added)
    landing = land(here, there, whole)
    decides: list[list[int]] = [[] for _ in whole.rules]
    for node, rule in enumerate(landing.rules):
        if rule != IDENTITY:
            decides[rule].append(node)
    start = len(given.rules)
    blocked = [
        replace(rule, note="blocked: no counterpart" if NO_COUNTERPART in rule.target else "") for rule in whole.rules
    ]
    synthesis = Synthesis(LayerMap(tuple(blocked[start:])), tuple(map(tuple, decides[start:])))
    places = {path: node for node, path in enumerate(alignment.npu.paths)}
    return annotated(synthesis, here, places, alignment)


def _written(
    here: Scopes, there: Scopes, wanted: dict[int, str | None], document: Document, added: LayerMap
) -> tuple[Document, LayerMap]:
    """The file with the added rules, and with those that are ruled out taken out of use."""
    new: dict[tuple[str, str], Rule] = {}
    for rule in added.rules:
        at = document.at(rule.section, rule.key)
        out = ruled_out(_names(document.lines[at])) if at >= 0 else []
        sure = [] if rule.confidence is None else [f"{rule.confidence:.2f}"]
        said = " ".join([*sure, "new", *([rule.note] if rule.note else [])])
        document = document.with_rule(rule.section, rule.key, rule.target, [said, *out])
        new[rule.section, rule.key] = rule
    for line in [line for line in document.lines if line.kind == RULE and line.is_ruled_out()]:
        if (line.section, line.key) not in new:
            document = _out_of_use(here, there, wanted, document, line)
    whole = [replace(rule, line=None) for rule in document.layer_map().rules]
    return document, LayerMap(tuple(new.get((rule.section, rule.key), rule) for rule in whole))


def _names(line: Line) -> list[str]:
    return list(dict.fromkeys(line.forbidden()))


def _out_of_use(here: Scopes, there: Scopes, wanted: dict[int, str | None], document: Document, line: Line) -> Document:
    """A rule that is ruled out and needs no other: sent nowhere, or left out where that would do harm."""
    target = nowhere(there, line.key.rpartition(".")[2])
    blocked = document.with_rule(line.section, line.key, target, ruled_out(_names(line)))
    fewer = document.without(line.section, line.key)
    wrong = [len(wrong_nodes(here, there, wanted, land(here, there, d.layer_map()))) for d in (blocked, fewer)]
    return blocked if wrong[0] <= wrong[1] else fewer
