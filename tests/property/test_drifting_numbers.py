"""Numbers of two runs help where names do not, and never hurt where runs differ: real dumps, disturbed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.numbers import disguised, without_numbers
from matcher import Alignment, Numbers, Tree, align
from suggest.read import read_pair

DUMPS = Path(__file__).parents[1] / "data" / "dumps" / "gpt__legacy_core"
Found = dict[str, str]


@cache
def trees() -> tuple[Tree, Tree]:
    npu, bench = read_pair(str(DUMPS / "left"), str(DUMPS / "right"))
    return npu.tree, bench.tree


def pairs(alignment: Alignment) -> Found:
    npu, bench = alignment.npu, alignment.bench
    return {npu.paths[pair.npu]: bench.paths[pair.bench] for pair in alignment.pairs}


@cache
def by_names() -> Found:
    npu, bench = trees()
    return pairs(align(without_numbers(npu), without_numbers(bench)))


def noisy(numbers: Numbers | None, noise: float, random: Random) -> Numbers | None:
    if numbers is None:
        return None
    high, low, mean, norm = (
        None if value is None else value * (1.0 + random.uniform(-noise, noise)) for value in numbers.figures
    )
    return replace(numbers, high=high, low=low, mean=mean, norm=norm)


def lost(npu: Tree, bench: Tree) -> Found:
    found = pairs(align(npu, bench))
    return {a: b for a, b in by_names().items() if found.get(a) != b}


def test_equal_runs_lose_nothing() -> None:
    assert lost(*trees()) == {}


@settings(deadline=None, max_examples=12)
@given(st.sampled_from([1e-3, 1e-2, 1e-1]), st.integers(0, 3), st.integers(0, 1000))
def test_runs_that_drift_apart_from_a_layer_on_lose_nothing(noise: float, layer: int, seed: int) -> None:
    npu, bench = trees()
    random = Random(seed)
    start = next((i for i, path in enumerate(npu.paths) if path.endswith(f"layers.{layer}")), len(npu))
    outputs = tuple(
        noisy(numbers, noise, random) if node >= start else numbers for node, numbers in enumerate(npu.outputs)
    )
    assert lost(replace(npu, outputs=outputs), bench) == {}


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 1000))
def test_other_weights_lose_nothing(seed: int) -> None:
    npu, bench = trees()
    random = Random(seed)
    outputs = tuple(noisy(numbers, 0.5, random) for numbers in npu.outputs)
    weights = tuple(noisy(numbers, 0.5, random) for numbers in npu.weights)
    assert lost(replace(npu, outputs=outputs, weights=weights), bench) == {}


def test_halved_parameters_of_tensor_parallel_ranks_lose_nothing() -> None:
    npu, bench = trees()
    halved = tuple(
        numbers if numbers is None or len(params[0][1]) < 2 else replace(numbers, size=numbers.size // 2)
        for numbers, params in zip(npu.weights, npu.params, strict=True)
    )
    shapes = tuple(
        tuple((name, (shape[0] // 2, *shape[1:]) if len(shape) > 1 else shape) for name, shape in params)
        for params in npu.params
    )
    assert lost(replace(npu, weights=halved, params=shapes), bench) == {}


@pytest.mark.parametrize("share", [2, 8])
def test_halved_results_of_tensor_parallel_ranks_lose_nothing(share: int) -> None:
    npu, bench = trees()
    halved = tuple(
        numbers if numbers is None or "linear" not in cls.lower() else replace(numbers, size=numbers.size // share)
        for numbers, cls in zip(npu.outputs, npu.classes, strict=True)
    )
    assert halved != npu.outputs
    assert lost(replace(npu, outputs=halved), bench) == {}


def test_another_batch_size_loses_nothing() -> None:
    npu, bench = trees()
    longer = tuple(numbers and replace(numbers, size=3 * numbers.size) for numbers in npu.outputs)
    assert lost(replace(npu, outputs=longer), bench) == {}


@pytest.mark.parametrize("turned", [False, True])
def test_numbers_find_what_meaningless_names_hide(*, turned: bool) -> None:
    npu, bench = trees()[::-1] if turned else trees()
    hidden, moved = disguised(npu, 1.0)
    known = {b: a for a, b in by_names().items()} if turned else by_names()
    wanted = {moved[a]: b for a, b in known.items() if npu.called[npu.id_of()[a]]}
    found = pairs(align(hidden, bench))
    blind = pairs(align(without_numbers(hidden), bench))
    right = sum(found.get(a) == b for a, b in wanted.items())
    assert right == len(wanted)
    assert right > sum(blind.get(a) == b for a, b in wanted.items())
