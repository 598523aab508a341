"""The errors that layermap raises for input it cannot use.

    LayermapError            anything a user can mend
    ├── ReadError            an input is missing, damaged or of no known kind
    └── MappingError         a mapping file cannot be read at all

A *bad* mapping (rules that never fire, harm or point nowhere) is no error: `suggest.check` returns findings for it.
"""

from __future__ import annotations


class LayermapError(Exception):
    """``where: problem; hint`` on one line; ``where`` is ``file``, ``file:line`` or ``file: JSON key``."""

    def __init__(self, where: str, problem: str, hint: str = "") -> None:
        self.where = where
        self.problem = problem
        self.hint = hint
        super().__init__((f"{where}: {problem}" + (f"; {hint}" if hint else "")).replace("\n", " "))

    def __reduce__(self) -> tuple[type[LayermapError], tuple[str, str, str]]:
        """How to copy it from one process to another, which by default would give the whole line for ``where``."""
        return type(self), (self.where, self.problem, self.hint)


class ReadError(LayermapError):
    """An input is missing, empty, damaged, cut off or of no known kind."""


class MappingError(LayermapError):
    """A mapping file is not YAML, or not a mapping of sections."""
