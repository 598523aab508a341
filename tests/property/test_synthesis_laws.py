"""Laws of rule synthesis: exact for any wish, nothing superfluous, the same for any hash seed."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from benchmarks.corpus import PAIRS, pairs
from suggest.draft import draft, wishes
from suggest.entries import module_entries
from suggest.mapping import LayerMap
from suggest.replay import land, lands_at
from suggest.scopes import Scopes
from suggest.source import Entry
from suggest.synthesise import synthesise, wrong_nodes

STEPS = st.sampled_from(["a", "b", "layers", "0", "1", "2", "attn"])
PATHS = st.lists(STEPS, min_size=1, max_size=5).map(".".join)
CLASSES = st.sampled_from(["A", "B", "C", "layers", "0"])
TREES = st.dictionaries(PATHS, CLASSES, min_size=1, max_size=12)


def scopes(tree: Mapping[str, str], unknown: bool = False) -> Scopes:
    entries = module_entries(tree.items())
    return Scopes.build(entry._replace(type=None) for entry in entries) if unknown else Scopes.build(entries)


@st.composite
def wanted(draw: st.DrawFn, npu: Scopes, bench: Scopes) -> dict[int, str | None]:
    """A random one-to-one wish on some of the NPU's modules: a bench module, or nothing."""
    free = [bench.path(node) for node in range(1, len(bench)) if bench.entries[node]]
    draw(st.randoms(use_true_random=False)).shuffle(free)
    wish: dict[int, str | None] = {}
    for node in range(1, len(npu)):
        choice = draw(st.sampled_from(["pair", "alone", "any"])) if npu.entries[node] else "any"
        if choice == "pair" and free:
            wish[node] = free.pop()
        elif choice == "alone":
            wish[node] = None
    return wish


@pytest.mark.bulk
@settings(max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), TREES, TREES, st.booleans())
def test_replay_of_the_synthesis_is_the_wish(
    data: st.DataObject, npu_tree: dict[str, str], bench_tree: dict[str, str], unknown: bool
) -> None:
    npu, bench = scopes(npu_tree, unknown), scopes(bench_tree)
    wish = data.draw(wanted(npu, bench))
    found = synthesise(npu, bench, wish)
    landing = land(npu, bench, found.layer_map)
    assert wrong_nodes(npu, bench, wish, landing) == []
    assert [lands_at(npu, found.layer_map, node) for node in range(len(npu))] == list(landing.scopes)


@pytest.mark.bulk
@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), TREES, TREES)
def test_removing_any_rule_changes_the_replay(
    data: st.DataObject, npu_tree: dict[str, str], bench_tree: dict[str, str]
) -> None:
    npu, bench = scopes(npu_tree), scopes(bench_tree)
    wish = data.draw(wanted(npu, bench))
    rules = synthesise(npu, bench, wish).layer_map.rules
    assume(rules)
    for rule in rules:
        fewer = LayerMap(tuple(other for other in rules if other is not rule))
        assert wrong_nodes(npu, bench, wish, land(npu, bench, fewer)), rule


@pytest.mark.bulk
@pytest.mark.parametrize("name", sorted(folder.name for folder in PAIRS.iterdir()))
def test_no_rule_of_a_real_draft_is_superfluous(name: str) -> None:
    for pair in pairs(only=name):
        npu, bench = (Scopes.build(side.source.entries) for side in (pair.npu, pair.bench))
        found = draft(pair.npu.source, pair.bench.source)
        wish = wishes(found.alignment, npu)
        assert found.faults == ()
        for rule in found.layer_map.rules:
            fewer = LayerMap(tuple(other for other in found.layer_map.rules if other is not rule))
            assert wrong_nodes(npu, bench, wish, land(npu, bench, fewer)), (pair.name, rule)


def test_a_shared_class_in_two_towers_is_served_exactly() -> None:
    npu = scopes(
        {
            "vis": "Vision", "vis.layers.0": "Layer", "vis.layers.0.attn": "A", "vis.layers.1": "Layer",
            "vis.layers.1.attn": "A", "txt": "Text", "txt.layers.0": "Layer", "txt.layers.0.attn": "A",
        }
    )  # fmt: skip
    bench = scopes(
        {
            "visual": "V", "visual.blocks.0": "L", "visual.blocks.0.mha": "M", "visual.blocks.1": "L",
            "visual.blocks.1.mha": "M", "model": "T", "model.layers.0": "L", "model.layers.0.self_attn": "S",
        }
    )  # fmt: skip
    wish: dict[int, str | None] = {
        node: target
        for path, target in {
            "vis": "visual", "vis.layers.0": "visual.blocks.0", "vis.layers.0.attn": "visual.blocks.0.mha",
            "vis.layers.1": "visual.blocks.1", "vis.layers.1.attn": "visual.blocks.1.mha", "txt": "model",
            "txt.layers.0": "model.layers.0", "txt.layers.0.attn": "model.layers.0.self_attn",
        }.items()
        if (node := npu.find(path)) is not None
    }  # fmt: skip
    found = synthesise(npu, bench, wish).layer_map.sections()
    assert found == {
        "TopLayer": {"vis": "visual", "txt": "model"},
        "Vision": {"layers": "blocks"},
        "Layer": {"attn": "mha"},
        "Text": {"layers.0.attn": "layers.0.self_attn"},
    }


def test_a_one_sided_module_whose_name_exists_on_the_bench_side_is_blocked() -> None:
    npu, bench = scopes({"a": "A", "a.norm": "N", "b": "B"}), scopes({"a": "A", "a.norm": "N", "c": "B"})
    wish: dict[int, str | None] = {1: "a", 2: None, 3: "c"}
    rules = synthesise(npu, bench, wish).layer_map
    assert rules.sections() == {"TopLayer": {"b": "c"}, "A": {"norm": "norm_no_counterpart"}}
    assert [rule.note for rule in rules.rules] == ["", "blocked: no counterpart"]


def test_a_layer_offset_is_a_section_of_the_list() -> None:
    npu = scopes({"layers.0": "L", "layers.0.x": "X", "layers.1": "L", "layers.1.x": "X"})
    bench = scopes({f"layers.{n}{tail}": "L" for n in range(4) for tail in ("", ".x")})
    wish: dict[int, str | None] = {
        node: f"layers.{n + 2}{tail}"
        for n in range(2)
        for tail in ("", ".x")
        if (node := npu.find(f"layers.{n}{tail}")) is not None
    }
    assert synthesise(npu, bench, wish).layer_map.sections() == {"layers": {"0": "2", "1": "3"}}


def test_entries_without_a_class_are_never_a_section() -> None:
    entries = (Entry("m", ("m",), None, ""), Entry("m.w", ("m", "w"), None))
    npu = Scopes.build(entries)
    bench = scopes({"n": "N", "n.v": "V"})
    assert synthesise(npu, bench, {2: "n.v"}).layer_map.sections() == {"TopLayer": {"m.w": "n.v"}}
