"""What is known before the matcher looks: pairs of names that earlier mappings teach, and pairs that are settled.

The matcher takes names as evidence, so what is known is told to it in its own language: a module is shown to it under
its counterpart's name. That is evidence and no order: where shapes, order and surroundings speak against it, the
matcher still decides otherwise. Places and ids stay as they are, so its answer is valid for the real tree. A name that
a sibling bears already is not given twice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from matcher import Alignment, Tree, align

from .mapping import LayerMap
from .replay import NOWHERE, land
from .scopes import Scopes
from .source import Source


@dataclass(frozen=True, slots=True)
class Lesson:
    """A mapping that was right, with its two sides."""

    layer_map: LayerMap
    npu: Source
    bench: Source


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Bench names by NPU name and class, and by name alone where all classes agree."""

    by_class: Mapping[tuple[str, str], str]
    by_name: Mapping[str, str]

    def translate(self, name: str, cls: str) -> str:
        """The bench name of a module; its own if nothing was learned."""
        return self.by_class.get((name, cls), self.by_name.get(name, name))


def learn(lessons: Sequence[Lesson]) -> Vocabulary:
    """The names that the lessons pair, by majority; a tie goes to the first in the alphabet."""
    votes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for lesson in lessons:
        here, there = Scopes.build(lesson.npu.entries), Scopes.build(lesson.bench.entries)
        landing = land(here, there, lesson.layer_map)
        kinds: set[tuple[str, str, str]] = set()
        for node, place in enumerate(landing.nodes):
            name = here.names[node]
            if node and place != NOWHERE and here.entries[node] and there.entries[place] and not name.isdigit():
                kinds.add((name, here.types[node] or "", there.names[place]))
        for name, cls, target in kinds:
            votes[name, cls][target] += 1
    best = {key: min(names, key=lambda name: (-names[name], name)) for key, names in votes.items()}
    by_name: dict[str, set[str]] = defaultdict(set)
    for (name, _), target in best.items():
        by_name[name].add(target)
    return Vocabulary(best, {name: min(targets) for name, targets in by_name.items() if len(targets) == 1})


def align_with(npu: Tree, bench: Tree, vocabulary: Vocabulary | None, settled: Mapping[int, int]) -> Alignment:
    """The alignment of two trees by a matcher that knows a vocabulary and some pairs of nodes."""
    names, classes = list(npu.names), list(npu.classes)
    offered = set(bench.names)
    for node in range(1, len(npu)):
        wish = (
            names[node]
            if names[node].isdigit() or vocabulary is None
            else vocabulary.translate(names[node], npu.classes[node])
        )
        partner = settled.get(node)
        if partner is not None:
            classes[node] = bench.classes[partner] or classes[node]
            wish = names[node] if bench.names[partner].isdigit() else bench.names[partner]
        siblings = npu.children[npu.parents[node]]
        if wish in offered and not npu.names[node].isdigit() and all(names[other] != wish for other in siblings):
            names[node] = wish
    paths = [""] * len(npu)
    for node in range(1, len(npu)):
        outer = paths[npu.parents[node]]
        paths[node] = f"{outer}.{names[node]}" if outer else names[node]
    told = replace(npu, names=tuple(names), classes=tuple(classes), paths=tuple(paths))
    return replace(align(told, bench), npu=npu)
