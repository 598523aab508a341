"""Read ``print(model)``: the nested repr of a PyTorch module or a MindSpore cell.

    DistributedDataParallel(
      (module): Float16Module(
        (layers): ModuleList(
          (0-15): 16 x Layer(

Every line is a child ``(name): Class(...)``, an extra line of a module's repr, or closes modules. A run of equal
children is one line with a range. A list of models, ``[Model(...), Model(...)]``, gives its elements numbers; neither
the list nor its elements are ever called. Limits: which modules a forward pass calls is not printed, so every module
that is no container counts as called.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from matcher import Module, Params, Tree

from .entries import module_entries
from .errors import ReadError
from .shapes import params_of
from .source import Source

CONTAINERS = frozenset({"ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "CellList", "CellDict"})
_CHILD = re.compile(r"\s*\((?P<name>[^()\s]+)\): (?:(?P<count>\d+) x )?(?P<rest>.*)$")
_CLASS = re.compile(r"(?P<cls>[A-Za-z_][\w.]*)\(")
_RANGE = re.compile(r"(\d+)-(\d+)$")


@dataclass(slots=True)
class _Node:
    names: tuple[str, ...]
    cls: str
    line: int
    params: Params = ()
    children: list[_Node] = field(default_factory=list)


def looks_like_a_printed_model(text: str) -> bool:
    """Whether any line of the text is a child of a printed model, or its first line opens one."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return bool(re.match(r"\s*\[?[A-Za-z_][\w.]*\(", first)) or any(
        (found := _CHILD.match(line)) and _CLASS.match(found["rest"]) for line in text.splitlines()
    )


def read_text(text: str, label: str) -> Source:
    """The tree of a printed model.

    Raises `ReadError` with the line where the text ends too early, closes too much, or holds no module.
    """
    root = _parse(text, label)
    modules = list(_modules(root))
    is_cell = any(module.cls in ("CellList", "CellDict") for module in modules)
    called = [module for module in modules if module.called]
    entries = module_entries(((m.path, m.cls) for m in called), "Cell" if is_cell else "Module")
    shift = {m.path: ".".join(entry.scope) for m, entry in zip(called, entries, strict=True)}
    return Source(
        label=label,
        kind="printed model",
        tree=Tree.build(Module(shift.get(m.path, m.path), m.cls, m.called, m.params) for m in modules),
        entries=entries,
    )


def _parse(text: str, label: str) -> _Node:
    top = _Node((), "list", 1)
    stack: list[_Node] = [top]
    for number, line in enumerate(text.splitlines(), 1):
        child = _CHILD.match(line)
        if child and _CLASS.match(child["rest"]):
            names = _names(child["name"], child["count"], number, label)
            _open(stack, names, child["rest"], number, label)
        elif line.strip():
            _other_line(stack, line.strip(), number, label)
    if len(stack) > 1:
        where = stack[-1]
        raise ReadError(
            f"{label}:{where.line}",
            f"the printed model is cut off: {where.cls} is opened here and never closed",
            "print the whole model again",
        )
    if not top.children:
        raise ReadError(label, "no module found in the text", "give the output of print(model), or a dump of msprobe")
    if len(top.children) == 1 and not text.lstrip().startswith("["):
        return top.children[0]
    return top


def _names(name: str, count: str | None, number: int, label: str) -> tuple[str, ...]:
    span = _RANGE.match(name)
    if count is None:
        return (name,)
    if span is None or int(span[2]) - int(span[1]) + 1 != int(count):
        raise ReadError(f"{label}:{number}", f"({name}) does not stand for {count} modules", "print the model again")
    return tuple(map(str, range(int(span[1]), int(span[2]) + 1)))


def _open(stack: list[_Node], names: tuple[str, ...], rest: str, number: int, label: str) -> None:
    """A module begins; it ends on the same line unless its parenthesis stays open."""
    found = _CLASS.match(rest)
    if found is None:
        raise ReadError(f"{label}:{number}", f"no class name in {rest[:40]!r}")
    node = _Node(names, found["cls"], number)
    stack[-1].children.append(node)
    stack.append(node)
    depth = _depth(rest)
    if depth == 0:
        inside = rest[found.end() : rest.rindex(")")]
        node.params = params_of(node.cls, inside)
        stack.pop()
    elif depth < 0:
        _close(stack, 1 - depth, number, label)


def _other_line(stack: list[_Node], line: str, number: int, label: str) -> None:
    """Closing parentheses, the next model of a list, the first line, or an extra line of a module's repr."""
    opening = re.search(r"[A-Za-z_][\w.]*\((?!.*\))", line) if _depth(line) >= 0 else None
    begins = line.lstrip("[").startswith(opening[0]) if opening else False
    if opening and (len(stack) == 1 or line.startswith("), ")) and (begins or line.startswith("), ")):
        if line.startswith(")"):
            _close(stack, 1, number, label)
        index = str(len(stack[0].children))
        _open(stack, (index,), line[opening.start() :], number, label)
    elif len(stack) == 1 and _CLASS.match(line.lstrip("[")):
        _open(stack, (str(len(stack[0].children)),), line.strip("[]"), number, label)
    elif len(stack) > 1 and _depth(line) < 0:
        _close(stack, -_depth(line), number, label)
    elif len(stack) == 1 and line.strip("[], "):
        what = "closes a module that was never opened" if line.startswith(")") else "is no part of a printed model"
        raise ReadError(f"{label}:{number}", f"{line[:40]!r} {what}", "give the output of print(model) alone")


def _close(stack: list[_Node], count: int, number: int, label: str) -> None:
    if count >= len(stack):
        raise ReadError(f"{label}:{number}", "closes more modules than were opened", "print the whole model again")
    del stack[-count:]


def _depth(line: str) -> int:
    return line.count("(") - line.count(")")


def _modules(root: _Node) -> Iterator[Module]:
    """All modules in definition order, ranges written out."""
    yield Module("", root.cls, called=False, params=root.params)
    stack = [(child, "", root.cls == "list") for child in reversed(root.children)]
    while stack:
        node, above, element = stack.pop()
        yielded = []
        for name in node.names:
            path = f"{above}.{name}" if above else name
            yielded.append(path)
        if len(yielded) > 1:
            stack.extend(
                (_Node((name,), node.cls, node.line, node.params, node.children), above, element)
                for name in reversed(node.names)
            )
            continue
        yield Module(yielded[0], node.cls, node.cls not in CONTAINERS and not element, node.params)
        stack.extend((child, yielded[0], False) for child in reversed(node.children))
