"""Read ``print(model)``: the nested repr of a PyTorch module or a MindSpore cell.

    DistributedDataParallel(
      (module): Float16Module(
        (layers): ModuleList(
          (0-15): 16 x Layer(

Every line is a child ``(name): Class(...)``, an extra line of a module's repr, or closes modules. A run of equal
children is one line with a range. A list of models, ``[Model(...), Model(...)]``, gives its elements numbers; neither
the list nor its elements are ever called. Older MindSpore writes ``Class<...>`` and closes two blanks further in. Where
in a text the printouts stand is found by `suggest.printouts`; those that ranks have signed are merged as ranks are, of
others the first is read, unless one is asked for.

Limits: which modules a forward pass calls is not printed, so every module that is no container counts as called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from matcher import Module, Params

from .entries import recorded
from .errors import ReadError
from .files import UNREADABLE
from .printouts import CHILD, CLASS, CLOSERS, Printout, bracket_depth, clean, find_printouts
from .recording import Merger, Recording
from .shapes import params_of
from .source import Source

CONTAINERS = frozenset({"ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "CellList", "CellDict"})
_RANGE = re.compile(r"(\d+)-(\d+)$")
_CELL_SIGNS = frozenset({"CellList", "CellDict", "SequentialCell"})
_TORN = re.compile(r"\s*\([A-Za-z_]\w*(?!\w|,|\)|\s)")  # the name of a child, and not what has to follow
_AGAIN = "print the whole model again"
_SHOWN = 4


@dataclass(slots=True)
class _Node:
    names: tuple[str, ...]
    cls: str
    line: int
    params: Params = ()
    children: list[_Node] = field(default_factory=list)


def read_text(text: str | Iterable[str], label: str, part: str = "") -> Source:
    """The tree of a printed model, given whole or line by line; ``part`` is the number or the class of one of several.

    Raises `ReadError` with the line where the text ends too early, closes too much, or holds no module.
    """
    watched = _Watched(text.splitlines() if isinstance(text, str) else text)
    found = find_printouts(watched, label)
    alone = watched.one_line_model()
    printouts = (alone,) if alone else found.printouts
    if not printouts:
        if found.strays:
            number, line = found.strays[0]
            raise ReadError(
                f"{label}:{number}", f"{line[:40]!r} is part of a printed model that begins earlier", _AGAIN
            )
        raise ReadError(label, "no module found in the text", "give the output of print(model), or a dump of msprobe")
    notes = []
    if found.strays:
        number, line = found.strays[0]
        notes.append(
            f"line {number} and {len(found.strays) - 1} more are no part of a whole printed model: {line[:40]}"
        )
    chosen, said = _choose(printouts, part, label)
    merger = Merger()
    for printout in chosen:
        merger.add(_recording(printout, label))
    if merger.equal:
        said = f"{len(chosen)} ranks have printed a model, {merger.equal} of them one that is read already"
    return merger.source(label, "printed model", [*notes, *([said] if said else [])])


class _Watched:
    """Lines that pass by; afterwards, the only one that is not blank, if there is but one."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self._shown: list[tuple[int, str]] = []

    def __iter__(self) -> Iterator[str]:
        for number, line in enumerate(self._lines, 1):
            if len(self._shown) < 2 and line.strip():
                self._shown.append((number, clean(line).strip()))
            yield line

    def one_line_model(self) -> Printout | None:
        """``Linear(in_features=2, ...)`` is a whole model, if it is all there is."""
        if len(self._shown) != 1:
            return None
        number, line = self._shown[0]
        opens = CLASS.match(line)
        if opens is None or not line.endswith(")") or bracket_depth(line, opens["bracket"]):
            return None
        return Printout(opens["cls"], opens["bracket"], "", number, [(number, line)], closed=True)


def _choose(printouts: Sequence[Printout], part: str, label: str) -> tuple[list[Printout], str]:
    """The printouts to read, and what is to be said about the others."""
    shown = ", ".join(f"{index} {p.cls} (line {p.line})" for index, p in enumerate(printouts[:_SHOWN], 1))
    shown += f" and {len(printouts) - _SHOWN} more" if len(printouts) > _SHOWN else ""
    if part:
        named = [p for index, p in enumerate(printouts, 1) if part in (str(index), p.cls)]
        if not named:
            raise ReadError(label, f"no printed model #{part} in the text: there are {shown}", "choose one of them")
        return named[:1], ""
    ranks = {printout.rank: printout for printout in reversed(printouts) if printout.rank}
    if len(ranks) > 1 and len(ranks) == len(printouts):
        names = ", ".join(sorted(ranks, key=int))
        return [ranks[rank] for rank in sorted(ranks, key=int)], f"merged what ranks {names} have printed"
    texts = {tuple(line.strip() for _, line in printout.lines) for printout in printouts}
    if len(texts) > 1:
        return [
            printouts[0]
        ], f"{len(printouts)} models are printed here, {shown}; the first is read, #2 asks for the next"
    return [printouts[0]], ""


