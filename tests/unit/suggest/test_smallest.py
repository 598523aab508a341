"""No more rules than the least there can be, and no more than msprobe's own templates for what those cover."""

from __future__ import annotations

import pytest

from benchmarks.corpus import PAIRS, pairs
from benchmarks.minimum import least_rules
from benchmarks.rules import ONE_BY_ONE, bound
from matcher.fold import fold
from matcher.traits import traits_of
from suggest.draft import draft, wishes
from suggest.entries import module_entries
from suggest.mapping import load_mapping
from suggest.replay import IDENTITY, NOWHERE, land
from suggest.scopes import Scopes
from suggest.shrink import shrunk
from suggest.synthesise import synthesise, wrong_nodes

TEMPLATES = PAIRS.parent / "templates"


def small_pairs() -> list[str]:
    """Pairs whose NPU side has fewer than 40 kinds: what the reference solves in seconds."""
    trees = {pair.name: pair.npu.source.tree for pair in pairs() if pair.name not in ONE_BY_ONE}
    return [name for name, tree in trees.items() if len(fold(tree, traits_of(tree))) < 40]


@pytest.mark.bulk
@pytest.mark.parametrize("name", small_pairs())
def test_no_mapping_with_fewer_rules_does_the_same(name: str) -> None:
    pair = next(entry for entry in pairs(only=name.split(" ", maxsplit=1)[0]) if entry.name == name)
    rules, least, _ = bound(pair)
    assert rules == least  # a lower bound that is reached is a proof, whether or not the solver was done


def test_the_reference_knows_what_sharing_saves() -> None:
    # One class rule for both towers, or one for each: the reference has to find out.
    npu = Scopes.build(
        module_entries([("a", "A"), ("a.x", "X"), ("b", "B"), ("b.x", "X"), ("a.x.p", "P"), ("b.x.p", "P")])
    )
    bench = Scopes.build(module_entries([(path, "C") for path in ("a", "a.x", "b", "b.x", "a.x.q", "b.x.q", "b.x.r")]))
    inner = [npu.find("a.x.p"), npu.find("b.x.p")]
    assert None not in inner
    same = {node: target for node, target in zip(inner, ("a.x.q", "b.x.q"), strict=True) if node is not None}
    other = {node: target for node, target in zip(inner, ("a.x.q", "b.x.r"), strict=True) if node is not None}
    assert least_rules(npu, bench, same) == (1, True)
    assert least_rules(npu, bench, other) == (2, True)


@pytest.mark.bulk
def test_two_towers_of_one_class_cost_one_rule_per_layer_and_child_of_the_smaller_tower() -> None:
    pair = next(pairs(only="seed-qwen2_5-vl"))
    npu, bench = (Scopes.build(side.source.entries) for side in (pair.npu, pair.bench))
    wanted = wishes(draft(pair.npu.source, pair.bench.source).alignment, npu)
    one, asked = shrunk(npu, wanted, kept=1)
    assert least_rules(one, bench, asked) == (21 + 1 + 2 + 2, True)  # input_layernorm keeps its name in one tower
    two, asked_of_two = shrunk(npu, wanted, kept=2)
    for small, wish, least in ((one, asked, 21 + 1 + 2 + 2), (two, asked_of_two, 21 + 2 + 3 + 3)):
        assert len(synthesise(small, bench, wish).layer_map.rules) == least
    assert len(synthesise(npu, bench, wanted).layer_map.rules) == 21 + 3 * (1 + 8)  # 8 layers there, 16 here


@pytest.mark.parametrize(
    ("template", "pair"),
    [
        ("qwen2_5.mindspeed-to-llamafactory", "qwen2_5-7b"),
        ("qwen2_5.llamafactory-to-mindspeed", "qwen2_5-7b (reverse)"),
        ("qwen2_5-vl.mindspeed-to-llamafactory", "seed-qwen2_5-vl"),
        ("qwen2_5-vl.llamafactory-to-mindspeed", "seed-qwen2_5-vl (reverse)"),
    ],
)
def test_official_templates_cover_no_more_and_are_no_shorter(template: str, pair: str) -> None:
    official = load_mapping((TEMPLATES / f"{template}.yaml").read_text(), template).layer_map
    found = next(entry for entry in pairs(only=pair.split(" ", maxsplit=1)[0]) if entry.name == pair)
    npu, bench = (Scopes.build(side.source.entries) for side in (found.npu, found.bench))
    drafted = draft(found.npu.source, found.bench.source)
    wanted = wishes(drafted.alignment, npu)
    theirs, ours = land(npu, bench, official), land(npu, bench, drafted.layer_map)
    covered = {node: bench.path(theirs.nodes[node]) for node in wanted if theirs.nodes[node] not in (NOWHERE, 0)}
    assert len(covered) > 20
    right = {node for node, path in covered.items() if found.gold.get(npu.path(node)) == path}
    assert all(bench.path(ours.nodes[node]) == covered[node] for node in right)
    fired = {rule for rule in theirs.rules if rule != IDENTITY}
    again = synthesise(npu, bench, {node: covered[node] for node in right})
    assert len(again.layer_map.rules) <= len(fired)


@pytest.mark.bulk
def test_a_shrunken_trie_gives_the_rules_of_the_large_one() -> None:
    for pair in pairs(only="deepseek"):
        npu, bench = (Scopes.build(side.source.entries) for side in (pair.npu, pair.bench))
        wanted = wishes(draft(pair.npu.source, pair.bench.source).alignment, npu)
        small, asked = shrunk(npu, wanted)
        assert len(small) < len(npu)
        rules = synthesise(small, bench, asked).layer_map
        assert wrong_nodes(npu, bench, wanted, land(npu, bench, rules)) == []
        assert rules.sections() == synthesise(npu, bench, wanted).layer_map.sections()
