"""Our replay against the real msprobe: its own cases, random ones, and every pair with drafts and templates."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.corpus import PAIRS, Pair, pairs
from suggest.draft import draft
from suggest.entries import entries_of, module_entries
from suggest.mapping import LayerMap, Rule, dump_yaml, load_mapping
from suggest.replay import replay
from suggest.scopes import Scopes
from suggest.source import Entry

Mapped = dict[str, "str | None"]
CASES = Path(__file__).parent.parent / "data" / "msprobe_cases"
TEMPLATES = Path(__file__).parent.parent / "data" / "templates"


def msprobe_trie(entries: tuple[Entry, ...]) -> tuple[list[Any], Any]:
    """msprobe's items and trie for the forward entries of a module tree."""
    from msprobe.core.common.const import Const
    from msprobe.core.compare.layer_mapping.data_scope_parser import get_dump_data_items
    from msprobe.core.compare.layer_mapping.layer_mapping import LayerTrie

    names = {entry.name: None for entry in entries}
    items = get_dump_data_items({"data": names}, {name: [] for name in names}, names, "pytorch", None)
    root = LayerTrie(Const.TOP_LAYER, "pytorch")
    for item in items:
        root.insert(item)
    return items, root


def msprobe_replay(
    npu: tuple[Entry, ...], bench: tuple[Entry, ...], mapping: Mapping[str, Mapping[str, str]]
) -> Mapped:
    from msprobe.core.common.const import CompareConst
    from msprobe.core.compare.layer_mapping.layer_mapping import convert_data_items

    items, root = msprobe_trie(npu)
    _, bench_root = msprobe_trie(bench)
    found = convert_data_items(root, bench_root, items, copy.deepcopy({k: dict(v) for k, v in mapping.items()}))
    return {name: None if partner == CompareConst.N_A else partner for name, partner in found.items()}


def our_replay(npu: tuple[Entry, ...], bench: tuple[Entry, ...], mapping: Mapping[str, Mapping[str, str]]) -> Mapped:
    rules = tuple(Rule(section=s, key=k, target=t) for s, keys in mapping.items() for k, t in keys.items())
    return replay(Scopes.build(npu), Scopes.build(bench), LayerMap(rules))


def semantics_cases() -> list[dict[str, Any]]:
    found = json.loads((CASES / "semantics_cases.json").read_text())
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("case", semantics_cases(), ids=lambda case: str(case["title"])[:40])
def test_replay_of_a_titled_case_is_msprobes_verdict(case: dict[str, Any]) -> None:
    framework = "mindspore" if any(name.startswith("Cell.") for name in case["npu"]) else "pytorch"
    npu, _ = entries_of(case["npu"], case["npu"], {}, framework)
    bench, _ = entries_of(case["bench"], case["bench"], {}, "pytorch")
    loaded = load_mapping(case["mapping_yaml"], "mapping.yaml")
    if isinstance(case["expected"], str):  # msprobe raised, and so dropped the whole mapping
        assert any(problem.fatal for problem in loaded.problems)
        return
    found = replay(Scopes.build(npu), Scopes.build(bench), loaded.layer_map)
    assert {name: partner or "N/A" for name, partner in found.items()} == case["expected"]


@pytest.mark.bulk
def test_replay_of_1500_random_cases_is_msprobes_verdict() -> None:
    containers = {"ModuleList", "ModuleDict"}
    with gzip.open(CASES / "resolve_fuzz.jsonl.gz", "rt") as stream:
        cases = [json.loads(line) for line in stream]
    assert len(cases) == 1500
    for case in cases:
        sides = [[(p, c) for p, c in case[side] if p and c not in containers] for side in ("npu", "bench")]
        npu, bench = (module_entries(side) for side in sides)
        path = {
            e.name: p
            for entries, side in zip((npu, bench), sides, strict=True)
            for e, (p, _) in zip(entries, side, strict=True)
        }
        found = our_replay(npu, bench, case["mapping"])
        assert {path[a]: path[b] if b else None for a, b in found.items()} == case["expected"]


STEPS = st.sampled_from(["a", "b", "layers", "0", "1", "x"])
PATHS = st.lists(STEPS, min_size=1, max_size=4).map(".".join)
CLASSES = st.sampled_from(["A", "B", "layers", "ParallelTransformer"])
TREES = st.dictionaries(PATHS, CLASSES, min_size=1, max_size=9)
MAPPINGS = st.dictionaries(
    st.sampled_from(["TopLayer", "A", "B", "layers", "0", "a"]),
    st.dictionaries(PATHS, PATHS, min_size=1, max_size=4),
    max_size=4,
)


@pytest.mark.bulk
@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TREES, TREES, MAPPINGS)
def test_replay_equals_msprobe_on_random_trees(
    npu: dict[str, str], bench: dict[str, str], mapping: dict[str, dict[str, str]]
) -> None:
    ours, theirs = module_entries(npu.items()), module_entries(bench.items())
    # msprobe looks names up one by one, so two classes at one path need not meet here
    assert our_replay(ours, theirs, mapping) == msprobe_replay(raw(npu), raw(bench), mapping)


def raw(tree: dict[str, str]) -> tuple[Entry, ...]:
    """Entries as dump.json names them; msprobe renumbers them itself."""
    return tuple(Entry(f"Module.{path}.{cls}.forward.0", tuple(path.split(".")), cls) for path, cls in tree.items())


@cache
def all_pairs() -> tuple[Pair, ...]:
    return tuple(pairs())


@pytest.mark.bulk
@pytest.mark.parametrize("name", sorted(folder.name for folder in PAIRS.iterdir()))
def test_replay_of_drafts_and_random_mappings_of_a_real_pair_is_msprobes(name: str) -> None:
    random = Random(name)
    for pair in (pair for pair in all_pairs() if pair.name.removesuffix(" (reverse)") == name):
        npu, bench = pair.npu.source, pair.bench.source
        found = draft(npu, bench)
        mappings = [yaml.safe_load(dump_yaml(found.layer_map, comments=True))]
        mappings += [random_mapping(random, npu.entries, bench.entries) for _ in range(15)]
        mappings += [yaml.safe_load(template.read_text()) for template in TEMPLATES.glob("*.yaml")]
        for mapping in mappings:
            assert our_replay(npu.entries, bench.entries, mapping) == msprobe_replay(
                npu.entries, bench.entries, mapping
            )


def random_mapping(random: Random, npu: tuple[Entry, ...], bench: tuple[Entry, ...]) -> dict[str, dict[str, str]]:
    """Rules between real paths of both sides, in sections that exist."""
    mapping: dict[str, dict[str, str]] = {}
    for _ in range(random.randint(1, 12)):
        entry, other = random.choice(npu), random.choice(bench)
        cut = random.randrange(len(entry.scope))
        section = (
            "TopLayer"
            if cut == 0
            else next((e.type for e in npu if e.scope == entry.scope[:cut]), entry.scope[cut - 1])
        )
        key = ".".join(entry.scope[cut : cut + random.randint(1, 3)])
        target = ".".join(other.scope[-random.randint(1, 3) :])
        mapping.setdefault(str(section), {})[key] = target
    return mapping
