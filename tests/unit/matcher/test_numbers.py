"""How close statistics are, and what their agreement says for kinds of modules."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from matcher import Module, Numbers, Tree, align
from matcher.agreement import agreement
from matcher.fold import Folded, fold
from matcher.numbers import closeness, comparable, difference
from matcher.traits import traits_of

ONE = Numbers(64, 2.0, -1.0, 0.5, 8.0)


def test_equal_statistics_are_as_close_as_can_be() -> None:
    assert difference(ONE, replace(ONE)) == 0.0
    assert closeness(ONE, replace(ONE)) == 1.0


def test_closeness_fades_with_the_relative_difference() -> None:
    steps = [closeness(ONE, replace(ONE, high=2.0 * (1 + apart))) for apart in (1e-5, 1e-3, 1e-2, 1e-1)]
    assert steps == sorted(steps, reverse=True)
    assert steps[0] > 0.99
    assert steps[-1] == 0.0


def test_another_size_or_another_kind_of_dump_is_another_tensor() -> None:
    assert math.isinf(difference(ONE, replace(ONE, size=32)))
    assert math.isinf(difference(ONE, Numbers(64, digest="ab")))


def test_digests_are_equal_or_not() -> None:
    assert closeness(Numbers(8, digest="ab"), Numbers(8, digest="ab")) == 1.0
    assert closeness(Numbers(8, digest="ab"), Numbers(8, digest="cd")) == 0.0


def test_digests_that_differ_leave_the_word_to_the_figures() -> None:
    rounded = replace(ONE, high=2.0001, digest="cd")
    assert difference(replace(ONE, digest="ab"), replace(ONE, high=9.0, digest="ab")) == 0.0
    assert 0.0 < difference(replace(ONE, digest="ab"), rounded) < 1e-3
    assert difference(ONE, rounded) == difference(replace(ONE, digest="ab"), rounded)
    assert not comparable(ONE, Numbers(64, digest="ab"))
    assert not replace(ONE, high=-1.0, digest="ab").telling


def test_only_figures_that_both_tell_are_compared() -> None:
    whole = Numbers(64, 5.0, 0.0)
    assert difference(whole, replace(ONE, high=5.0, low=0.0)) == 0.0
    assert difference(whole, replace(whole, high=4.0)) == pytest.approx(0.2)
    assert not comparable(whole, Numbers(64, mean=1.0, norm=1.0))
    assert (whole.measured, whole.telling, ONE.measured) == (False, False, True)


def test_what_is_no_number_here_and_there_is_equal() -> None:
    broken = replace(ONE, mean=math.nan, norm=math.nan)
    assert difference(broken, replace(broken)) == 0.0
    assert math.isinf(difference(broken, ONE))


def test_infinities_are_equal_and_no_number_equals_none() -> None:
    masked = replace(ONE, low=-math.inf, mean=-math.inf, norm=math.inf)
    assert difference(masked, replace(masked)) == 0.0
    assert math.isinf(difference(ONE, replace(ONE, mean=math.nan)))
    assert math.isinf(difference(Numbers(4), Numbers(4, mean=1.0)))
    assert math.isinf(difference(Numbers(4, 0.0, 0.0), Numbers(4, 0.0, -math.inf)))


def test_constant_and_infinite_tensors_tell_nothing() -> None:
    assert ONE.telling
    assert Numbers(8, digest="ab").telling
    assert not Numbers(64, 1.0, 1.0, 1.0, 8.0).telling
    assert not replace(ONE, norm=math.inf).telling


def side(*outputs: Numbers | None, names: tuple[str, ...] = ()) -> Folded:
    steps = names or tuple(str(index) for index in range(len(outputs)))
    tree = Tree.build(Module(f"m.{step}", "Linear", output=found) for step, found in zip(steps, outputs, strict=True))
    return fold(tree, traits_of(tree))


def test_the_kth_of_a_kind_is_held_against_the_kth_or_one_a_constant_number_on() -> None:
    layers = [replace(ONE, norm=float(10 + n)) for n in range(4)]
    left, right = side(*layers[1:]), side(*layers)
    found = agreement(left, right, left.tree.outputs, right.tree.outputs)
    assert found is not None
    assert found.value(left.kind[-1], right.kind[-1]) == pytest.approx(1.0)


def test_what_agrees_elsewhere_speaks_against_a_pair() -> None:
    apart = replace(ONE, norm=20.0)
    left, right = side(ONE, apart, names=("a", "b")), side(ONE, apart, names=("x", "y"))
    found = agreement(left, right, left.tree.outputs, right.tree.outputs)
    assert found is not None
    kind_of = {name: left.kind[node] for node, name in enumerate(left.tree.names)}
    other_of = {name: right.kind[node] for node, name in enumerate(right.tree.names)}
    assert found.value(kind_of["a"], other_of["x"]) == pytest.approx(1.0)
    assert found.value(kind_of["a"], other_of["y"]) == pytest.approx(-1.0)


def test_a_side_without_numbers_says_nothing() -> None:
    left, right = side(ONE), side(None)
    assert agreement(left, right, left.tree.outputs, right.tree.outputs) is None


def test_of_many_tensors_of_like_norm_only_the_nearest_are_looked_at() -> None:
    crowd = [replace(ONE, norm=8.0 + n * 1e-4, high=2.0 + n) for n in range(60)]
    left, right = side(crowd[30]), side(*crowd)
    found = agreement(left, right, left.tree.outputs, right.tree.outputs)
    assert found is not None
    assert found.value(left.kind[-1], right.kind[-1]) == pytest.approx(1.0)


def test_kinds_of_md5_dumps_agree_by_digest_and_else_by_figures() -> None:
    left, right = side(Numbers(8, digest="ab"), Numbers(8, digest="cd")), side(Numbers(8, digest="ab"))
    found = agreement(left, right, left.tree.outputs, right.tree.outputs)
    assert found is not None
    assert found.shares == {(left.kind[-2], right.kind[-1]): 1.0}
    both = side(replace(ONE, digest="ab")), side(replace(ONE, digest="cd"))
    seen = agreement(*both, both[0].tree.outputs, both[1].tree.outputs)
    assert seen is not None
    assert seen.value(both[0].kind[-1], both[1].kind[-1]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("ours", "theirs", "told"),
    [
        (ONE, ONE, 1.0),
        (ONE, Numbers(64, 200.0, -1.0, 0.5, 80.0), 0.0),
        (ONE, Numbers(32, 2.0, -1.0, 0.5, 8.0), None),  # a shard of the other
        (ONE, Numbers(64, digest="ab"), None),
        (ONE, None, None),
        (Numbers(64, 1.0, 1.0, 1.0, 8.0), Numbers(64, 1.0, 1.0, 1.0, 8.0), None),  # fresh norms are all alike
    ],
)
def test_evidence_tells_what_can_be_held_against_each_other(
    ours: Numbers, theirs: Numbers | None, told: float | None
) -> None:
    left, right = (
        Tree.build([Module("m", "Net"), Module("m.fc", "Linear", output=found, weight=found)])
        for found in (ours, theirs)
    )
    evidence = next(pair.evidence for pair in align(left, right).pairs if left.paths[pair.npu] == "m.fc")
    assert (evidence.output, evidence.weight) == (told, told)


def test_the_evidence_of_repeated_layers_is_each_ones_own() -> None:
    def network(outputs: tuple[Numbers, ...]) -> Tree:
        layers = [Module(f"layers.{n}", "Layer", output=found) for n, found in enumerate(outputs)]
        return Tree.build([*layers, *(Module(f"layers.{n}.fc", "Linear") for n in range(len(outputs)))])

    drifted = replace(ONE, high=200.0)
    pairs = align(network((ONE, ONE, ONE)), network((ONE, drifted, ONE))).pairs
    told = [pair.evidence.output for pair in pairs if pair.evidence.output is not None]
    assert told == [1.0, 0.0, 1.0]
