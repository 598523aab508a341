"""Assignment: the optimum, the same one as scipy's where there are several, and nothing heavy for small networks."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from matcher import assign as module
from matcher.assign import assign


def by_scipy(values: list[list[float]]) -> tuple[float, tuple[tuple[int, int], ...]]:
    matrix = np.maximum(np.array(values), 0.0)
    rows, columns = linear_sum_assignment(matrix, maximize=True)
    chosen = [(int(r), int(c)) for r, c in zip(rows, columns, strict=True) if matrix[r, c] > 0.0]
    return float(sum(matrix[r, c] for r, c in chosen)), tuple(chosen)


@pytest.mark.parametrize("steps", [3, 10, 10**9])
def test_the_same_assignment_as_scipy_even_among_equally_good_ones(steps: int) -> None:
    rng = random.Random(steps)
    for _ in range(600):
        height, width = rng.randint(1, 12), rng.randint(1, 12)
        values = [[rng.randint(-steps, steps) / 7 for _ in range(width)] for _ in range(height)]
        greedy = [max(line) for line in values if max(line) > 0]
        total, links = assign(values)
        expected, chosen = by_scipy(values)
        assert total == pytest.approx(expected)
        if len({line.index(best) for line in values if (best := max(line)) > 0}) < len(greedy):
            assert links == chosen
            assert total == expected


def test_a_large_problem_is_left_to_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    values = [[rng.uniform(-1, 1) for _ in range(9)] for _ in range(8)]
    values[1] = values[0]
    expected = assign(values)
    monkeypatch.setattr(module, "_SMALL", 2)
    assert assign(values) == expected
