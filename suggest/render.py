"""A draft as text: the YAML with its comments, and the summary for the terminal."""

from __future__ import annotations

from pathlib import PurePath

from .draft import Draft
from .mapping import Rule, dump_json, dump_yaml
from .source import Source

_MOST_LINES = 40  # one-sided modules listed in a draft; a longer list is cut and says so
_MOST_RULES = 5  # doubtful rules shown in the summary
FOOTERS = (
    "fused modules that one rule cannot express:",
    "NPU modules without counterpart:",
    "bench modules without counterpart:",
)


def render(draft: Draft, style: str, *, comments: bool) -> str:
    """The draft as ``yaml``, ``json`` or one of `suggest.formats`."""
    if style == "json":
        return dump_json(draft.layer_map)
    if style != "yaml":
        from .formats import render_as  # noqa: PLC0415  reads dumps again, which most runs have no use for

        return render_as(draft, style)
    return dump_yaml(draft.layer_map, _header(draft), _footer(draft), comments=comments)


def summary(draft: Draft) -> list[str]:
    """What the terminal says about a draft: counts of the replay, doubts, and what the readers noticed."""
    review = draft.to_review()
    lines = [f"warning: {source.label}: {note}" for source in (draft.npu, draft.bench) for note in source.notes]
    lines.append(
        f"matched {draft.matched} of {draft.npu_modules} NPU modules with {len(draft.layer_map.rules)} rules,"
        f" {len(review)} to review"
    )
    lines.append(
        f"without counterpart: {draft.npu_only_count} on the NPU side, {draft.bench_only_count} on the bench side"
    )
    lines += _numbers(draft)
    lines += [f"  {_shown(rule)}" for rule in review[:_MOST_RULES]]
    if draft.faults:
        lines.append(
            f"fault: the replay of these rules differs from the alignment at {len(draft.faults)} modules, first at"
            f" {draft.faults[0]}; please report this with both inputs"
        )
    return lines


def matching(npu: Source, bench: Source) -> str:
    """What is being done once both sides are read."""
    count = (source.repeats.count(source.tree.paths) for source in (npu, bench))
    return "matching {:,} with {:,} modules".format(*count)


def _shown(rule: Rule) -> str:
    sure = "" if rule.confidence is None else f" {rule.confidence:.2f}"
    return f"{rule.section}: {rule.key} -> {rule.target} #{sure} {rule.note}".rstrip()


def _header(draft: Draft) -> list[str]:
    review = len(draft.to_review())
    sides = ((draft.npu, draft.npu_modules), (draft.bench, draft.bench_modules))
    npu, bench = (f"{header_name(source.label)} ({count} modules)" for source, count in sides)
    matched = f"{draft.matched} of {draft.npu_modules} NPU modules match, replayed as msprobe does"
    rules = "1 rule" if review == 1 else f"{review} rules"
    alone = f"{draft.npu_only_count} have no counterpart" + (" (listed below)" if draft.npu_only else "")
    return [f"layermap draft: NPU {npu} -> bench {bench}", f"{matched}; {rules} to review; {alone}", *_numbers(draft)]


def _numbers(draft: Draft) -> list[str]:
    return [line for line in (draft.apis.line(), draft.drift.line()) if line]


def header_name(label: str) -> str:
    """A side as the first line of a draft names it."""
    return PurePath(label).name or label


def _footer(draft: Draft) -> list[str]:
    lines: list[str] = []
    for title, items in zip(FOOTERS, (draft.groups, draft.npu_only, draft.bench_only), strict=True):
        if items:
            lines.append(title)
            lines += [f"  {item}" for item in items[:_MOST_LINES]]
            if len(items) > _MOST_LINES:
                lines.append(f"  and {len(items) - _MOST_LINES} more")
    return lines
