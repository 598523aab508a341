"""Outputs that pair tensors and APIs, which needs dumps on both sides.

``data_mapping`` has a line for every tensor of every matched entry, named as msprobe names them. ``api_mapping`` tells
what msprobe cannot know: which API of another name does the work on the other side, as the rules of a mapping say for
APIs, and which of its arguments and outputs are meant. An argument is paired with the one at the same position, or of
the same keyword, where both have the same shape in every matched call; the others msprobe leaves out of its comparison.
An API of which nothing agrees so is left to msprobe's own table. Outputs stand under ``ms_output`` and ``pt_output``,
which is what msprobe reads, where its documentation says ``ms_outputs`` and ``pt_outputs``.

Limits: msprobe takes an api_mapping by the number of the call in the whole run, not by module, so one pair of names
holds everywhere; the most frequent counterpart is chosen. Sources: sections 4.3 and 4.5 of msprobe 8.3.3's
``11.accuracy_compare_MindSpore.md``, ``modify_compare_data_with_user_mapping``, ``generate_data_mapping``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from .draft import Draft
from .errors import LayermapError
from .mapping import quoted
from .measured import records
from .replay import replay
from .scopes import Scopes
from .source import Entry, Source

_INPUTS = ("input_args", "input_kwargs", "input")
_MODULES = ("Module", "Cell")


def matched_entries(draft: Draft) -> Iterator[tuple[Entry, Entry]]:
    """Every NPU entry with its bench entry, in the order of the NPU side."""
    here, there = Scopes.build(draft.npu.entries), Scopes.build(draft.bench.entries)
    found = replay(here, there, draft.layer_map)
    bench = {entry.name: entry for entry in draft.bench.entries}
    for entry in draft.npu.entries:
        partner = found[entry.name]
        if partner is not None:
            yield entry, bench[partner]


def flat_yaml(pairs: Mapping[str, str]) -> str:
    """A flat mapping, as msprobe's own files are; ``{}`` for none."""
    return "".join(f"{quoted(key)}: {quoted(value)}\n" for key, value in pairs.items()) or "{}\n"


def data_mapping(draft: Draft) -> str:
    here, there = _dumped(draft.npu, "data-mapping"), _dumped(draft.bench, "data-mapping")
    pairs: dict[str, str] = {}
    for entry, partner in matched_entries(draft):
        ends = set(_tensor_ends(entry, there.get(partner.name)))
        for end in _tensor_ends(entry, here.get(entry.name)):
            pairs[entry.name + end] = partner.name + end if end in ends else "N/A"
    return flat_yaml(pairs)


def _dumped(source: Source, style: str) -> Mapping[str, Mapping[str, object]]:
    found = records(source.label, {entry.name for entry in source.entries})
    if not found:
        raise LayermapError(source.label, "holds no tensors to pair", f"give dumps on both sides for --format {style}")
    return found


def _tensor_ends(entry: Entry, record: object) -> list[str]:
    """What stands behind an entry's name in the names of its tensors: ``.input.0``, ``.output.1.key``."""
    if not isinstance(record, dict):
        return []
    if entry.state == "parameters_grad":
        return [f".{name}" for name in record]
    found: list[str] = []
    for part, value in record.items():
        if part in _INPUTS:
            found += [name for name, _ in _leaves(".input", value)]
        elif part == "output":
            found += [name for name, _ in _leaves(".output", value)]
        elif part == "parameters" and isinstance(value, dict):
            found += [f".parameters.{name}" for name in value]
    return found


def _leaves(prefix: str, value: object) -> Iterator[tuple[str, object]]:
    parts: Iterator[tuple[object, object]]
    if isinstance(value, dict) and "type" not in value:
        parts = iter(value.items())
    elif isinstance(value, list):
        parts = iter(enumerate(value))
    else:
        yield prefix, value
        return
    for name, part in parts:
        yield from _leaves(f"{prefix}.{name}", part)


def api_mapping(draft: Draft) -> str:
    """The APIs that have counterparts of other names; ``[]`` for none."""
    here, there = _dumped(draft.npu, "api-mapping"), _dumped(draft.bench, "api-mapping")
    calls: dict[str, dict[str, list[tuple[object, object]]]] = defaultdict(lambda: defaultdict(list))
    for entry, partner in matched_entries(draft):
        if entry.state == "forward" and entry.name.split(".", 1)[0] not in _MODULES:
            calls[_api(entry.name)][_api(partner.name)].append((here.get(entry.name), there.get(partner.name)))
    lines: list[str] = []
    for name, partners in calls.items():
        count = Counter({other: len(pairs) for other, pairs in partners.items()})
        other = min(count, key=lambda api: (-count[api], api))
        agreeing = {key: _agreeing(partners[other], part) for key, part in (("args", "input"), ("output", "output"))}
        if other != name and any(agreeing.values()):
            lines += [f"- ms_api: {quoted(name)}", f"  pt_api: {quoted(other)}"]
            lines += [f"  {side}_{key}: [{', '.join(ends)}]" for key, ends in agreeing.items() for side in ("ms", "pt")]
    return "".join(f"{line}\n" for line in lines) or "[]\n"


def _api(name: str) -> str:
    """``type.name`` of an API's entry."""
    return ".".join(name.split(".")[:-2])


def _agreeing(calls: list[tuple[object, object]], part: str) -> list[str]:
    """The positions, and keywords, that hold a tensor of one shape on both sides in every one of these calls."""
    sets = []
    for one, other in calls:
        mine, theirs = _shapes(one, part), _shapes(other, part)
        sets.append({end for end, shape in mine.items() if theirs.get(end) == shape})
    first = _shapes(calls[0][0], part)
    return [end if end.isdigit() else quoted(end) for end in first if all(end in ends for ends in sets)]


def _shapes(record: object, part: str) -> dict[str, object]:
    """By what stands behind ``.input.`` or ``.output.``, the shape of every tensor of an API's call."""
    parts = ("input_args", "input_kwargs") if part == "input" else (part,)
    values = [record.get(name) for name in parts] if isinstance(record, dict) else []
    leaves = [leaf for value in values for leaf in _leaves("", value)]
    return {end[1:]: leaf["shape"] for end, leaf in leaves if end and isinstance(leaf, dict) and leaf.get("shape")}
