"""What the records of a dump tell of tensors: shapes and statistics.

Formats: msprobe 1.2 to 26.2, with task ``statistics``, ``tensor`` or ``md5``. Of several tensors that a module returns
the first counts (a layer returns its hidden states first), of its parameters the largest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from matcher import Numbers

_FIGURES = ("Max", "Min", "Mean", "Norm")
_DEEPEST = 8  # tuples in tuples that a result is searched through


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor of a record; figures (Max, Min, Mean, Norm) are None where it does not tell them."""

    shape: tuple[int, ...]
    dtype: str
    figures: tuple[float | None, ...]
    digest: str = ""

    @property
    def tells_numbers(self) -> bool:
        """Whether more than the shape is known."""
        return bool(self.digest) or self.tells_figures

    @property
    def tells_figures(self) -> bool:
        """Whether any of the four is known."""
        return any(value is not None for value in self.figures)

    def text(self) -> str:
        """Type, shape and figures as people read them, blanks between; ``-`` for a figure that is not told."""
        figures = " ".join("-" if value is None else f"{value:.5g}" for value in self.figures)
        told = [figures] if self.tells_figures or not self.digest else []
        told += [f"md5 {self.digest}"] if self.digest else []
        return f"{self.dtype or '?'}[{','.join(map(str, self.shape))}] {' '.join(told)}"


def shape_of(tensor: object) -> tuple[int, ...] | None:
    """The shape in a tensor's record, None if there is none; ``[record]`` and ``"[2, 3]"`` are read too."""
    if isinstance(tensor, list) and len(tensor) == 1:
        tensor = tensor[0]
    shape = tensor.get("shape") if isinstance(tensor, dict) else None
    if isinstance(shape, str):
        parts = [part.strip() for part in shape.strip("[]() ").split(",") if part.strip()]
        shape = [int(part) if part.isdigit() else None for part in parts]
    if isinstance(shape, list) and all(isinstance(extent, int) for extent in shape):
        return tuple(shape)
    return None


def tensors_in(value: object, depth: int = _DEEPEST) -> Iterator[Tensor]:
    """Every tensor in a value of a record, in order."""
    if isinstance(value, dict):
        shape = shape_of(value)
        if shape is not None:
            yield _tensor(value, shape)
            return
    if depth and isinstance(value, (list, dict)):
        for item in value if isinstance(value, list) else value.values():
            yield from tensors_in(item, depth - 1)


def result_of(record: Mapping[str, object]) -> Numbers | None:
    """The statistics of the first tensor that an entry's record says it returned, the first with all of them if any."""
    partial = None
    for numbers in _numbers(record.get("output"), _DEEPEST):
        if numbers.measured or numbers.digest:
            return numbers
        partial = partial or numbers
    return partial


def weight_of(parameters: Mapping[str, object]) -> Numbers | None:
    """The statistics of the largest parameter; of equally large ones the first."""
    found = [numbers for tensor in parameters.values() for numbers in _numbers(tensor, 1)]
    return max(found, key=lambda numbers: numbers.size, default=None)


def numbers_of(tensor: Tensor) -> Numbers | None:
    """A tensor's statistics for the matcher, None where there are none."""
    if not tensor.tells_numbers:
        return None
    high, low, mean, norm = tensor.figures
    return Numbers(prod(tensor.shape), high, low, mean, norm, tensor.digest)


def _numbers(value: object, depth: int) -> Iterator[Numbers]:
    for tensor in tensors_in(value, depth):
        numbers = numbers_of(tensor)
        if numbers is not None:
            yield numbers


def _tensor(record: Mapping[str, object], shape: tuple[int, ...]) -> Tensor:
    digest = record.get("md5")
    return Tensor(
        shape,
        str(record.get("dtype", "")).rpartition(".")[2],
        tuple(_figure(record.get(name)) for name in _FIGURES),
        digest if isinstance(digest, str) else "",
    )


def _figure(value: object) -> float | None:
    """A number of a record, "nan" and "inf" included; None for other text, for a truth value, and for what no float can
    hold.
    """
    if isinstance(value, str) and value.strip().lower().lstrip("+-") in ("nan", "inf"):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
