"""Levels of nodes, what stands in the place of a dissolved one, and the bound that spares looking at it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.corpus import PAIRS, pairs
from matcher import Module, Tree, Weights
from matcher.fold import Folded, fold
from matcher.forest import Aligner
from matcher.levels import Levels
from matcher.names import words
from matcher.traits import traits_of


def side(tree: Tree) -> Folded:
    return fold(tree, traits_of(tree))


def model(layers: int) -> Tree:
    found = [Module("model", "Model")]
    for n in range(layers):
        found += [Module(f"model.layers.{n}.norm", "RMSNorm"), Module(f"model.layers.{n}.mlp", "MLP")]
    return Tree.build([*found, Module("head", "Linear")])


def test_a_level_is_described_by_its_keys_genera_and_lists() -> None:
    tree = model(3)
    levels, at = Levels(side(tree)), tree.id_of()
    nodes = (*tree.children[at["model.layers"]], at["head"])
    level = levels.level(nodes)
    assert level.keys == (*[level.keys[0]] * 3, level.keys[3])
    assert level.kinds == (level.keys[0], level.keys[3])
    assert level.lists == [[0, 1, 2]]
    assert level.places[-1] == ("matrix", 0.0)
    assert "matrix" in level.lone
    assert not level.listed
    assert levels.level((at["model.layers"],)).listed
    assert levels.level(nodes) is level


@pytest.mark.parametrize(("layers", "whole", "short", "length"), [(3, 10, 10, 3), (40, 121, 13, 1)])
def test_what_replaces_a_node_counts_all_that_could_be_paired(layers: int, whole: int, short: int, length: int) -> None:
    """Against anything but a list, only the first few equal items of a long one are ever paired."""
    tree = model(layers)
    chain = Levels(side(tree)).chain(tree.id_of()["model"])
    assert chain[0].nodes == tree.children[tree.id_of()["model"]]
    assert chain[0].size == (whole, short)
    assert len(chain) == length


@pytest.mark.parametrize("name", sorted(path.parent.name for path in Path(PAIRS).glob("*/gold.json"))[::6])
def test_no_pair_is_worth_more_than_the_ceiling(name: str) -> None:
    for pair in pairs(only=name):
        aligner = Aligner(side(pair.npu.source.tree), side(pair.bench.source.tree), Weights())
        values = [aligner.scorer.own(a, b) for a in range(len(aligner.left)) for b in range(len(aligner.right))]
        assert max(values) + aligner.weights.block + aligner.weights.only <= aligner.scorer.ceiling


def test_a_pair_can_reach_the_ceiling_but_for_its_surroundings() -> None:
    tree = Tree.build([Module("q_proj", "Linear", params=(("weight", (8, 4)),))])
    aligner = Aligner(side(tree), side(tree), Weights())
    w = aligner.weights
    likely = w.name * (1 - w.name_middle) + w.genus_equal + 0.7 * w.cls + w.shape_equal + w.bias
    assert aligner.own(1, 1) == pytest.approx(likely)
    assert aligner.scorer.ceiling == pytest.approx(likely + 0.3 * w.cls - w.bias + w.shared + w.block + w.only)


def test_whole_identifiers_of_lower_case_are_words_as_they_are() -> None:
    assert words("output.layer_norm") == ("output", "layer", "norm")
    assert words("outputLayer") == ("output", "layer")
