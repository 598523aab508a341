"""How often modules run, against what is usual in their network."""

from __future__ import annotations

import pytest

from matcher import Module, Tree, Weights, align, explain
from matcher.calls import repeats_alike, usual_calls


def tree(calls: dict[str, int]) -> Tree:
    return Tree.build(
        Module(path, path.title(), called=count > 0, calls=max(count, 1)) for path, count in calls.items()
    )


def test_the_usual_number_is_that_of_most_modules_that_ran() -> None:
    assert usual_calls(tree({"a": 2, "b": 2, "c": 8, "list": 0})) == 2
    assert usual_calls(tree({"a": 4, "b": 2})) == 2
    assert usual_calls(tree({})) == 1


@pytest.mark.parametrize(
    ("one", "usual", "other", "usual_there", "alike"),
    [(8, 1, 8, 1, True), (16, 2, 8, 1, True), (1, 1, 1, 1, False), (8, 1, 1, 1, False), (8, 1, 4, 1, False)],
)
def test_multiples_are_compared(one: int, usual: int, other: int, usual_there: int, *, alike: bool) -> None:
    assert repeats_alike(one, usual, other, usual_there) == alike


def test_a_shared_module_goes_with_a_shared_one() -> None:
    npu = tree({"zxq": 2, "vbw": 8, "a": 2, "b": 2})
    bench = tree({"dropout": 4, "rotate": 1, "a": 1, "b": 1})
    found = explain(align(npu, bench), 2)
    shares = {bench.paths[one.bench]: dict(one.shares)["calls"] for one in (found.chosen, *found.others) if one}
    assert shares["dropout"] == Weights().shared
    assert {share for path, share in shares.items() if path != "dropout"} == {0.0}
