"""Two networks of unequal width: shapes are held against each other in multiples of the width."""

from __future__ import annotations

import pytest

from matcher import Module, Tree, align
from matcher.shapes import unequal_widths
from matcher.traits import traits_of


def block(width: int, names: tuple[str, str, str]) -> Tree:
    up, down, norm = names
    shapes = {norm: (width,), up: (4 * width, width), down: (width, 4 * width)}
    return Tree.build(Module(name, "Linear", params=(("weight", shape),)) for name, shape in shapes.items())


def test_the_width_is_the_most_frequent_extent_where_no_shape_is_shared() -> None:
    names = ("up", "down", "norm")
    small, large = block(32, names), block(64, names)
    assert unequal_widths(traits_of(small), traits_of(large)) == (32, 64)
    assert unequal_widths(traits_of(small), traits_of(small)) is None
    assert unequal_widths(traits_of(small), traits_of(Tree.build([Module("a", "Linear")]))) is None


@pytest.mark.parametrize("names", [("up", "down", "norm"), ("q1z", "q2z", "q3z")])
def test_shapes_in_proportion_pair_what_equal_shapes_would(names: tuple[str, str, str]) -> None:
    alignment = align(block(32, names), block(64, ("up", "down", "norm")))
    found = {alignment.npu.names[pair.npu]: alignment.bench.names[pair.bench] for pair in alignment.pairs}
    assert found == dict(zip(names, ("up", "down", "norm"), strict=True))
