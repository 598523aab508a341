"""What the review page is given, small enough for networks of a hundred thousand modules.

A side is sent folded: equal subtrees are one *kind*, which lists its children by name and kind, so that 61 layers of
256 experts are some thirty kinds; the page gives every place its number again, in preorder. What differs from place to
place (the pairs) is sent as lists of numbers, each as its distance from the one before. Statistics are sent until they
fill their share of the page: the first instance of every kind comes first, then the rarest kinds.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from matcher import Pair, Tree

from .draft import REVIEW_BELOW
from .mapping import quoted
from .measured import Measured
from .review import Review
from .scopes import Scopes

_MOST_FIGURES = 850_000  # bytes of statistics per side: with them, a page stays below three megabytes
_FRAME = 20  # bytes of a place's number, brackets and commas
_NONE = -1
_GRADIENT = "parameters_grad"


def page_data(review: Review, npu: Mapping[str, Measured], bench: Mapping[str, Measured]) -> dict[str, Any]:
    """Everything the page shows and works with, as JSON-like data; the statistics are by scope."""
    tree_npu, tree_bench = review.alignment.npu, review.alignment.bench
    left, right = _Side(review.here, tree_npu), _Side(review.there, tree_bench)
    states = sorted(
        {state for scopes in (review.here, review.there) for entries in scopes.entries for state in entries},
        key=lambda state: (state != "forward", state),
    ) or ["forward"]
    sides = (
        {"label": review.npu.label, "modules": tree_npu.called_count(), **left.folded(states), **left.figures(npu)},
        {"label": review.bench.label, "modules": tree_bench.called_count(), **right.folded(states)}
        | right.figures(bench),
    )
    lines = [
        [line.kind, line.head, line.value, line.tail, line.section, line.key, line.target]
        for line in review.document.lines
    ]
    return {
        "npu": sides[0],
        "bench": sides[1],
        "name": review.name,
        "header": review.header,
        "eol": review.document.eol,
        "lines": lines,
        "reviewBelow": REVIEW_BELOW,
        "chars": _chars(review),
        **_pairs(review, left, right),
    }


class _Side:
    """One side's scopes with the numbers that the page gives them, and the tree's node at each."""

    def __init__(self, scopes: Scopes, tree: Tree) -> None:
        self.scopes, self.tree = scopes, tree
        self.number = [0] * len(scopes)
        self.node = [_NONE] * len(scopes)
        self.place: dict[int, int] = {}
        stack, count = [0], 0
        while stack:
            place = stack.pop()
            self.number[place] = count
            count += 1
            stack.extend(reversed(scopes.children[place].values()))
        for node, path in enumerate(tree.paths):
            found = scopes.find(path)
            if found is not None and node:
                self.node[found] = node
                self.place[node] = found

    def folded(self, states: list[str]) -> dict[str, Any]:
        """The kinds, children's before their parents', and the root's: ``[type, calls by state, called, class, params,
        names, kinds]``; a type of 0 is the place's own name. And which of the states is that of gradients.
        """
        scopes, tree = self.scopes, self.tree
        known: dict[object, int] = {}
        kinds: list[list[Any]] = []
        kind_of = [0] * len(scopes)
        for place in range(len(scopes) - 1, -1, -1):
            node = self.node[place]
            kind = scopes.types[place]
            own = 0 if kind == scopes.names[place] else kind
            calls = tuple(len(scopes.entries[place].get(state, ())) for state in states)
            called = node >= 0 and tree.called[node]
            cls = tree.classes[node] if node >= 0 else ""
            params = tree.params[node] if node >= 0 else ()
            names, below = tuple(scopes.children[place]), tuple(kind_of[c] for c in scopes.children[place].values())
            key = (own, calls, called, cls, params, names, below)
            if key not in known:
                known[key] = len(kinds)
                shown = [f"{name} [{', '.join(map(str, shape))}]" for name, shape in params]
                kinds.append([own, calls, int(called), cls, shown, names, below])
            kind_of[place] = known[key]
        self.kind_of = kind_of
        gradient = states.index(_GRADIENT) if _GRADIENT in states else _NONE
        return {"kinds": kinds, "root": kind_of[0], "gradient": gradient}

    def figures(self, measured: Mapping[str, Measured]) -> dict[str, Any]:
        """Statistics of inputs, outputs and parameters by the page's number; as many as fit, and whether some do not.

        A network has few layers and many experts: where the rarest kinds come first, no layer is left out for them.
        """
        places = [place for place in range(1, len(self.scopes)) if self.scopes.path(place) in measured]
        places.sort(key=self.number.__getitem__)
        often = Counter(self.kind_of[place] for place in places)
        seen: Counter[int] = Counter()
        order: dict[int, tuple[int, int]] = {}
        for place in places:
            kind = self.kind_of[place]
            order[place] = (min(seen[kind], 1) * often[kind], self.number[place])
            seen[kind] += 1
        found: dict[int, list[list[str]]] = {}
        size = 0
        for place in sorted(places, key=order.__getitem__):
            what = measured[self.scopes.path(place)]
            shown = [[tensor.text() for tensor in tensors] for tensors in (what.inputs, what.outputs)]
            shown.append([f"{name} {tensor.text()}" for name, tensor in what.parameters])
            size += sum(len(json.dumps(text)) + 1 for texts in shown for text in texts) + _FRAME
            if size > _MOST_FIGURES:
                break
            found[self.number[place]] = shown
        return {"figures": found, "figuresCut": len(found) < len(places)}


def _pairs(review: Review, left: _Side, right: _Side) -> dict[str, Any]:
    """By NPU place in the page's order: the matcher's counterpart, the runner-up, and which evidence; -1 for none."""
    count = len(review.here)
    chosen, second, why = [_NONE] * count, [_NONE] * count, [_NONE] * count
    outputs, weights = [_NONE] * count, [_NONE] * count
    known: dict[object, int] = {}
    for pair in review.alignment.pairs:
        here, there = left.place.get(pair.npu), right.place.get(pair.bench)
        if here is not None and there is not None:
            at = left.number[here]
            chosen[at] = right.number[there]
            rival = right.place.get(pair.runner_up) if pair.runner_up is not None else None
            second[at] = right.number[rival] if rival is not None else _NONE
            why[at] = known.setdefault(_evidence(pair, review), len(known))
            outputs[at], weights[at] = _percent(pair.evidence.output), _percent(pair.evidence.weight)
    told = {"outputs": outputs, "weights": weights}
    return {
        "chosen": _steps(chosen),
        "second": _steps(second),
        "why": why,
        "evidence": list(known),
        **{name: _steps(values) for name, values in told.items() if max(values) > _NONE},
    }


def _percent(value: float | None) -> int:
    return _NONE if value is None else round(100 * value)


def _evidence(pair: Pair, review: Review) -> tuple[object, ...]:
    tree = review.alignment.bench if pair.split_side == "bench" else review.alignment.npu
    parts = (pair.evidence.name, pair.evidence.cls, pair.evidence.shape, pair.evidence.parent, pair.evidence.children)
    figures = (pair.confidence, pair.score, pair.runner_up_score, *parts)
    rounded = tuple(None if value is None else round(value, 2) for value in figures)
    fused = " + ".join(tree.names[node] for node in pair.group)
    note = ", ".join(text for text in (f"fused, covers {fused}" if fused else "", pair.note) if text)
    return (*rounded, note)


def _steps(values: Iterable[int]) -> list[int]:
    """Every value as its distance from the one before."""
    before, steps = 0, []
    for value in values:
        steps.append(value - before)
        before = value
    return steps


def _chars(review: Review) -> dict[str, list[str]]:
    """How every unusual character of the names is written in a quoted scalar, and in a comment."""
    texts = {*review.here.names, *review.there.names, *(kind for kind in review.here.types if kind)}
    texts |= {part for line in review.document.lines for part in (line.section, line.key, line.target)}
    unusual = sorted({char for text in texts for char in text if ord(char) > 0x7F})
    return {char: [quoted(char)[1:-1], char if char.isprintable() else " "] for char in unusual}
