"""Sizes of results: what they say for a pair of kinds, and when nothing."""

from __future__ import annotations

import pytest

from matcher import Module, Numbers, Tree, align
from matcher.fold import Folded, fold
from matcher.sizes import result_sizes
from matcher.traits import traits_of


def run(sizes: dict[str, int]) -> Folded:
    """Modules that returned so many elements; 0 for those of which nothing is known."""
    tree = Tree.build(
        Module(name, name.title(), output=Numbers(size) if size else None) for name, size in sizes.items()
    )
    return fold(tree, traits_of(tree))


@pytest.mark.parametrize(
    ("one", "other", "value"),
    [
        ("embed", "tok", 1.0),
        ("embed", "up", 0.0),  # a whole factor: a shard, or three projections in one
        ("head", "lm", 0.0),  # a padded vocabulary
        ("head", "tok", -1.0),
        ("embed", "mask", 0.0),
        ("rope", "mask", 0.0),
    ],
)
def test_equal_sizes_speak_for_a_pair_and_unrelated_ones_against_it(one: str, other: str, value: float) -> None:
    left = run({"embed": 64, "fc": 256, "head": 100, "rope": 0})
    right = run({"tok": 64, "up": 256, "lm": 104, "mask": 0})
    sizes = result_sizes(left, right)
    assert sizes is not None
    kinds = left.kind[left.tree.id_of()[one]], right.kind[right.tree.id_of()[other]]
    assert sizes.value(*kinds) == value


def test_inputs_of_unequal_size_say_nothing() -> None:
    assert result_sizes(run({"a": 64, "b": 256}), run({"a": 96, "b": 384})) is None


def test_a_side_without_results_says_nothing() -> None:
    assert result_sizes(run({"a": 64}), run({"a": 0})) is None
    assert result_sizes(run({"a": 0}), run({"a": 64})) is None


def test_modules_without_parameters_are_told_apart_by_what_they_return() -> None:
    left, right = run({"zxq": 64, "vbw": 640}).tree, run({"dropout": 640, "rotate": 64}).tree
    found = {left.names[pair.npu]: right.names[pair.bench] for pair in align(left, right).pairs}
    assert found["zxq"] == "rotate"
    assert found.get("vbw") != "rotate"
