"""Names in dump.json, turned into the scopes on which msprobe applies a mapping.

Follows ``DumpDataItem`` and ``postprocess_pass`` of mindstudio-probe 26.2.0 (msprobe/core/compare/layer_mapping), the
quirks included: a backward entry takes the scope of its forward entry; ``parameters_grad.N`` doubles the module's last
name; an old stack.json puts a frame function between a module and its API; below a ``ParallelTransformer`` the layers
are renumbered from 0, and a child without a number becomes ``nan``. Unlike msprobe's own renumbering, whose time is the
product of transformers and entries, this is linear.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from matcher import Module

from .source import Entry

LAYER_PREFIXES = ("Module", "Cell")
_DIRECTIONS = ("forward", "backward")
_GRAD = "parameters_grad"
_NO_STACK = ("Primitive", "Jit")
_RENUMBERED = "ParallelTransformer"
_FRAME_FILES = ("site-packages/torch", "package/torch", "site-packages/mindspore", "package/mindspore")
_SKIPPED_FILES = ("msprobe", "MindSpeed")
_SKIPPED_FUNCTIONS = ("construct", "__call__")
_STACK_SIGNS = {"mindspore": ("Template", "construct"), "pytorch": ("Template", r"in (for|back)ward,")}

Stack = Mapping[str, Sequence[str]]
Construct = Mapping[str, "str | None"]
_Facts = tuple[str, tuple[str, ...], "str | None", str]  # of an entry: name, scope, type, state


@dataclass(frozen=True, slots=True)
class BadName:
    """A name in dump.json that makes msprobe drop the whole mapping: it has fewer than four dotted parts."""

    name: str


def entries_of(
    names: Iterable[str], construct: Construct, stack: Stack, framework: str
) -> tuple[tuple[Entry, ...], tuple[BadName, ...]]:
    """The entries of a dump in its order, renumbered; and the names that msprobe would choke on, left out."""
    bad: list[BadName] = []
    fine: set[str | None] = {None}  # parents whose names are long enough
    found: list[Entry] = []
    backward: list[int] = []
    outer: dict[str, tuple[str, ...]] = {prefix: () for prefix in LAYER_PREFIXES}
    intern = sys.intern
    for name in names:
        parent = construct.get(name)
        if parent not in fine and parent is not None and ("." not in parent or parent.count(".") >= 3):
            fine.add(parent)
        if parent not in fine:
            bad.append(BadName(name))
            continue
        above, *last = name.rsplit(".", 4)
        steps = outer.get(above) if len(last) == 4 else None
        if steps is not None and last[2] in _DIRECTIONS:
            if "backward" in (last[2], last[3]):
                backward.append(len(found))
            found.append(Entry(name, (*steps, intern(last[0])), intern(last[1]), intern(last[2])))
            continue
        parts = name.split(".")
        if len(parts) < 4:
            bad.append(BadName(name))
            continue
        if "backward" in name:
            backward.append(len(found))
        found.append(Entry(*_facts(name, parts, parent, stack.get(name), framework)))
        if parts[0] in LAYER_PREFIXES and parts[-2] in _DIRECTIONS and len(parts) > 4:
            outer[above] = found[-1].scope[:-1]
    if backward:
        scopes = {entry.name: entry.scope for entry in found}
        for place in backward:
            entry = found[place]
            scope = _forward_scope(entry.name, entry.scope, scopes)
            if scope is not entry.scope:
                found[place] = Entry(entry.name, scope, entry.type, entry.state)
    return tuple(_renumbered(found)), tuple(bad)


def _facts(name: str, parts: list[str], parent: str | None, lines: Sequence[str] | None, framework: str) -> _Facts:
    if parts[-1] == _GRAD:
        return name, tuple(parts[1:-3] + parts[-3:-2]), parts[-2], _GRAD
    if parts[-2] == _GRAD and parts[-1].isdigit():
        return name, tuple(parts[1:-3] + parts[-4:-3]), parts[-3], _GRAD
    if parts[0] in LAYER_PREFIXES:
        above = parts[1:-4] if len(parts) > 4 else []
        return name, (*map(sys.intern, above), sys.intern(parts[-4])), sys.intern(parts[-3]), sys.intern(parts[-2])
    above = parent.split(".")[1:-3] if parent else []
    inner = _frame_functions(lines, framework) if lines and parts[0] not in _NO_STACK else []
    return name, (*map(sys.intern, above), *inner, sys.intern(parts[-3])), sys.intern(parts[-3]), sys.intern(parts[-1])


def _forward_scope(name: str, scope: tuple[str, ...], scopes: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    head, direction, call = name.rsplit(".", 2)
    if "backward" not in (direction, call):
        return scope
    twin = ".".join((head, direction.replace("backward", "forward"), call.replace("backward", "forward")))
    return scopes.get(twin, scope)


def _frame_functions(lines: Sequence[str], framework: str) -> list[str]:
    """The framework function that called the API, if the old stack.json tells one (``find_stack_func_list``)."""
    start_sign, end_sign = _STACK_SIGNS[framework]
    start, end = -1, len(lines)
    for index, line in enumerate(lines):
        if re.search(start_sign, line):
            start = index
        elif start >= 0 and re.search(end_sign, line):
            end = index
            break
    frame = ""
    for line in lines[start + 1 : end]:
        if not any(mark in line.split(",")[0] for mark in _FRAME_FILES):
            break
        frame = line
    fields = frame.split(",")
    if len(fields) < 3 or any(mark in fields[0] for mark in _SKIPPED_FILES):
        return []
    return [] if any(mark in fields[2] for mark in _SKIPPED_FUNCTIONS) else [fields[2].split()[1]]


def _renumbered(entries: list[Entry]) -> list[Entry]:
    """Layers below every ``ParallelTransformer`` counted from the smallest number there (``renumber_index_pass``)."""
    order: dict[tuple[str, ...], int] = {}
    for entry in entries:
        if entry.type == _RENUMBERED:
            order.setdefault((*entry.scope, "layers"), len(order))
    if not order:
        return entries
    least: dict[tuple[str, ...], int] = {}
    for entry in entries:
        for prefix, number in _numbered_below(entry.scope, order):
            if number is not None:
                least[prefix] = min(least.get(prefix, number), number)
    return [replace(entry, scope=_shifted(entry.scope, order, least)) for entry in entries]


def _numbered_below(
    scope: tuple[str, ...], order: Mapping[tuple[str, ...], int]
) -> list[tuple[tuple[str, ...], int | None]]:
    """The prefixes that a scope stands below, with the last number in the step after each."""
    found = []
    for length in range(1, len(scope)):
        prefix = scope[:length]
        if prefix in order:
            numbers = re.findall(r"\d+", scope[length])
            found.append((prefix, int(numbers[-1]) if numbers else None))
    return found


def _shifted(
    scope: tuple[str, ...], order: Mapping[tuple[str, ...], int], least: Mapping[tuple[str, ...], int]
) -> tuple[str, ...]:
    done = -1
    while True:
        ahead = [(order[prefix], prefix, number) for prefix, number in _numbered_below(scope, order)]
        ahead = [item for item in ahead if item[0] > done]
        if not ahead:
            return scope
        done, prefix, number = min(ahead)
        at = len(prefix)
        if number is not None:
            scope = (*prefix, str(number - least[prefix]), *scope[at + 1 :])
        elif prefix not in least:
            scope = (*prefix, "nan", *scope[at + 1 :])


def module_entries(modules: Iterable[tuple[str, str | None]], prefix: str = "Module") -> tuple[Entry, ...]:
    """One forward entry for every (path, class) of a model that was not dumped; None is an unknown class.

    These are the entries that a dump of one forward pass would hold, renumbered as msprobe would.
    """
    entries = [Entry(f"{prefix}.{path}.{cls or '?'}.forward.0", tuple(path.split(".")), cls) for path, cls in modules]
    return tuple(_renumbered(entries))


def recorded(modules: Sequence[Module], prefix: str) -> tuple[tuple[Module, ...], tuple[Entry, ...]]:
    """Modules under the paths that msprobe gives them, and the entries of one forward pass through every called one."""
    called = [module for module in modules if module.called and module.path]
    # A class that is not known ("") is a type that no section can be meant for.
    entries = module_entries(((module.path, module.cls or None) for module in called), prefix)
    moved = {module.path: ".".join(entry.scope) for module, entry in zip(called, entries, strict=True)}
    return tuple(replace(module, path=moved.get(module.path, module.path)) for module in modules), entries
