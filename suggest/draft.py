"""From two inputs to a proven draft: align, synthesise, replay, and count what the replay gives.

Nothing here is taken on trust. The counts are those of the replayed rules, node by node, and a rule set whose replay
differs from the alignment is reported as the fault that it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from matcher import Alignment, Pair, Tree, align

from .apis import Apis, Side, api_wishes, count_apis, has_apis, is_api, misled
from .collapse import collapsed, topmost
from .drift import Drift, drift
from .errors import LayermapError
from .group_lines import group_lines
from .mapping import LayerMap, Rule
from .replay import NOWHERE
from .scopes import Scopes
from .source import Source, is_api_name
from .synthesise import Synthesis, synthesised, wrong_nodes

REVIEW_BELOW = 0.8  # rules that are less sure than this ask for a look; one in five of them may be wrong
_FORWARD = "forward"
_GRADIENT = "parameters_grad"
FOR_GRADIENTS = "for parameters_grad, where msprobe doubles the module's name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A mapping with its reasons.

    ``matched`` counts called NPU modules that the replay matches, of ``npu_modules``; the two lists name what has no
    counterpart, collapsed; ``groups`` the fused modules that no rule can express; ``faults`` NPU paths where the replay
    differs from the alignment, which no input should ever cause; ``drift`` where the results of the two runs differ.
    """

    npu: Source
    bench: Source
    alignment: Alignment
    layer_map: LayerMap
    matched: int
    npu_modules: int
    bench_modules: int
    npu_only: tuple[str, ...]
    npu_only_count: int
    bench_only: tuple[str, ...]
    bench_only_count: int
    groups: tuple[str, ...]
    faults: tuple[str, ...]
    drift: Drift
    apis: Apis

    def to_review(self) -> tuple[Rule, ...]:
        """Doubtful rules, the most doubtful first."""
        doubtful = [rule for rule in self.layer_map.rules if rule.note.startswith("review")]
        return tuple(sorted(doubtful, key=lambda rule: 1.0 if rule.confidence is None else rule.confidence))

    def speaks_for_all(self) -> bool:
        """Whether the draft is one of what was left out too (`suggest.thin`): no rule tells equal layers apart."""
        moved = self.npu.repeats.moved() | self.bench.repeats.moved()
        texts = (text for rule in self.layer_map.rules for text in (rule.section, rule.key, rule.target))
        return not moved or not (self.faults or any(moved.intersection(text.split(".")) for text in texts))


def draft(npu: Source, bench: Source, level: str = "") -> Draft:
    """The draft mapping of two inputs; ``level`` as for `draft_of`."""
    return draft_of(align(npu.tree, bench.tree), npu, bench, level)


def draft_of(
    alignment: Alignment, npu: Source, bench: Source, level: str = "", apis: Mapping[int, str] | None = None
) -> Draft:
    """The draft mapping that gives an alignment of two inputs.

    ``level`` is ``module`` for rules for modules only, ``mix`` for rules for APIs too, "" for what the inputs hold.
    ``apis`` are the bench scopes of the NPU side's APIs where they are known, None to find them.
    Raises `LayermapError` for ``mix`` where an input holds no APIs.
    """
    here, there = Scopes.build(npu.entries), Scopes.build(bench.entries)
    places = npu.tree.id_of()
    modules = wishes(alignment, here)
    wanted = all_wishes(modules, (npu, here), (bench, there), level, apis)
    synthesis, landing = synthesised(here, there, wanted)
    paths = here.paths()
    hit = {paths[node]: landing.scopes[node] for node in modules if is_hit(here, there, node, landing.nodes)}
    hit_bench = set(hit.values())
    npu_only = [path for path in _called(alignment.npu) if path not in hit]
    bench_only = [path for path in _called(alignment.bench) if path not in hit_bench]
    return Draft(
        npu=npu,
        bench=bench,
        alignment=alignment,
        layer_map=annotated(synthesis, here, places, alignment),
        matched=npu.repeats.count(hit),
        npu_modules=npu.repeats.count(_called(alignment.npu)),
        bench_modules=bench.repeats.count(_called(alignment.bench)),
        npu_only=tuple(collapsed(topmost(npu_only, hit), npu.repeats)),
        npu_only_count=npu.repeats.count(npu_only),
        bench_only=tuple(collapsed(topmost(bench_only, hit_bench), bench.repeats)),
        bench_only_count=bench.repeats.count(bench_only),
        groups=group_lines(alignment, npu, bench),
        faults=tuple(paths[node] for node in wrong_nodes(here, there, wanted, landing)),
        drift=drift(npu, bench, hit),
        apis=count_apis(here, there, landing),
    )


def all_wishes(
    modules: Mapping[int, str | None],
    npu: tuple[Source, Scopes],
    bench: tuple[Source, Scopes],
    level: str = "",
    apis: Mapping[int, str] | None = None,
) -> dict[int, str | None]:
    """The wishes of modules, with those of their gradients and, at the level ``mix``, of their APIs; ``level`` and
    ``apis`` as for `draft_of`.
    """
    here, there = npu[1], bench[1]
    for source, scopes in (npu, bench):
        if level == "mix" and not has_apis(scopes):
            raise LayermapError(source.label, "holds no APIs", "dump it with level mix, or ask for --level module")
    found = dict(modules)
    if level != "module" and has_apis(here) and has_apis(there):
        found |= api_wishes(Side.of(*npu), Side.of(*bench), modules) if apis is None else apis
    return {**found, **gradient_wishes(here, there, modules), **misled(here, there, found)}


