"""Statistics of one tensor of a run, and how close two of them are.

Two runs of the same weights on the same input give equal statistics wherever they compute the same thing, up to the
rounding of their kernels, and up to nothing at all once they have drifted apart. So closeness is a matter of degree:
the largest relative difference of the four figures, mapped to 1 for equal ones and to 0 beyond a few percent. The order
of a tensor's axes is no part of it, because Megatron computes in (sequence, batch, hidden) and transformers in (batch,
sequence, hidden); nor are axes of extent one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

_HALF = 3e-3  # relative difference that halves the closeness: what bfloat16 leaves of equal tensors
FAR = 3e-2  # relative difference from which on two tensors have nothing to do with each other


@dataclass(frozen=True, slots=True)
class Numbers:
    """Maximum, minimum, mean and Euclidean norm of a tensor of ``size`` elements; ``digest`` instead in md5 dumps."""

    size: int
    high: float = 0.0
    low: float = 0.0
    mean: float = 0.0
    norm: float = 0.0
    digest: str = ""

    @property
    def telling(self) -> bool:
        """Whether a tensor can be recognised: all elements of a freshly initialised norm are equal, and of many."""
        return bool(self.digest) or (self.high != self.low and isfinite(self.norm))


def difference(one: Numbers, other: Numbers) -> float:
    """The largest relative difference of the figures, 0 if equal; infinite where the tensors cannot be the same.

    Maximum, minimum and mean are held against the larger magnitude of the two tensors, the norm against itself.
    """
    if one.size != other.size or bool(one.digest) != bool(other.digest):
        return float("inf")
    if one.digest:
        return 0.0 if one.digest == other.digest else float("inf")
    scale = max(abs(one.high), abs(one.low), abs(other.high), abs(other.low))
    return max(
        _relative(one.high, other.high, scale),
        _relative(one.low, other.low, scale),
        _relative(one.mean, other.mean, scale),
        _relative(one.norm, other.norm, max(abs(one.norm), abs(other.norm))),
    )


def closeness(one: Numbers, other: Numbers) -> float:
    """1 for equal statistics, a half at the rounding of bfloat16, 0 from a few percent on."""
    apart = difference(one, other)
    return 1.0 / (1.0 + apart / _HALF) if apart < FAR else 0.0


def _relative(one: float, other: float, scale: float) -> float:
    if one == other:
        return 0.0
    apart = abs(one - other) / scale if scale else float("inf")
    return apart if apart == apart else float("inf")  # noqa: PLR0124  not a number: no figure at all
