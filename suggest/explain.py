"""``layermap explain`` as text or JSON: why a module got its counterpart, and what else it could have been.

Every column is a candidate, every line a part of the evidence, in log odds: above 0 it speaks for the pair, below 0
against it. Shapes and statistics of the first call stand below, where a dump tells them. Limits: a line tells the
matcher's view of two modules; rules kept from a reviewed mapping are no part of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from matcher import Alignment, Candidate, Explanation, Tree, align, explain

from .errors import LayermapError
from .invert import transposed
from .measured import Measured
from .show import shapes_at
from .source import Source

_ROWS = ("name", "genus", "class", "shape", "numbers", "size", "calls", "standing", "children", "parent", "order")
_NEAREST = 3
_COLUMN = 9
_LEAST = 0.005  # what two digits after the point can tell from 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is explained: an alignment, seen from the side that the module stands on, and its evidence."""

    alignment: Alignment
    found: Explanation
    turned: bool  # the module is one of the bench side


def subject_of(npu: Source, bench: Source, path: str, side: str = "") -> Subject:
    """The evidence for a module of a ``side``, "npu" or "bench"; without one, of the NPU side, or else the bench side.

    A dump's entry name will do for a path. Raises `LayermapError` where there is no such module.
    """
    sides = [(npu, False)] if side == "npu" else [(bench, True)] if side == "bench" else [(npu, False), (bench, True)]
    for source, turned in sides:
        node = _node(source, path)
        if node:
            alignment = align(npu.tree, bench.tree)
            seen = transposed(alignment) if turned else alignment
            return Subject(alignment=seen, found=explain(seen, node), turned=turned)
    if any(entry.name == path or ".".join(entry.scope) == path for source, _ in sides for entry in source.entries):
        raise LayermapError(path, "is an API, and APIs are paired by what they do and in order", "give its module")
    near = get_close_matches(
        path, list(dict.fromkeys(p for source, _ in sides for p in source.tree.paths[1:])), _NEAREST
    )
    hint = f"did you mean {' or '.join(near)}?" if near else "`layermap tree --format paths` lists them"
    raise LayermapError(
        path or "an empty path", f"no module of {'the ' + side if side else 'either'} side has this path", hint
    )


def _node(side: Source, path: str) -> int:
    """The id of a module by path or by entry name; 0 if there is none."""
    known = side.tree.id_of()
    if path in known:
        return known[path]
    scope = next((entry.scope for entry in side.entries if entry.name == path), ())
    doubled = scope[-1:] == scope[-2:-1]  # of gradients: msprobe gives them the module's name twice
    return known.get(".".join(scope), 0) or (known.get(".".join(scope[:-1]), 0) if doubled else 0)


def explained_text(subject: Subject, npu: Mapping[str, Measured], bench: Mapping[str, Measured]) -> str:
    """A table of candidates, and who they are; the statistics are by path."""
    here, there = subject.alignment.npu, subject.alignment.bench
    ours, theirs = (bench, npu) if subject.turned else (npu, bench)
    found = subject.found
    columns = _columns(found)
    lines = [_named(here, found.npu, found.role), *_figures(ours.get(here.paths[found.npu])), ""]
    if found.chosen is None:
        lines += [_alone(subject), ""]
    if columns:
        lines.append(f"{'log odds':10}" + "".join(f"{title:>{_COLUMN}}" for title, _ in columns))
        shares = [dict(candidate.shares) for _, candidate in columns]
        lines += [f"{row:10}" + "".join(_number(one[row]) for one in shares) for row in _ROWS]
        lines += [f"{'total':10}" + "".join(_number(one.total) for _, one in columns), ""]
    for title, candidate in columns:
        said = _standing(subject, candidate)
        lines.append(f"{title:8}{_named(there, candidate.bench, candidate.role)}" + (f"; {said}" if said else ""))
        lines += _figures(theirs.get(there.paths[candidate.bench])) if candidate is found.chosen else []
    return "".join(f"{line}\n" for line in lines)


def explained_json(subject: Subject) -> str:
    """The same for programs, without the statistics."""
    here, there = subject.alignment.npu, subject.alignment.bench
    found = subject.found

    def told(candidate: Candidate) -> dict[str, Any]:
        shares = {name: round(share, 4) for name, share in candidate.shares}
        return {
            "path": there.paths[candidate.bench],
            "class": there.classes[candidate.bench],
            "log_odds": {row: shares[row] for row in _ROWS},
            "total": round(candidate.total, 4),
            "taken_by": None if candidate.taken is None else here.paths[candidate.taken],
        }

    answer = {
        "side": "bench" if subject.turned else "npu",
        "path": here.paths[found.npu],
        "class": here.classes[found.npu],
        "confidence": None if found.pair is None else round(found.pair.confidence, 4),
        "chosen": None if found.chosen is None else told(found.chosen),
        "others": [told(candidate) for candidate in found.others],
    }
    return json.dumps(answer, indent=1, ensure_ascii=False) + "\n"


def _alone(subject: Subject) -> str:
    """Why a module has no counterpart."""
    alignment, found = subject.alignment, subject.found
    here, there = alignment.npu, alignment.bench
    for group in alignment.groups:
        if found.npu in group.npu:
            ours, theirs = _sum(here, group.npu), _sum(there, group.bench)
            return f"no counterpart of its own: fused, {ours} against {theirs}, which no mapping can say"
    for pair in alignment.pairs:
        if pair.split_side == "npu" and found.npu in pair.group:
            ours, chosen = _sum(here, pair.group), here.names[pair.npu]
            return (
                f"no counterpart of its own: fused, {ours} against {there.names[pair.bench]}, which {chosen} stands for"
            )
    if any(found.npu < pair.npu < here.ends[found.npu] for pair in alignment.pairs):
        return "no counterpart: what is in it is matched without it"
    if any(candidate.taken is None and candidate.total > 0 for candidate in found.others):
        return "no counterpart: what is free and alike stands where nothing around it is matched"
    return "no counterpart: whatever is free on the other side is more likely wrong than right"


def _sum(tree: Tree, nodes: Iterable[int]) -> str:
    return " + ".join(tree.names[node] for node in nodes)


def _columns(found: Explanation) -> list[tuple[str, Candidate]]:
    others = [(str(number), candidate) for number, candidate in enumerate(found.others, 1)]
    return others if found.chosen is None else [("chosen", found.chosen), *others]


def _number(value: float) -> str:
    return f"{value:>+{_COLUMN}.2f}" if abs(value) >= _LEAST else f"{0:>{_COLUMN}}"


def _named(tree: Tree, node: int, role: str) -> str:
    """``path (class), shapes of its parameters, meaning of its name``."""
    said = tree.paths[node] + (f" ({tree.classes[node]})" if tree.classes[node] else "")
    called = "" if tree.called[node] else "never called"
    return ", ".join(text for text in (said, shapes_at(tree, node), called, f"reads as {role}" if role else "") if text)


def _standing(subject: Subject, candidate: Candidate) -> str:
    """Where a candidate went, and how sure the pair is."""
    found = subject.found
    if candidate is not found.chosen:
        return "free" if candidate.taken is None else f"goes with {subject.alignment.npu.paths[candidate.taken]}"
    return f"confidence {found.pair.confidence:.2f}" if found.pair is not None else ""


def _figures(measured: Measured | None) -> Iterator[str]:
    if measured is not None:
        for title, tensors in (("input", measured.inputs), ("output", measured.outputs)):
            yield from (f"        {title:7} {tensor.text()}" for tensor in tensors)
        yield from (f"        {name:7} {tensor.text()}" for name, tensor in measured.parameters)