def wishes(alignment: Alignment, scopes: Scopes) -> dict[int, str | None]:
    """Where every called NPU module has to land: its counterpart's scope, or None for nowhere."""
    wanted: dict[int, str | None] = {}
    partner = alignment.bench_of()
    for node, place in called_places(alignment.npu, scopes):
        bench = partner.get(node)
        meets = bench is not None and alignment.bench.called[bench]
        wanted[place] = alignment.bench.paths[bench] if bench is not None and meets else None
    return wanted


def called_places(tree: Tree, scopes: Scopes) -> Iterator[tuple[int, int]]:
    """(tree node, trie node) of every called module that was recorded."""
    known = {path: place for place, path in enumerate(scopes.paths())}
    for node, called in enumerate(tree.called):
        place = known.get(tree.paths[node]) if called else None
        if place is not None:
            yield node, place


def gradient_wishes(here: Scopes, there: Scopes, wanted: Mapping[int, str | None]) -> dict[int, str | None]:
    """Where ``parameters_grad.N`` entries have to land, whose scope msprobe gives the module's name twice."""
    found: dict[int, str | None] = {}
    for node, scope in wanted.items():
        inner = here.children[node].get(here.names[node])
        if inner is None or scope is None or inner in wanted:
            continue
        partner = there.find(scope)
        if partner is None:
            continue
        other = there.children[partner].get(there.names[partner])
        if other is not None and {*here.entries[inner]} == {*there.entries[other]} == {_GRADIENT}:
            found[inner] = there.path(other)
    return found


def is_hit(here: Scopes, there: Scopes, node: int, nodes: tuple[int, ...]) -> bool:
    """Whether msprobe would match the first forward call of a module with one of a module; k-th entries meet k-th ones,
    those of an API that has the module's name included.
    """
    ours = here.entries[node].get(_FORWARD, ())
    call = next((call for call, name in enumerate(ours) if not is_api_name(name)), -1)
    if nodes[node] == NOWHERE or call < 0:
        return False
    theirs = there.entries[nodes[node]].get(_FORWARD, ())
    return call < len(theirs) and not is_api_name(theirs[call])


def _called(tree: Tree) -> Iterable[str]:
    return (path for path, called in zip(tree.paths, tree.called, strict=True) if called)


def annotated(synthesis: Synthesis, scopes: Scopes, places: Mapping[str, int], alignment: Alignment) -> LayerMap:
    """The rules with the confidence and the doubts of the pairs that they decide."""
    pairs = {pair.npu: pair for pair in alignment.pairs}
    below = _confidence_below(alignment, pairs)
    paths = scopes.paths()
    rules = []
    for rule, nodes in zip(synthesis.layer_map.rules, synthesis.decides, strict=True):
        ids = [places[path] for node in nodes if (path := paths[node]) in places]
        decided = [pairs[node] for node in ids if node in pairs]
        sure = [pair.confidence for pair in decided] or [value for node in ids if (value := below[node]) is not None]
        confidence = min(sure, default=None)
        gradients = nodes and all({*scopes.entries[node]} == {_GRADIENT} for node in nodes)
        note = FOR_GRADIENTS if gradients else _note(rule, confidence, decided, alignment)
        if nodes and all(is_api(scopes, node) for node in nodes):
            note = "API"
        rules.append(replace(rule, confidence=confidence, note=note))
    return LayerMap(tuple(rules))


def _confidence_below(alignment: Alignment, pairs: Mapping[int, Pair]) -> list[float | None]:
    """For every NPU node, the mean confidence of the pairs below it: what a container's place rests on."""
    tree = alignment.npu
    total, count = [0.0] * len(tree), [0] * len(tree)
    for node in range(len(tree) - 1, 0, -1):
        if node in pairs:
            total[node] += pairs[node].confidence
            count[node] += 1
        total[tree.parents[node]] += total[node]
        count[tree.parents[node]] += count[node]
    return [value / number if number else None for value, number in zip(total, count, strict=True)]


def _note(rule: Rule, confidence: float | None, decided: list[Pair], alignment: Alignment) -> str:
    """The rule's own note, fused groups, guesses and, if the rule is doubtful, what else it could be."""
    said = [rule.note] if rule.note else []
    fused = next((pair for pair in decided if pair.group), None)
    if fused is not None:
        tree = alignment.bench if fused.split_side == "bench" else alignment.npu
        said.append("fused, covers " + " + ".join(tree.names[node] for node in fused.group))
    guess = next((pair.note for pair in decided if pair.note), "")
    if guess:
        said.append(guess)
    doubtful = confidence is not None and confidence < REVIEW_BELOW
    if doubtful and not guess and decided:
        rival = min(decided, key=lambda pair: pair.confidence)
        if rival.runner_up is not None:
            said.append(f"or {alignment.bench.names[rival.runner_up]}")
    text = ", ".join(said)
    return f"review: {text}" if (doubtful or fused is not None or guess) and text else "review" if doubtful else text
