"""Both directions of one correspondence, and the entries that a module's own rules do not reach."""

from __future__ import annotations

import pytest

from benchmarks.corpus import PAIRS, pairs
from matcher import align
from suggest.draft import draft, draft_of
from suggest.entries import module_entries
from suggest.invert import invert, transposed
from suggest.mapping import LayerMap, Rule
from suggest.replay import replay
from suggest.scopes import Scopes
from suggest.source import Entry, Source
from suggest.synthesise import synthesise


def matched(layer_map: LayerMap, npu: Source, bench: Source) -> set[tuple[str, str]]:
    """Pairs of forward entries that a mapping gives."""
    found = replay(Scopes.build(npu.entries), Scopes.build(bench.entries), layer_map)
    return {(name, partner) for name, partner in found.items() if partner is not None}


@pytest.mark.bulk
@pytest.mark.parametrize("name", sorted(folder.name for folder in PAIRS.iterdir()))
def test_both_directions_of_every_pair_give_the_same_pairs(name: str) -> None:
    pair = next(pairs(only=name))
    npu, bench = pair.npu.source, pair.bench.source
    there = draft(npu, bench)
    back = draft_of(transposed(there.alignment), bench, npu)
    assert back.faults == ()
    assert matched(back.layer_map, bench, npu) == {(b, a) for a, b in matched(there.layer_map, npu, bench)}
    found = invert(there.layer_map, npu, bench)
    assert found.contested == ()
    assert len(found.layer_map.rules) <= len(back.layer_map.rules) + 2
    assert matched(found.layer_map, bench, npu) == {(b, a) for a, b in matched(there.layer_map, npu, bench)}


def test_transposing_twice_keeps_pairs_and_groups() -> None:
    pair = next(pairs(only="qwen2_5-7b-te"))
    alignment = align(pair.npu.source.tree, pair.bench.source.tree)
    twice = transposed(transposed(alignment))
    assert [(p.npu, p.bench, p.group, p.split_side) for p in twice.pairs] == [
        (p.npu, p.bench, p.group, p.split_side) for p in alignment.pairs
    ]
    assert twice.groups == alignment.groups


def source(*paths: str) -> Source:
    from benchmarks.corpus import source_of

    return source_of([{"path": "", "class": "Model"}, *({"path": path, "class": path.upper()} for path in paths)])


def test_where_two_modules_land_on_one_the_deepest_goes_back() -> None:
    npu, bench = source("wrap", "wrap.inner", "wrap.inner.fc"), source("model", "model.fc")
    rules = (
        Rule(section="TopLayer", key="wrap", target="model"),
        Rule(section="TopLayer", key="wrap.inner", target="model"),
    )
    found = invert(LayerMap(rules), npu, bench)
    assert found.contested == ("model",)
    assert found.layer_map.sections() == {"TopLayer": {"model": "wrap.inner"}}


def scopes_of(*entries: Entry) -> Scopes:
    return Scopes.build(entries)


def test_an_api_that_takes_a_modules_class_away_is_worked_around() -> None:
    # F.linear in a module that has a child "linear": the child's own class section is never consulted.
    npu = scopes_of(
        Entry("Module.a.A.forward.0", ("a",), "A"),
        Entry("Module.a.linear.L.forward.0", ("a", "linear"), "L"),
        Entry("Functional.linear.0.forward", ("a", "linear"), "linear"),
        Entry("Module.a.linear.x.X.forward.0", ("a", "linear", "x"), "X"),
    )
    bench = Scopes.build(module_entries([("a", "A"), ("a.linear", "L"), ("a.linear.y", "Y")]))
    inner = npu.find("a.linear.x")
    assert inner is not None
    found = synthesise(npu, bench, {inner: "a.linear.y"}).layer_map.sections()
    assert found == {"linear": {"x": "y"}}


def test_layers_that_msprobe_renumbers_by_itself_need_no_offset() -> None:
    npu = Scopes.build(module_entries([("enc", "ParallelTransformer"), *((f"enc.layers.{n}", "L") for n in (8, 9))]))
    bench = Scopes.build(module_entries([("dec", "Decoder"), *((f"dec.layers.{n}", "M") for n in (0, 1))]))
    wish: dict[int, str | None] = {
        node: target
        for path, target in {"enc": "dec", "enc.layers.0": "dec.layers.0", "enc.layers.1": "dec.layers.1"}.items()
        if (node := npu.find(path)) is not None
    }
    assert len(wish) == 3
    assert synthesise(npu, bench, wish).layer_map.sections() == {"TopLayer": {"enc": "dec"}}
