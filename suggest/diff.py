"""What two mappings do differently: the nodes that change their counterpart, not the lines that differ.

Both are replayed as msprobe does. A file that msprobe rejects is compared as what it is to msprobe: no rules at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from .collapse import collapsed
from .mapping import LayerMap, LoadedMapping
from .replay import replay
from .scopes import Scopes
from .source import Source


@dataclass(frozen=True, slots=True)
class Change:
    """One NPU entry of dump.json, and its bench entry under either mapping; None for none."""

    npu: str
    before: str | None
    after: str | None


def diff(before: LoadedMapping, after: LoadedMapping, npu: Source, bench: Source) -> tuple[Change, ...]:
    """The entries whose counterpart differs, in the order of the NPU dump."""
    here, there = Scopes.build(npu.entries), Scopes.build(bench.entries)
    one, other = (replay(here, there, _effective(loaded)) for loaded in (before, after))
    return tuple(Change(name, one[name], other[name]) for name in _in_order(npu) if one[name] != other[name])


def _effective(loaded: LoadedMapping) -> LayerMap:
    return LayerMap() if any(problem.fatal for problem in loaded.problems) else loaded.layer_map


def _in_order(source: Source) -> list[str]:
    return list(dict.fromkeys(entry.name for entry in source.entries))


def render_changes(changes: tuple[Change, ...], npu: Source, bench: Source) -> str:
    """Changes as text, one line for all layers that change alike: ``path: old -> new``."""
    here, there = _scopes(npu), _scopes(bench)
    groups: dict[tuple[str, str, str], list[str]] = {}
    for change in changes:
        path, kind = here[change.npu]
        old, new = (there[name][0] if name is not None else "nothing" for name in (change.before, change.after))
        groups.setdefault((kind, _shape(old), _shape(new)), []).append(f"{path}\t{old}\t{new}")
    lines = [f"{kind}{line}" for (kind, _, _), texts in groups.items() for line in _joined(texts)]
    title = "no node changes its counterpart" if not changes else f"{len(changes)} nodes change their counterpart"
    return "\n".join([title if len(changes) != 1 else "1 node changes its counterpart", *lines])


def _scopes(source: Source) -> dict[str, tuple[str, str]]:
    """By entry name, its scope, and what else than a module's forward call it is."""
    found = {}
    for entry in source.entries:
        kind = "" if entry.name.split(".", 1)[0] in ("Module", "Cell") else "API "
        found[entry.name] = (".".join(entry.scope), kind + ("" if entry.state == "forward" else f"{entry.state} "))
    return found


def _shape(path: str) -> str:
    return ".".join("#" if step.isdigit() else step for step in path.split("."))


def _joined(texts: list[str]) -> list[str]:
    """The three columns of many lines, each collapsed by itself, where that says the same."""
    columns = list(zip(*(text.split("\t") for text in dict.fromkeys(texts)), strict=True))
    shapes = dict.fromkeys(map(_shape, columns[0]))
    found = []
    for shape in shapes:
        rows = [row for row in zip(*columns, strict=True) if _shape(row[0]) == shape]
        path, old, new = (collapsed(dict.fromkeys(column))[0] for column in zip(*rows, strict=True))
        found.append(f"{path}: {_plain(old)} -> {_plain(new)}")
    return found


def _plain(line: str) -> str:
    """A collapsed line without its count."""
    return line.rpartition(" (")[0] if line.endswith(")") and " (" in line else line
