"""Read a plain list of names: one parameter or module path a line, a shape after it if known.

    model.layers.0.self_attn.q_proj.weight  torch.Size([2048, 2048])

Such a list tells neither classes nor which steps of a path are modules. Every listed path is a node; the steps above it
get an entry without a state, so that no mapping section is ever written for a step whose class nobody knows.
"""

from __future__ import annotations

import re

from matcher import Module, Tree

from .errors import ReadError
from .source import Entry, Source

_PATH = re.compile(r"[\"']?(?P<path>[A-Za-z_]\w*(?:\.\w+)+|[A-Za-z_]\w*)[\"']?(?P<rest>.*)$")
_SHAPE = re.compile(r"[\s:,=]*(?:torch\.Size)?[\[(]{1,2}(?P<shape>[\d\s,]*)[\])]{1,2},?\s*$")


def looks_like_keys(text: str) -> bool:
    """Whether the first lines are dotted paths and nothing else."""
    lines = [line.strip() for line in text.splitlines() if line.strip()][:20]
    return bool(lines) and all(_split(line) for line in lines) and any("." in line for line in lines)


def read_keys(text: str, label: str) -> Source:
    """The tree of a list of keys; raises `ReadError` with the line that is no key."""
    modules: dict[str, Module] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        found = _split(line.strip())
        if found is None:
            raise ReadError(
                f"{label}:{number}", f"{line.strip()[:40]!r} is no name in a list of names", "one dotted name a line"
            )
        path, shape = found
        modules[path] = Module(path, "", params=() if shape is None else (("weight", shape),))
    above = {step: None for path in modules for step in _above(path) if step not in modules}
    silent = tuple(Entry(step, tuple(step.split(".")), None, "") for step in above)
    entries = tuple(Entry(path, tuple(path.split(".")), None) for path in modules)
    return Source(label=label, kind="list of names", tree=Tree.build(modules.values()), entries=silent + entries)


def _split(line: str) -> tuple[str, tuple[int, ...] | None] | None:
    found = _PATH.match(line)
    if found is None:
        return None
    rest = found["rest"].strip()
    if not rest or rest == ",":
        return found["path"], None
    shape = _SHAPE.match(rest)
    return (found["path"], tuple(map(int, re.findall(r"\d+", shape["shape"])))) if shape else None


def _above(path: str) -> list[str]:
    steps = path.split(".")
    return [".".join(steps[:length]) for length in range(1, len(steps))]
