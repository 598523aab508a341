"""What the records of a dump tell of tensors: shapes and statistics.

Formats: msprobe 1.2 to 26.2, with task ``statistics``, ``tensor`` or ``md5``. Of several tensors that a module returns
the first counts (a layer returns its hidden states first), of its parameters the largest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from matcher import Numbers

_FIGURES = ("Max", "Min", "Mean", "Norm")
_DEEPEST = 8  # tuples in tuples that a result is searched through


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


def numbers_of(tensor: object) -> Numbers | None:
    """The statistics in a tensor's record, None where there are none."""
    if not isinstance(tensor, dict):
        return None
    shape = shape_of(tensor)
    if shape is None:
        return None
    digest = tensor.get("md5")
    if isinstance(digest, str):
        return Numbers(prod(shape), digest=digest)
    known = [float(value) for name in _FIGURES if isinstance(value := tensor.get(name), (int, float))]
    if len(known) < len(_FIGURES):
        return None
    high, low, mean, norm = known
    return Numbers(prod(shape), high, low, mean, norm)


def result_of(record: Mapping[str, object]) -> Numbers | None:
    """The statistics of the first tensor that an entry's record says it returned."""
    return next(_tensors(record.get("output"), _DEEPEST), None)


def weight_of(parameters: Mapping[str, object]) -> Numbers | None:
    """The statistics of the largest parameter; of equally large ones the first."""
    found = [numbers for tensor in parameters.values() for numbers in _tensors(tensor, 1)]
    return max(found, key=lambda numbers: numbers.size, default=None)


def _tensors(value: object, depth: int) -> Iterator[Numbers]:
    numbers = numbers_of(value)
    if numbers is not None:
        yield numbers
    elif depth and isinstance(value, list):
        for item in value:
            yield from _tensors(item, depth - 1)
    elif depth and isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item, depth - 1)
