"""How the shapes of two parameters compare, and whether two networks are of one width at all.

The relations are those that a port makes: a Conv1D keeps its weight transposed, a vocabulary is padded, query, key and
value are fused or split, and a run for debugging is narrower than the reference. Limits: a shape alone says nothing of
which half of a fused weight is which, and extents of one are no part of a shape here (`matcher.genus.main_shape`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .traits import Trait

_FEW_SHAPES = 3  # two networks with fewer different shapes may have none in common by chance


def shape_relation(one: tuple[int, ...], other: tuple[int, ...]) -> str:
    """How two shapes compare.

    ``equal``; ``transposed`` (a matrix); ``compatible`` (a matrix padded, split or fused on one axis); ``differs`` (as
    many axes, some of them equal); ``clash``.
    """
    if one == other:
        return "equal"
    if len(one) == len(other) == 2:
        if one == other[::-1]:
            return "transposed"
        if _one_axis_differs(one, other) or _one_axis_differs(one, other[::-1]):
            return "compatible"
    alike = len(one) == len(other) and any(a == b for a, b in zip(one, other, strict=True))
    return "differs" if alike else "clash"


def _one_axis_differs(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether one axis is equal and the other could be padded (2 %), split among up to 16, or fused unevenly."""
    for same, free in ((0, 1), (1, 0)):
        low, high = sorted((one[free], other[free]))
        if one[same] == other[same]:
            return (high % low == 0 and high // low <= 16) or high - low <= 0.02 * high or low * 1.1 < high <= low * 2
    return False


def unequal_widths(left: Sequence[Trait], right: Sequence[Trait]) -> tuple[int, int] | None:
    """The widths (most frequent extents) of two networks that have no shape in common; None where they have some.

    A port is often debugged at another size than the reference ran at; then no shape can be equal.
    """
    ours, theirs = (Counter(trait.shape for trait in side if trait.shape) for side in (left, right))
    if min(len(ours), len(theirs)) < _FEW_SHAPES or any(shape in theirs or shape[::-1] in theirs for shape in ours):
        return None
    widths = []
    for shapes in (ours, theirs):
        extents: Counter[int] = Counter()
        for shape, count in shapes.items():
            for extent in shape:
                extents[extent] += count
        widths.append(max(extents, key=lambda extent: (extents[extent], extent)))
    return widths[0], widths[1]
