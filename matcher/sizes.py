"""Whether two kinds of modules return tensors of one size: elements, whatever the order of the axes.

Megatron computes in (sequence, batch, hidden) and transformers in (batch, sequence, hidden), so shapes differ where
sizes do not. Sizes only count where the two runs saw an equally large input, which shows in how many of them are found
on the other side at all. Limits: a padded vocabulary and the shards of tensor parallelism make equal things unequal, by
a few percent or a whole factor; such sizes say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .fold import Folded

_TRUSTED = 0.6  # share of the kinds whose size is found on the other side from which on the inputs are equally large
_PADDED = 1.1  # ratio up to which a size may be padded: the vocabulary of a small network to a multiple of 128


@dataclass(frozen=True, slots=True)
class Sizes:
    """The elements of the first result, by kind, of either side."""

    left: Mapping[int, int]
    right: Mapping[int, int]

    def value(self, one: int, other: int) -> float:
        """1 for equal sizes, -1 for sizes that have nothing to do with each other, 0 where nothing is known."""
        ours, theirs = self.left.get(one, 0), self.right.get(other, 0)
        if not ours or not theirs:
            return 0.0
        if ours == theirs:
            return 1.0
        small, large = sorted((ours, theirs))
        return 0.0 if large % small == 0 or large < _PADDED * small else -1.0


def result_sizes(left: Folded, right: Folded) -> Sizes | None:
    """The sizes of two runs, None where a side has none or the inputs were of unequal size; linear in kinds."""
    here, there = _sizes(left), _sizes(right)
    ours, theirs = set(here.values()), set(there.values())
    found = [size in theirs for size in here.values()] + [size in ours for size in there.values()]
    if not here or not there or sum(found) < _TRUSTED * len(found):
        return None
    return Sizes(here, there)


def _sizes(side: Folded) -> dict[int, int]:
    known = ((kind, side.tree.outputs[node]) for kind, node in enumerate(side.first))
    return {kind: numbers.size for kind, numbers in known if numbers is not None}
