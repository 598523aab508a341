"""One-to-one assignment of greatest total value, with staying unmatched worth zero. The only user of numpy and scipy.

Hungarian assignment (scipy's ``linear_sum_assignment``, Jonker-Volgenant) on a matrix whose negative values are raised
to zero, which prices abstaining: a pair that is worth less than nothing is never made. Where every row's best column is
another one, that is the optimum already, and nothing heavy is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence

Links = tuple[tuple[int, int], ...]


def assign(values: Sequence[Sequence[float]]) -> tuple[float, Links]:
    """Total value and the (row, column) links, by row; only links of positive value. ``values`` is a full matrix."""
    links: list[tuple[int, int]] = []
    taken: set[int] = set()
    total = 0.0
    for row, line in enumerate(values):
        best = max(line, default=0.0)
        if best <= 0.0:
            continue
        column = line.index(best) if isinstance(line, list) else list(line).index(best)
        if column in taken:
            return _hungarian(values)
        taken.add(column)
        total += best
        links.append((row, column))
    return total, tuple(links)


def _hungarian(values: Sequence[Sequence[float]]) -> tuple[float, Links]:
    import numpy as np  # noqa: PLC0415  start-up: most runs of small models never come here
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415

    matrix = np.maximum(np.array(values, dtype=float), 0.0)
    rows, columns = linear_sum_assignment(matrix, maximize=True)
    chosen = [(int(r), int(c)) for r, c in zip(rows, columns, strict=True) if matrix[r, c] > 0.0]
    return float(sum(matrix[r, c] for r, c in chosen)), tuple(chosen)
