"""How far the numbers of two runs agree, kind by kind.

Every module with numbers is held against those of the other side whose tensor has the same size and nearly the same
norm. What is close is counted for the pair of their *kinds*, so that numbers help the alignment of folded subtrees
without unfolding them: of two kinds with 28 instances each, the k-th is expected to be close to the k-th, or, where one
side lacks some, to the one a constant number of places on. A kind's agreement counts beside the best that either of the
two has with anything, so that wrappers that hand on the output of their last child, and all norms of equal width, speak
for nobody; and a run that drifts away, or has other weights, makes all agreements small, and the evidence with them.

Limits: of several tensors that a module returns the first counts; instances in reversed order do not add up.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from .fold import Folded
from .numbers import FAR, Numbers, closeness

_NEAREST = 12  # of the tensors whose norm is near enough so many, the nearest, are looked at
_EQUAL = 0.9  # closeness of tensors that surely are the same
_TRUSTED = 0.2  # share of tensors with an equal one on the other side from which on the runs are taken to be comparable

Shares = dict[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class Agreement:
    """The share of two kinds' instances that agree, in [0, 1], and the best share that a kind has with any other."""

    shares: Mapping[tuple[int, int], float]
    best_left: Mapping[int, float]
    best_right: Mapping[int, float]
    trust: float

    def value(self, one: int, other: int) -> float:
        """What the numbers say for a pair of kinds, in [-1, 1]: 0 where they say nothing."""
        best = max(self.best_left.get(one, 0.0), self.best_right.get(other, 0.0))
        return self.trust * (2.0 * self.shares.get((one, other), 0.0) - best)


def agreement(
    left: Folded, right: Folded, ours: Sequence[Numbers | None], theirs: Sequence[Numbers | None]
) -> Agreement | None:
    """The agreement of one tensor of every node, None where a side has no numbers; linear in nodes, but for sorting."""
    here, there = _telling(ours), _telling(theirs)
    if not here or not there:
        return None
    ranks_left, ranks_right = _ranks(left, here), _ranks(right, there)
    sums: dict[tuple[int, int], dict[int, float]] = defaultdict(lambda: defaultdict(float))
    equal = 0
    for a, found in _close(here, there):
        equal += any(value > _EQUAL for _, value in found)
        for b, value in found:
            shift = ranks_right[b] - ranks_left[a]
            sums[left.kind[a], right.kind[b]][shift] += value
    sizes_left, sizes_right = (
        Counter(side.kind[node] for node in numbers) for side, numbers in ((left, here), (right, there))
    )
    shares = {
        (one, other): min(1.0, max(by_shift.values()) / min(sizes_left[one], sizes_right[other]))
        for (one, other), by_shift in sums.items()
    }
    return Agreement(
        shares=shares,
        best_left=_best(shares, 0),
        best_right=_best(shares, 1),
        trust=min(1.0, equal / min(len(here), len(there)) / _TRUSTED),
    )


def _telling(numbers: Sequence[Numbers | None]) -> dict[int, Numbers]:
    return {node: entry for node, entry in enumerate(numbers) if entry is not None and entry.telling}


def _ranks(side: Folded, numbers: Mapping[int, Numbers]) -> dict[int, int]:
    """For every node, how many of its kind with numbers stand before it."""
    count: dict[int, int] = defaultdict(int)
    ranks = {}
    for node in numbers:
        ranks[node] = count[side.kind[node]]
        count[side.kind[node]] += 1
    return ranks


def _best(shares: Shares, side: int) -> dict[int, float]:
    best: dict[int, float] = {}
    for kinds, share in shares.items():
        best[kinds[side]] = max(best.get(kinds[side], 0.0), share)
    return best


def _close(here: Mapping[int, Numbers], there: Mapping[int, Numbers]) -> Iterator[tuple[int, list[tuple[int, float]]]]:
    """For every node the nodes of the other side whose numbers are close, with their closeness."""
    shelves: dict[tuple[int, str], list[tuple[float, int]]] = defaultdict(list)
    for node, numbers in there.items():
        shelves[_shelf(numbers)].append((numbers.norm or 0.0, node))
    for shelf in shelves.values():
        shelf.sort()
    for node, numbers in here.items():
        shelf = shelves.get(_shelf(numbers), [])
        found = ((other, closeness(numbers, there[other])) for other in _near(shelf, numbers.norm or 0.0))
        yield node, [(other, value) for other, value in found if value > 0.0]


def _shelf(numbers: Numbers) -> tuple[int, str]:
    """Tensors that may be close: of one size, and of one digest where there is nothing else."""
    return numbers.size, "" if numbers.measured else numbers.digest


def _near(shelf: Sequence[tuple[float, int]], norm: float) -> list[int]:
    """The nodes on a shelf sorted by norm that are nearest to a norm, ties by node."""
    reach = abs(norm) * FAR
    norm_of = itemgetter(0)
    low = bisect_left(shelf, norm - reach, key=norm_of)
    high = bisect_right(shelf, norm + reach, low, key=norm_of)
    if high - low > _NEAREST:
        middle = bisect_left(shelf, norm, low, high, key=norm_of)
        low = max(low, middle - _NEAREST)
        high = min(high, middle + _NEAREST)
    nearest = sorted(shelf[low:high], key=lambda entry: (abs(entry[0] - norm), entry[1]))
    return [node for _, node in nearest[:_NEAREST]]
