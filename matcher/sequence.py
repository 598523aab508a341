"""Align two numbered lists (``layers.0 ... layers.27``) element by element, keeping their order.

Order is what tells equal layers apart, so this is global sequence alignment (Needleman and Wunsch, 1970) with free
gaps: dense, MoE and MTP layers of one list find their like. Ties go to equal positions. A list that runs the other way
round (a reversed ``up`` path) is worth more backwards. No other order is considered: nobody shuffles the stages of a
network, and an odd module in one stage would be enough to suggest it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from .assign import Links

_TIE = 1e-4  # preference for equal positions: far below any evidence, far above rounding
_WORTH_CROSSING = 1.0  # log odds that an alignment backwards must gain to be believed,
_MUCH_MORE = 1.15  # and how many times the worth of the ordered one: one odd element does not turn a list


def align_sequences(
    values: list[list[float]], rows: Sequence[int], columns: Sequence[int], *, loose: bool = False
) -> tuple[float, Links]:
    """Total value and (row, column) links of the best order-preserving alignment; ``values[row][column]`` is full.

    ``rows`` and ``columns`` are the kinds of the elements: elements of one kind are in order in any case.
    ``loose`` says that the names already suggest that one list may run backwards.
    """
    flat = values[0][0]
    if flat > 0 and all(entry == flat for line in values for entry in line):
        count = min(len(values), len(values[0]))
        return flat * count, tuple((row, row) for row in range(count))
    ordered, links = _needleman_wunsch(values)
    turned, turned_links = _needleman_wunsch([line[::-1] for line in values])
    if turned > ordered * (1.0 if loose else _MUCH_MORE) + _WORTH_CROSSING:
        last = len(values[0]) - 1
        return turned, uncrossed(tuple((row, last - column) for row, column in turned_links), rows, columns)
    return ordered, links


def uncrossed(found: Links, rows: Sequence[Hashable], columns: Sequence[Hashable]) -> Links:
    """The same links, but where kinds are equal in order: the first of its kind here with the first there."""
    groups: dict[tuple[Hashable, Hashable], tuple[list[int], list[int]]] = {}
    for row, column in found:
        ours, theirs = groups.setdefault((rows[row], columns[column]), ([], []))
        ours.append(row)
        theirs.append(column)
    if len(groups) == len(found):
        return found
    return tuple(sorted(pair for ours, theirs in groups.values() for pair in zip(ours, sorted(theirs), strict=True)))


def _needleman_wunsch(values: list[list[float]]) -> tuple[float, Links]:
    height, width = len(values), len(values[0])
    best = [[0.0] * (width + 1) for _ in range(height + 1)]
    for row in range(height - 1, -1, -1):
        line, below = best[row], best[row + 1]
        for column in range(width - 1, -1, -1):
            gain = values[row][column]
            taken = gain + below[column + 1] + (_TIE if row == column else 0.0) if gain > 0 else -1.0
            line[column] = max(taken, below[column], line[column + 1])
    links, row, column, total = [], 0, 0, 0.0
    while row < height and column < width:
        gain = values[row][column]
        taken = gain + best[row + 1][column + 1] + (_TIE if row == column else 0.0) if gain > 0 else -1.0
        if taken >= best[row][column] and gain > 0:
            links.append((row, column))
            total += gain
            row, column = row + 1, column + 1
        elif best[row + 1][column] >= best[row][column + 1]:
            row += 1
        else:
            column += 1
    return total, tuple(links)
