"""Read a summary of torchinfo that shows names: ``summary(model, row_settings=["var_names", "depth"])``.

    Net (Net)                               --
    ├─ModuleList (layers): 1-1              --
    │    └─Block (0): 2-1                   --

The number after a name is its depth, which places it below the last row of one depth less. Without ``var_names`` a
summary shows classes only, and nothing can be mapped. Limits: rows deeper than the summary's ``depth`` are not in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from matcher import Module

from .errors import ReadError
from .files import UNREADABLE
from .printouts import clean
from .read_text import CONTAINERS
from .read_tree import source_of_modules
from .source import Source

_ROW = re.compile(r"[\s│├└─|+]*(?P<cls>[A-Za-z_]\w*)(?: \((?P<name>[\w.]+)\))?: (?P<depth>\d+)-\d+\b")
_FOOTER = "Total params"
_HEADER = re.compile(r"Layer \(type.*\bParam #|Layer \(type.*depth-idx\)")
_HINT = 'print summary(model, row_settings=["var_names", "depth"], depth=99)'


def is_torchinfo(line: str) -> bool:
    """Whether a line is the head of a summary."""
    return line.lstrip().startswith("Layer (type") and _HEADER.search(line) is not None


def read_torchinfo(lines: Iterable[str], label: str) -> Source:
    """The tree of a summary; raises `ReadError` where rows have no names, or none of one depth less before them."""
    modules: dict[str, Module] = {}
    above: list[str] = []
    begun = ended = False
    number = 0
    for number, raw in enumerate(lines, 1):
        line = clean(raw)
        if not begun or not line.strip() or not line.strip("="):
            begun = begun or is_torchinfo(line)
            continue
        if line.startswith(_FOOTER):
            ended = True
            break
        row = _ROW.match(line)
        if not modules and not (row and row["name"]):
            modules[""] = Module("", line.split()[0], called=False)
            continue
        if row is None or UNREADABLE in line:
            raise ReadError(f"{label}:{number}", f"{line.strip()[:40]!r} is no row of a summary", _HINT)
        path = _path(row, above, f"{label}:{number}")
        modules.setdefault(path, Module(path, row["cls"], row["cls"] not in CONTAINERS))
    if not ended:
        raise ReadError(f"{label}:{number}", f"the summary is cut off: no {_FOOTER!r} at its end", _HINT)
    if not modules.keys() - {""}:
        raise ReadError(label, "the summary shows no module", _HINT)
    return source_of_modules(modules.values(), label, "summary")


def _path(row: re.Match[str], above: list[str], where: str) -> str:
    """The path of a row below the last ones of each depth, which become those above the next."""
    depth = int(row["depth"])
    if row["name"] is None:
        raise ReadError(where, f"the summary shows no name for this {row['cls']}", _HINT)
    if not 0 < depth <= len(above) + 1:
        raise ReadError(where, f"a row of depth {depth} follows one of depth {len(above)}", _HINT)
    path = f"{above[depth - 2]}.{row['name']}" if depth > 1 else str(row["name"])
    above[depth - 1 :] = [path]
    return path
