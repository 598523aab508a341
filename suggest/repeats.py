"""Numbered modules that stand for others which are equal to them and were left out of a `Source`.

See `suggest.thin` for what may be left out. Everything that counts modules, or names them all, asks here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Repeats:
    """``numbers`` are those that the last step of a path stands for, besides its own."""

    numbers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.numbers)

    def moved(self) -> set[str]:
        """The steps of paths that are others in what is left out: a rule that names one of them tells layers apart."""
        stand = {path.rpartition(".")[2] for path in self.numbers}
        return stand | {str(number) for numbers in self.numbers.values() for number in numbers}

    def count(self, paths: Iterable[str]) -> int:
        """How many modules these paths stand for."""
        if not self.numbers:
            return sum(1 for _ in paths)
        known = {"": 1}
        return sum(self._times(path, known) for path in paths)

    def _times(self, path: str, known: dict[str, int]) -> int:
        if path not in known:
            outer = path.rpartition(".")[0]
            known[path] = self._times(outer, known) * (1 + len(self.numbers.get(path, ())))
        return known[path]

    def standing(self, paths: Iterable[str]) -> Iterator[str]:
        """For every path, the path of the module that stands for it."""
        stands: dict[str, str] = {}
        for path, numbers in self.numbers.items():
            above = path.removesuffix(path.rpartition(".")[2])
            stands.update((f"{above}{number}", path) for number in numbers)
        known = {"": ""}
        for path in paths:
            yield _standing(path, stands, known) if stands else path


def _standing(path: str, stands: Mapping[str, str], known: dict[str, str]) -> str:
    found = known.get(path)
    if found is None:
        outer, dot, step = path.rpartition(".")
        found = f"{_standing(outer, stands, known)}{dot}{step}"
        found = known[path] = stands.get(found, found)
    return found


def counterparts(paths: Sequence[str], hit: Mapping[str, str], npu: Repeats, bench: Repeats) -> Iterator[str | None]:
    """The bench path of every NPU path, by what is known of the modules that stand for them; None for those without.

    The steps that are other numbers in what is left out are the same on both sides if no rule speaks of them; if one
    does, what is found means nothing.
    """
    moved = npu.moved() | bench.moved()
    for path, stand in zip(paths, npu.standing(paths), strict=True):
        image = hit.get(stand)
        if image is not None and path != stand:
            numbers = (step for step in path.split(".") if step in moved)
            image = ".".join([next(numbers, step) if step in moved else step for step in image.split(".")])
        yield image


NONE = Repeats()
