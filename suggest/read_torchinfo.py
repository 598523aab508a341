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
from .printouts import clean
from .read_text import CONTAINERS
from .read_tree import source_of_modules
from .source import Source

_ROW = re.compile(r"[\s│├└─|+]*(?P<cls>[A-Za-z_]\w*)(?: \((?P<name>[\w.]+)\))?: (?P<depth>\d+)-\d+\b")
_ROOT = re.compile(r"(?P<cls>[A-Za-z_]\w*) \(\w+\)\s")
_HEADER = re.compile(r"Layer \(type.*\bParam #|Layer \(type.*depth-idx\)")
_HINT = 'print summary(model, row_settings=["var_names", "depth"], depth=99)'


def is_torchinfo(line: str) -> bool:
    """Whether a line is the head of a summary."""
    return line.lstrip().startswith("Layer (type") and _HEADER.search(line) is not None


def read_torchinfo(lines: Iterable[str], label: str) -> Source:
    """The tree of a summary; raises `ReadError` where rows have no names, or none of one depth less before them."""
    modules: dict[str, Module] = {}
    above: list[str] = []
    begun = False
    for number, raw in enumerate(lines, 1):
        line = clean(raw)
        if is_torchinfo(line):
            begun = True
            continue
        row = _ROW.match(line) if begun else None
        if row is None:
            root = _ROOT.match(line) if begun and not modules else None
            if root:
                modules[""] = Module("", root["cls"], called=False)
            elif modules and line.startswith("Total params"):
                break
            continue
        depth = int(row["depth"])
        if row["name"] is None:
            raise ReadError(f"{label}:{number}", f"the summary shows no name for this {row['cls']}", _HINT)
        if not 0 < depth <= len(above) + 1:
            raise ReadError(f"{label}:{number}", f"a row of depth {depth} follows one of depth {len(above)}", _HINT)
        path = f"{above[depth - 2]}.{row['name']}" if depth > 1 else row["name"]
        above[depth - 1 :] = [path]
        modules.setdefault(path, Module(path, row["cls"], row["cls"] not in CONTAINERS))
    if not modules.keys() - {""}:
        raise ReadError(label, "the summary shows no module", _HINT)
    return source_of_modules(modules.values(), label, "summary")
