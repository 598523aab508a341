"""What speaks for a pair: shares that sum up to its value, for the chosen counterpart and for the next best."""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose

import pytest

from benchmarks.corpus import pairs
from matcher import Explanation, Module, Tree, Weights, align, explain
from matcher.fold import fold
from matcher.score import PairScorer
from matcher.traits import traits_of


def tree(modules: Mapping[str, str], shapes: Mapping[str, tuple[int, ...]] | None = None) -> Tree:
    known = shapes or {}
    return Tree.build(
        Module(
            path,
            cls,
            called=cls != "ModuleList",
            params=(("weight", known[path]),) if path in known else (),
        )
        for path, cls in modules.items()
    )


def explained(npu: Tree, bench: Tree, path: str) -> Explanation:
    return explain(align(npu, bench), npu.id_of()[path])


LEFT = tree(
    {
        "attn": "Attention",
        "attn.wq": "Linear",
        "attn.wk": "Linear",
        "attn.wv": "Linear",
        "attn.wo": "Linear",
        "drop": "Dropout",
        "zz": "Odd",
        "zz.yy": "Odder",
        "layers": "ModuleList",
        "layers.0": "Block",
        "layers.0.fc": "Linear",
        "layers.1": "Block",
        "layers.1.fc": "Linear",
    },
    {"attn.wq": (8, 8), "attn.wk": (4, 8), "attn.wv": (4, 8), "attn.wo": (8, 8)},
)
RIGHT = tree(
    {
        "self_attn": "SelfAttention",
        "self_attn.q_proj": "Linear",
        "self_attn.k_proj": "Linear",
        "self_attn.v_proj": "Linear",
        "self_attn.o_proj": "Linear",
        "dropout": "Dropout",
        "blocks": "ModuleList",
        "blocks.0": "Block",
        "blocks.0.fc": "Linear",
        "blocks.1": "Block",
        "blocks.1.fc": "Linear",
    },
    {"self_attn.q_proj": (8, 8), "self_attn.k_proj": (4, 8), "self_attn.v_proj": (4, 8), "self_attn.o_proj": (8, 8)},
)


@pytest.mark.parametrize("name", ["seed-qwen2_5-vl", "seed-layer-mapping-example", "core-bert-vs-hf"])
def test_shares_sum_up_to_the_value_that_the_pairs_were_found_with(name: str) -> None:
    pair = next(pairs(only=name))
    sides = [fold(side.source.tree, traits_of(side.source.tree)) for side in (pair.npu, pair.bench)]
    scorer = PairScorer(sides[0], sides[1], Weights())
    count = 0
    for one, a in enumerate(sides[0].first):
        for other, b in enumerate(sides[1].first):
            assert isclose(sum(scorer.shares(a, b).values()), scorer.own(one, other), abs_tol=1e-9)
            count += 1
    assert count > 100


def test_the_chosen_pair_and_who_has_the_others() -> None:
    found = explained(LEFT, RIGHT, "attn.wq")
    assert found.role == "attn.q"
    assert found.pair is not None
    assert found.chosen is not None
    assert RIGHT.paths[found.chosen.bench] == "self_attn.q_proj"
    assert found.chosen.taken == found.npu
    shares = dict(found.chosen.shares)
    assert shares["name"] > 2
    assert shares["shape"] == Weights().shape_equal
    assert shares["parent"] == shares["order"] == shares["children"] == 0
    beside = {RIGHT.paths[other.bench]: LEFT.paths[other.taken or 0] for other in found.others}
    assert beside["self_attn.o_proj"] == "attn.wo"
    assert len(beside) == 3
    assert all(other.total < found.chosen.total for other in found.others)
    totals = [other.total for other in found.others]
    assert totals == sorted(totals, reverse=True)


def test_what_is_elsewhere_pays_for_it_and_what_is_in_it_counts() -> None:
    found = explained(LEFT, RIGHT, "attn.wo")
    elsewhere = [other for other in found.others if not RIGHT.paths[other.bench].startswith("self_attn")]
    assert all(dict(other.shares)["parent"] == -Weights().leftover for other in elsewhere)
    inner = explained(LEFT, RIGHT, "attn")
    assert inner.chosen is not None
    assert dict(inner.chosen.shares)["children"] > 5


def test_layers_differ_by_their_order_alone() -> None:
    found = explained(LEFT, RIGHT, "layers.1")
    assert found.chosen is not None
    assert RIGHT.paths[found.chosen.bench] == "blocks.1"
    first = found.others[0]
    assert RIGHT.paths[first.bench] == "blocks.0"
    differing = [part for part, share in found.chosen.shares if dict(first.shares)[part] != share]
    assert differing == ["order"]


def test_a_node_without_counterpart_shows_what_was_not_good_enough() -> None:
    found = explained(LEFT, RIGHT, "zz")
    assert (found.pair, found.chosen) == (None, None)
    assert found.others
    assert all(other.total < 0 for other in found.others if other.taken is None)


def test_below_a_node_without_counterpart_the_next_one_above_is_the_home() -> None:
    found = explained(LEFT, RIGHT, "zz.yy")
    assert found.chosen is None
    assert all(dict(other.shares)["parent"] == 0 for other in found.others)


def test_containers_are_compared_with_containers() -> None:
    found = explained(LEFT, RIGHT, "layers")
    assert found.chosen is not None
    assert RIGHT.paths[found.chosen.bench] == "blocks"
    assert found.others == ()


def test_what_another_chunk_stands_for_has_no_evidence_of_its_own() -> None:
    blocks = {f"decoder.layers.{n}": "TransformerLayer" for n in range(2)}
    blocks |= {f"decoder.layers.{n}.mlp": "MLP" for n in range(2)} | {"decoder": "Decoder"}
    chunks = tree({f"{chunk}.{path}": cls for chunk in "01" for path, cls in blocks.items()} | {"0": "DDP", "1": "DDP"})
    whole = {f"model.layers.{n}": "DecoderLayer" for n in range(4)}
    whole |= {f"model.layers.{n}.mlp": "MLP" for n in range(4)} | {"model": "Model"}
    alone = explained(chunks, tree(whole), "1.decoder")
    assert (alone.chosen, alone.others) == (None, ())
    moved = explained(chunks, tree(whole), "1.decoder.layers.0.mlp")
    assert moved.chosen is not None
    assert tree(whole).paths[moved.chosen.bench] == "model.layers.2.mlp"