def _recording(printout: Printout, label: str) -> Recording:
    root = _parse(printout, label)
    modules = list(_modules(root))
    is_cell = printout.bracket == "<" or any(module.cls in _CELL_SIGNS for module in modules)
    return Recording(f"line {printout.line}", *recorded(modules, "Cell" if is_cell else "Module"))


class _Parser:
    """The stack of open modules, and where in the text we are."""

    def __init__(self, printout: Printout, label: str) -> None:
        self.printout, self.label = printout, label
        self.top = _Node((), "list", printout.line)
        self.stack: list[_Node] = [self.top]
        self.base = 0  # the indentation of the model itself

    def error(self, number: int, problem: str, hint: str = _AGAIN) -> ReadError:
        return ReadError(f"{self.label}:{number}", problem, hint)

    def feed(self, number: int, line: str) -> None:
        child = CHILD.match(line)
        if UNREADABLE in line or (child is None and _TORN.match(line)):
            raise self.error(number, f"{line.strip()[:40]!r} is no line of a printed model: the text is damaged")
        if number == self.printout.line:
            self.open(("0",), line, number)
        elif child and CLASS.match(child["rest"]):
            self.check_indentation(number, line)
            self.open(self.names(child["name"], child["count"], number), child["rest"], number)
        elif line.strip():
            self.other(line.strip(), number)

    def check_indentation(self, number: int, line: str) -> None:
        """A child stands two blanks deeper than its parent; where it does not, lines of somebody else came between."""
        if self.printout.is_loose:
            return
        indent = len(line) - len(line.lstrip(" "))
        if indent != 2 * (len(self.stack) - 1):
            raise self.error(
                number,
                f"{line.strip()[:40]!r} is indented by {indent} where {2 * (len(self.stack) - 1)} are expected: the"
                " printout is damaged, or those of several ranks are interleaved",
                "print the model again, on one rank",
            )

    def names(self, name: str, count: str | None, number: int) -> tuple[str, ...]:
        span = _RANGE.match(name)
        if count is None:
            return (name,)
        if span is None or int(span[2]) - int(span[1]) + 1 != int(count):
            raise self.error(number, f"({name}) does not stand for {count} modules", "print the model again")
        return tuple(map(str, range(int(span[1]), int(span[2]) + 1)))

    def open(self, names: tuple[str, ...], rest: str, number: int) -> None:
        """A module begins; it ends on the same line unless its bracket stays open."""
        found = CLASS.match(rest)
        if found is None:
            raise self.error(number, f"no class name in {rest[:40]!r}")
        parent = self.stack[-1]
        if any(set(names) & set(sibling.names) for sibling in parent.children):
            raise self.error(
                number,
                f"({names[0]}) stands twice in the {parent.cls} of line {parent.line}: the printouts of several ranks"
                " are interleaved",
                "print on one rank only",
            )
        node = _Node(names, found["cls"], number)
        parent.children.append(node)
        self.stack.append(node)
        depth = self.depth(rest)
        if depth <= 0:
            inside = rest[found.end() : rest.rfind(CLOSERS[self.printout.bracket])]
            node.params = params_of(node.cls, inside)
            self.close(1 - depth, number)

    def other(self, line: str, number: int) -> None:
        """Closing brackets, the next model of a list, or an extra line of a module's repr."""
        opening = re.search(r"[A-Za-z_][\w.]*\((?!.*\))", line) if line.startswith("), ") else None
        if opening and len(self.stack) == 2:
            self.close(1, number)
            self.open((str(len(self.top.children)),), line[opening.start() :], number)
        elif self.depth(line) < 0:
            self.close(-self.depth(line), number)
        else:
            self.stack[-1].params = (*self.stack[-1].params, *params_of(self.stack[-1].cls, line))

    def depth(self, text: str) -> int:
        return bracket_depth(text, self.printout.bracket)

    def close(self, count: int, number: int) -> None:
        if count >= len(self.stack):
            raise self.error(number, "closes more modules than were opened")
        del self.stack[-count:]


def _parse(printout: Printout, label: str) -> _Node:
    parser = _Parser(printout, label)
    for number, line in printout.lines:
        parser.feed(number, line)
    if len(parser.stack) > 1:
        where = parser.stack[-1]
        raise parser.error(where.line, f"the printed model is cut off: {where.cls} is opened here and never closed")
    if len(parser.top.children) == 1 and not printout.is_list:
        return parser.top.children[0]
    return parser.top


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
