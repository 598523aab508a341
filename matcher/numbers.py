"""Statistics of one tensor of a run, and how close two of them are.

Two runs of the same weights on the same input give equal statistics wherever they compute the same thing, up to the
rounding of their kernels, and up to nothing at all once they have drifted apart. So closeness is a matter of degree:
the largest relative difference of the four figures, mapped to 1 for equal ones and to 0 beyond a few percent. The order
of a tensor's axes is no part of it, because Megatron computes in (sequence, batch, hidden) and transformers in (batch,
sequence, hidden); nor are axes of extent one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan

_HALF = 3e-3  # relative difference that halves the closeness: what bfloat16 leaves of equal tensors
FAR = 3e-2  # relative difference from which on two tensors have nothing to do with each other


@dataclass(frozen=True, slots=True)
class Numbers:
    """Maximum, minimum, mean and Euclidean norm of a tensor of ``size`` elements, and its ``digest`` in md5 dumps.

    A figure is None where the dump does not tell it: mean and norm of integers, all four in older md5 dumps.
    """

    size: int
    high: float | None = None
    low: float | None = None
    mean: float | None = None
    norm: float | None = None
    digest: str = ""

    @property
    def figures(self) -> tuple[float | None, ...]:
        """All four, in the order of the fields."""
        return self.high, self.low, self.mean, self.norm

    @property
    def measured(self) -> bool:
        """Whether all figures are known."""
        return None not in self.figures

    @property
    def telling(self) -> bool:
        """Whether a tensor can be recognised: all elements of a freshly initialised norm are equal, and of many."""
        if self.norm is None or not self.measured:
            return bool(self.digest)
        return self.high != self.low and isfinite(self.norm)


def comparable(one: Numbers, other: Numbers) -> bool:
    """Whether two tensors can be held against each other: of one size, with a digest or a figure that both tell."""
    both = any(mine is not None and theirs is not None for mine, theirs in zip(one.figures, other.figures, strict=True))
    return one.size == other.size and (both or bool(one.digest and other.digest))


def difference(one: Numbers, other: Numbers) -> float:
    """The largest relative difference of the figures that both tell, 0 for equal digests; infinite where the tensors
    cannot be the same.

    Maximum, minimum and mean are held against the larger magnitude of the two tensors, the norm against itself.
    Digests that differ tell nothing beside figures, since any rounding changes them.
    """
    if not comparable(one, other):
        return float("inf")
    if one.digest and one.digest == other.digest:
        return 0.0
    known = [abs(value) for value in (one.high, one.low, other.high, other.low) if value is not None]
    scale = max(known, default=0.0)
    found = []
    for place, (mine, theirs) in enumerate(zip(one.figures, other.figures, strict=True)):
        if mine is not None and theirs is not None:
            norm = place == len(one.figures) - 1
            found.append(_relative(mine, theirs, max(abs(mine), abs(theirs)) if norm else scale))
    return max(found, default=float("inf"))


def closeness(one: Numbers, other: Numbers) -> float:
    """1 for equal statistics, a half at the rounding of bfloat16, 0 from a few percent on."""
    apart = difference(one, other)
    return 1.0 / (1.0 + apart / _HALF) if apart < FAR else 0.0


def _relative(one: float, other: float, scale: float) -> float:
    if one == other or (isnan(one) and isnan(other)):
        return 0.0
    apart = abs(one - other) / scale if scale else float("inf")
    return float("inf") if isnan(apart) else apart
