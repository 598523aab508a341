"""The same draft for other readers. What it says is replayed, as in the mapping itself.

| format         | for | holds |
| -------------- | --- | ----- |
| pairs          | spreadsheets | CSV: a line for every module of both sides, its counterpart, confidence, remark |
| pairs-json     | programs | the same as JSON |
| markdown       | tickets and chats | counts, rules, what to review, what is one-sided |
| cell-mapping   | ``msprobe compare -cm`` | ``name.class: name.class`` of every matched module |
| data-mapping   | ``msprobe compare -dm`` | ``tensor: tensor`` of every matched entry; both sides must be dumps |
| api-mapping    | ``msprobe compare -am`` | APIs of other names and their arguments; both sides must be dumps |
| vis-config     | the match file ``*.vis.config`` of TensorBoard's graph_ascend plugin | ``entry: entry`` |
| model-explorer | Model Explorer's sync navigation | ``module: module``, by path |

Sources: sections 4.3 to 4.5 of msprobe 8.3.3's ``11.accuracy_compare_MindSpore.md``, ``generate_data_mapping``;
``add_match_nodes_by_config`` of tb-graph-ascend 8.3.2; ``SyncNavigationData`` of ai-edge-model-explorer 0.1.34.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

from .draft import Draft
from .mapping import Rule
from .source import Entry
from .tensor_formats import api_mapping, data_mapping, flat_yaml, matched_entries

_COLUMNS = ("npu", "npu_class", "bench", "bench_class", "confidence", "note")
_MODULES = ("Module", "Cell")


def render_as(draft: Draft, style: str) -> str:
    """The draft in one of `FORMATS`."""
    return FORMATS[style](draft)


def _module_pairs(draft: Draft) -> dict[str, str]:
    """By NPU path, the bench path of every module whose forward call is matched."""
    pairs: dict[str, str] = {}
    for entry, partner in matched_entries(draft):
        if entry.state == "forward" and _is_module(entry):
            pairs.setdefault(".".join(entry.scope), ".".join(partner.scope))
    return pairs


def _is_module(entry: Entry) -> bool:
    return entry.name.split(".", 1)[0] in _MODULES


def _rows(draft: Draft) -> list[dict[str, Any]]:
    npu, bench = draft.alignment.npu, draft.alignment.bench
    pairs = _module_pairs(draft)
    judged = {(npu.paths[pair.npu], bench.paths[pair.bench]): pair for pair in draft.alignment.pairs}
    classes = dict(zip(bench.paths, bench.classes, strict=True))
    rows: list[tuple[object, ...]] = []
    for node, path in enumerate(npu.paths):
        if npu.called[node]:
            partner = pairs.get(path)
            pair = judged.get((path, partner)) if partner is not None else None
            sure = round(pair.confidence, 2) if pair is not None else None
            cls = classes.get(partner, "") if partner is not None else ""
            rows.append((path, npu.classes[node], partner, cls, sure, pair.note if pair is not None else ""))
    met = set(pairs.values())
    alone = [node for node, path in enumerate(bench.paths) if bench.called[node] and path not in met]
    rows += [(None, "", bench.paths[node], bench.classes[node], None, "") for node in alone]
    return [dict(zip(_COLUMNS, row, strict=True)) for row in rows]


def _pairs_csv(draft: Draft) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_rows(draft))
    return text.getvalue()


def _pairs_json(draft: Draft) -> str:
    return _json({"pairs": _rows(draft)})


def _json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _cell_mapping(draft: Draft) -> str:
    pairs: dict[str, str] = {}
    for entry, partner in matched_entries(draft):
        if entry.state == "forward" and _is_module(entry):
            pairs.setdefault(_inner(entry.name), _inner(partner.name))
    return flat_yaml(pairs)


def _inner(name: str) -> str:
    """``name.class`` of a module's entry."""
    return ".".join(name.split(".")[1:-2])


def _vis_config(draft: Draft) -> str:
    return _json({entry.name: partner.name for entry, partner in matched_entries(draft)})


def _model_explorer(draft: Draft) -> str:
    return _json({"type": "sync_navigation", "mapping": _module_pairs(draft), "disableMappingFallback": True})


def _markdown(draft: Draft) -> str:
    review = draft.to_review()
    lines = [
        f"## Layer mapping: {_cell(draft.npu.label)} → {_cell(draft.bench.label)}",
        "",
        f"- **{draft.matched} of {draft.npu_modules}** NPU modules match, replayed as msprobe does",
        f"- {len(draft.layer_map.rules)} rules, {len(review)} to review",
        f"- without counterpart: {draft.npu_only_count} on the NPU side, {draft.bench_only_count} on the bench side",
        "",
        "| section | NPU | bench | confidence | remark |",
        "| --- | --- | --- | --- | --- |",
        *(_line(rule) for rule in draft.layer_map.rules),
    ]
    for title, items in (
        ("Fused modules that one rule cannot express", draft.groups),
        ("NPU modules without counterpart", draft.npu_only),
        ("Bench modules without counterpart", draft.bench_only),
    ):
        if items:
            shown = "\n".join(f"- {_code(item)}" for item in items)
            lines += ["", f"<details><summary>{title} ({len(items)})</summary>", "", shown, "", "</details>"]
    return "\n".join(lines) + "\n"


def _line(rule: Rule) -> str:
    sure = "" if rule.confidence is None else f"{rule.confidence:.2f}"
    remark = f"**{_cell(rule.note)}**" if rule.note.startswith("review") else _cell(rule.note)
    return f"| {_code(rule.section)} | {_code(rule.key)} | {_code(rule.target)} | {sure} | {remark} |"


def _code(text: str) -> str:
    """Code in a table: a fence longer than any run of backticks inside."""
    plain = " ".join(text.split()).replace("|", "\\|")
    fence = "`"
    while fence in plain:
        fence += "`"
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def _cell(text: str) -> str:
    """Text in a table, its markup inert."""
    return "".join(f"\\{char}" if char in "\\`*_{}[]<>|#" else char for char in " ".join(text.split()))


FORMATS: dict[str, Callable[[Draft], str]] = {
    "pairs": _pairs_csv,
    "pairs-json": _pairs_json,
    "markdown": _markdown,
    "cell-mapping": _cell_mapping,
    "data-mapping": data_mapping,
    "api-mapping": api_mapping,
    "vis-config": _vis_config,
    "model-explorer": _model_explorer,
}
