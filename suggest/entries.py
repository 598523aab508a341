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

from .source import LAYER_PREFIXES, Entry

_BACKWARD = "backward"
_STATES = {state: state for state in ("forward", _BACKWARD)}
_NAME_DOTS = 3  # a name with fewer of them makes msprobe give up
_GRAD = "parameters_grad"
_NO_STACK = ("Primitive", "Jit")
_RENUMBERED = "ParallelTransformer"
_FRAME_FILES = ("site-packages/torch", "package/torch", "site-packages/mindspore", "package/mindspore")
_SKIPPED_FILES = ("msprobe", "MindSpeed")
_SKIPPED_FUNCTIONS = ("construct", "__call__")
_STACK_SIGNS = {"mindspore": ("Template", "construct"), "pytorch": ("Template", r"in (for|back)ward,")}

Stack = Mapping[str, Sequence[str]]
Construct = Mapping[str, "str | None"]


@dataclass(frozen=True, slots=True)
class BadName:
    """A name in dump.json that makes msprobe drop the whole mapping: it has fewer than four dotted parts."""

    name: str


class _Known:
    """What earlier names have told, so that of a name that is like them only the end is looked at."""

    __slots__ = ("above", "called", "functions", "modules", "owned")

    def __init__(self) -> None:
        self.modules: dict[str, tuple[tuple[str, ...], str]] = {}  # scope and type, by a name up to the class
        self.above: dict[str, tuple[str, ...]] = dict.fromkeys(LAYER_PREFIXES, ())  # scopes, by a name up to there
        self.functions: dict[str, str] = {}  # of APIs, by a name up to the function
        self.owned: dict[str, dict[str, tuple[str, ...]]] = {}  # scopes of APIs, by their module's name up to the class
        self.called: dict[str | None, dict[str, tuple[str, ...]]] = {}  # the same, by a call of the module

    def module(self, head: str) -> tuple[tuple[str, ...], str] | None:
        """Scope and type of a module, by its name up to the class; None for what is no module, or has no path."""
        path, _, kind = head.rpartition(".")
        outer, _, step = path.rpartition(".")
        above = self.above.get(outer)
        if above is None:
            above = self._placed(outer)
            if above is None:
                return None
        found = self.modules[head] = (*above, sys.intern(step)), sys.intern(kind)
        return found

    def _placed(self, path: str) -> tuple[str, ...] | None:
        """The scope of a path of which some beginning is known."""
        steps: list[str] = []
        start = path
        while start not in self.above:
            start, dot, step = start.rpartition(".")
            if not dot:
                return None
            steps.append(sys.intern(step))
        found = self.above[path] = (*self.above[start], *reversed(steps))
        return found

    def api(self, function: str, parent: str | None) -> tuple[str, ...]:
        """The scope of an API below a module; every call of the module has the same."""
        around = self.called.get(parent)
        if around is None:
            around = self.called[parent] = self.owned.setdefault(parent.rsplit(".", 2)[0] if parent else "", {})
        scope = around.get(function)
        if scope is None:
            scope = around[function] = (*map(sys.intern, parent.split(".")[1:-3] if parent else ()), function)
        return scope


def entries_of(
    names: Iterable[str], construct: Construct, stack: Stack, framework: str
) -> tuple[tuple[Entry, ...], tuple[BadName, ...]]:
    """The entries of a dump in its order, renumbered; and the names that msprobe would choke on, left out."""
    bad: list[BadName] = []
    short = {parent for parent in set(construct.values()) if parent and 0 < parent.count(".") < _NAME_DOTS}
    found: list[Entry] = []
    backward: list[int] = []
    scopes: dict[str, tuple[str, ...]] = {}
    known = _Known()
    modules, functions = known.modules, known.functions
    for name in names:
        if short and construct.get(name) in short:
            bad.append(BadName(name))
            continue
        start, _, last = name.rpartition(".")
        head, _, state = start.rpartition(".")
        if state in _STATES and last != _BACKWARD:
            module = modules.get(head) or known.module(head)
            if module is not None:
                found.append(Entry(name, *module, _STATES[state]))
                continue
        if last in _STATES and head in functions:
            function = functions[head]
            scope = scopes.get(f"{start}.forward") if last == _BACKWARD else None
            if scope is not None:
                found.append(Entry(name, scope, function, _BACKWARD))
                continue
            entry = Entry(name, known.api(function, construct.get(name)), function, _STATES[last])
        else:
            parts = name.split(".")
            if len(parts) <= _NAME_DOTS:
                bad.append(BadName(name))
                continue
            entry = _entry(name, parts, construct.get(name), stack.get(name), framework)
            if not stack and parts[0] not in LAYER_PREFIXES and _GRAD not in parts[-2:]:
                functions[head] = entry.type or ""
        if _BACKWARD in name:
            backward.append(len(found))
        found.append(entry)
        scopes[name] = entry.scope
    _send_forward(found, backward, scopes)
    return tuple(_renumbered(found)), tuple(bad)


def _send_forward(found: list[Entry], backward: Iterable[int], scopes: Mapping[str, tuple[str, ...]]) -> None:
    """Give backward entries, by place, the scopes of their forward entries."""
    for place in backward:
        entry = found[place]
        scope = _forward_scope(entry.name, entry.scope, scopes)
        if scope is not entry.scope:
            found[place] = entry._replace(scope=scope)


def _entry(name: str, parts: list[str], parent: str | None, lines: Sequence[str] | None, framework: str) -> Entry:
    if parts[-1] == _GRAD:
        return Entry(name, tuple(parts[1:-3] + parts[-3:-2]), parts[-2], _GRAD)
    if parts[-2] == _GRAD and parts[-1].isdigit():
        return Entry(name, tuple(parts[1:-3] + parts[-4:-3]), parts[-3], _GRAD)
    kind = sys.intern(parts[-3])
    if parts[0] in LAYER_PREFIXES:
        above = parts[1:-4] if len(parts) > 4 else []
        return Entry(name, (*map(sys.intern, above), sys.intern(parts[-4])), kind, sys.intern(parts[-2]))
    above = parent.split(".")[1:-3] if parent else []
    inner = _frame_functions(lines, framework) if lines and parts[0] not in _NO_STACK else []
    return Entry(name, (*map(sys.intern, above), *inner, kind), kind, sys.intern(parts[-1]))


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
    return [entry._replace(scope=_shifted(entry.scope, order, least)) for entry in entries]


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
