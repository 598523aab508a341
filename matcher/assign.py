"""One-to-one assignment of greatest total value, with staying unmatched worth zero. The only user of numpy and scipy.

Hungarian assignment by shortest augmenting paths (Jonker and Volgenant, 1987; Crouse, 2016) on a matrix whose negative
values are raised to zero, which prices abstaining: a pair that is worth less than nothing is never made. Where every
row's best column is another one, that is the optimum already. Small problems, which nearly all are, are solved here,
step by step as scipy's ``linear_sum_assignment`` does, ties included; only for large ones, where it pays to load it,
scipy is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

Links = tuple[tuple[int, int], ...]

_SMALL = 64  # shorter side of a matrix that is solved without scipy: loading that takes as long as a thousand of them


def assign(values: Sequence[Sequence[float]]) -> tuple[float, Links]:
    """Total value and the (row, column) links, by row; only links of positive value. ``values`` is a full matrix."""
    links: list[tuple[int, int]] = []
    taken: set[int] = set()
    total = 0.0
    for row, line in enumerate(values):
        best = max(line, default=0.0)
        if best <= 0.0:
            continue
        column = line.index(best)
        if column in taken:
            return _hungarian(values)
        taken.add(column)
        total += best
        links.append((row, column))
    return total, tuple(links)


def _hungarian(values: Sequence[Sequence[float]]) -> tuple[float, Links]:
    height, width = len(values), len(values[0])
    if min(height, width) > _SMALL:
        return _by_scipy(values)
    wide = height <= width
    lines = values if wide else list(zip(*values, strict=True))
    found = solved([[-value if value > 0.0 else 0.0 for value in line] for line in lines])
    pairs = enumerate(found) if wide else sorted((row, column) for column, row in enumerate(found))
    chosen = tuple((row, column) for row, column in pairs if values[row][column] > 0.0)
    return sum((values[row][column] for row, column in chosen), 0.0), chosen


def solved(cost: Sequence[Sequence[float]]) -> list[int]:
    """The column of every row in an assignment of least cost; there are no fewer columns than rows."""
    height, width = len(cost), len(cost[0])
    prices, discounts = [0.0] * height, [0.0] * width  # the dual variables of rows and columns
    column_of, row_of = [-1] * height, [-1] * width
    for start in range(height):
        reach, came_from = [inf] * width, [-1] * width
        rows, columns = [start], list[int]()
        unseen = list(range(width - 1, -1, -1))
        distance = 0.0
        while True:
            at = rows[-1]
            line, price = cost[at], prices[at]
            lowest, chosen = inf, -1
            for place, column in enumerate(unseen):
                length = distance + line[column] - price - discounts[column]
                if length < reach[column]:
                    reach[column], came_from[column] = length, at
                else:
                    length = reach[column]
                if length < lowest or (length == lowest and row_of[column] < 0):
                    lowest, chosen = length, place
            distance = lowest
            columns.append(unseen[chosen])
            unseen[chosen] = unseen[-1]
            unseen.pop()
            if row_of[columns[-1]] < 0:
                break
            rows.append(row_of[columns[-1]])
        prices[start] += distance
        for row in rows[1:]:
            prices[row] += distance - reach[column_of[row]]
        for column in columns:
            discounts[column] -= distance - reach[column]
        _augment(columns[-1], start, came_from, column_of, row_of)
    return column_of


def _augment(column: int, start: int, came_from: list[int], column_of: list[int], row_of: list[int]) -> None:
    """Hand every row on the path to a free column its next column."""
    row = -1
    while row != start:
        row = row_of[column] = came_from[column]
        column_of[row], column = column, column_of[row]


def _by_scipy(values: Sequence[Sequence[float]]) -> tuple[float, Links]:
    import numpy as np  # noqa: PLC0415  start-up: hardly any network needs it
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415

    matrix = np.maximum(np.array(values, dtype=float), 0.0)
    rows, columns = linear_sum_assignment(matrix, maximize=True)
    chosen = [(int(r), int(c)) for r, c in zip(rows, columns, strict=True) if matrix[r, c] > 0.0]
    return float(sum(matrix[r, c] for r, c in chosen)), tuple(chosen)
