"""Find what ``print(model)`` wrote, wherever it stands: in a training log, a quoted mail, a terminal's recording.

    2024-05-06 10:11:12 INFO rank 0 | GPTModel(
    2024-05-06 10:11:12 INFO rank 0 |   (embedding): Embedding(128, 64)
    2024-05-06 10:11:12 INFO rank 0 | )

A printout begins with a line that ends in ``Class(`` (older MindSpore: ``Class<``) before a line that stands two blanks
deeper. What precedes the two blanks is the prefix of the printout: it is nothing, or the same on every line but for its
digits. Colour codes are dropped first. Lines without the prefix are other people's. A printout ends where its brackets
are balanced; where another one begins first, it is cut off, or two processes wrote at once: which of the two is told by
what follows.

Limits: lines of a printout that lost both their prefix and their indentation are not found again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .errors import ReadError

CHILD = re.compile(r"\s*\((?P<name>[^()\s]+)\): (?:(?P<count>\d+) x )?(?P<rest>.*)$")
CLASS = re.compile(r"(?P<cls>[A-Za-z_][\w.]*)(?P<bracket>[(<])")
_OPENS = re.compile(r"(?P<prefix>(?:.*[^\w.])?)(?P<cls>[A-Za-z_][\w.]*)(?P<bracket>[(<])$")
_COLOUR = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-Z\\-_])")
_INDENTED = re.compile(r"(?P<prefix>.*?)  \([^()\s]+\): ")
_RANK = re.compile(r"(?:rank|default|proc|worker|pid)[\s:=_-]*(?P<rank>\d+)", re.IGNORECASE)
_PATIENCE = 4  # lines of others that may follow the first line of a printout
_INSIDE = re.compile(r"  \S")
_BRACKETS = ("(", "<")
_CLOSING = (")", ">", "]")
CLOSERS = {"(": ")", "<": ">"}
_ALONE = re.compile(r"[)>\]]+,?$")


@dataclass(slots=True)
class Printout:
    """One printed model: its numbered lines without prefixes, the bracket of its form, and the rank that printed it."""

    cls: str
    bracket: str
    rank: str
    line: int
    lines: list[tuple[int, str]] = field(default_factory=list)
    closed: bool = False
    is_list: bool = False
    is_loose: bool = False  # the text has lost its indentation
    has_child: bool = False

    def depth(self, text: str) -> int:
        """How many more modules a line opens than it closes."""
        return bracket_depth(text, self.bracket)


@dataclass(frozen=True, slots=True)
class Found:
    """The printed models of a text, and the lines that look like parts of one whose beginning is missing."""

    printouts: tuple[Printout, ...]
    strays: tuple[tuple[int, str], ...]


def bracket_depth(text: str, bracket: str) -> int:
    """How many more brackets of a form a text opens than it closes; an arrow is none."""
    if bracket == "<":
        text = text.replace("->", "").replace("=>", "")
    return text.count(bracket) - text.count(CLOSERS[bracket])


def clean(line: str) -> str:
    """A line without colour codes and blanks at its end."""
    if "\x1b" in line:
        line = _COLOUR.sub("", line)
    return line.rstrip()


def is_child(line: str) -> bool:
    """Whether a line, prefix and all, shows a child of a printed model."""
    if "): " not in line:
        return False
    found = re.search(r"\([^()\s]+\): (?:\d+ x )?[A-Za-z_][\w.]*[(<]", line)
    return found is not None


def find_printouts(lines: Iterable[str], label: str) -> Found:
    """Every printed model of a text, in order; raises `ReadError` where the printouts of two ranks are interleaved."""
    finder = _Finder(label)
    for number, line in enumerate(lines, 1):
        finder.feed(number, clean(line))
    return finder.done()


class _Finder:
    """The state of the search: the open printout, or the line that may begin one."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._found: list[Printout] = []
        self._strays: list[tuple[int, str]] = []
        self._open: Printout | None = None
        self._prefix = re.compile("")
        self._depth = 0
        self._begun: tuple[int, re.Match[str]] | None = None
        self._ended = 0  # the line on which the last printout ended
        self._broken: Printout | None = None  # a printout that another of its class has cut short

    def feed(self, number: int, line: str) -> None:
        if self._open is None:
            self._outside(number, line)
        else:
            self._inside(self._open, number, line)

    def done(self) -> Found:
        self._keep()
        return Found(tuple(self._found), tuple(self._strays))

    def _outside(self, number: int, line: str) -> None:
        opens = _OPENS.match(line) if line.endswith(_BRACKETS) and not is_child(line) else None
        if self._begun is not None:
            begun, self._begun = self._begun, None
            prefix = _prefix_of(begun[1]["prefix"], line)
            if prefix is not None:
                self._inside(self._start(begun, prefix, line), number, line)
                return
            if opens and opens["cls"] == begun[1]["cls"] and _pattern(begun[1]["prefix"]).fullmatch(opens["prefix"]):
                raise self._interleaved(opens["cls"], begun[0], number)
            if number - begun[0] < _PATIENCE:
                self._begun = begun
        if opens:
            self._begun = (number, opens)
        elif is_child(line) or (self._ended == number - 1 and self._ended and _ALONE.match(line.strip())):
            if self._broken is not None:
                raise self._interleaved(self._broken.cls, self._broken.line, number)
            if not is_child(line):
                raise ReadError(
                    f"{self._label}:{number}",
                    f"{line.strip()!r} closes a module that was never opened",
                    "print the whole model again, on one rank",
                )
            self._strays.append((number, line.strip()))

    def _start(self, begun: tuple[int, re.Match[str]], prefix: str, inside: str) -> Printout:
        number, opens = begun
        self._prefix = _pattern(prefix)
        rank = _RANK.search(opens["prefix"]) or _RANK.search(prefix)
        printout = Printout(opens["cls"], opens["bracket"], rank["rank"] if rank else "", number)
        printout.is_loose = not inside[len(prefix) :].startswith(" ")
        printout.is_list = opens["prefix"].rstrip().endswith("[")
        printout.lines.append((number, opens["cls"] + opens["bracket"]))
        self._open, self._depth = printout, 1
        return printout

    def _inside(self, printout: Printout, number: int, line: str) -> None:
        prefix = self._prefix.match(line)
        if prefix is None:
            return
        rank = _RANK.search(prefix[0])
        if rank and printout.rank and rank["rank"] != printout.rank:
            raise self._interleaved(printout.cls, printout.line, number)
        text = line[prefix.end() :]
        if text and not text.startswith((" ", *_CLOSING)) and not printout.is_loose:
            opens = _OPENS.match(line) if line.endswith(_BRACKETS) else None
            if opens:
                self._second(printout, number, opens)
            return
        printout.has_child = printout.has_child or CHILD.match(text) is not None
        printout.lines.append((number, text))
        self._depth += printout.depth(text)
        if self._depth <= 0:
            printout.closed = True
            self._ended = number
            self._keep()

    def _keep(self) -> None:
        """The open printout ends here; if it had no child, it was the call of a function in some source text."""
        if self._open is not None and self._open.has_child:
            self._found.append(self._open)
        self._open = None

    def _second(self, printout: Printout, number: int, opens: re.Match[str]) -> None:
        """Another model begins before this one has ended."""
        if printout.has_child and opens["cls"] == printout.cls:
            self._broken = printout
        self._keep()
        self._begun = (number, opens)

    def _interleaved(self, cls: str, begun: int, number: int) -> ReadError:
        return ReadError(
            f"{self._label}:{number}",
            f"the printouts of several ranks are interleaved: the {cls} of line {begun} has not ended here",
            "print on one rank only, or separate the ranks first: grep 'rank0' LOG > rank0.txt",
        )


def _prefix_of(before: str, line: str) -> str | None:
    """What stands before the first line inside a printout; None if that line is not inside."""
    if before.isspace() and _INSIDE.match(line[len(before) :]) and line.startswith(before):
        return before
    if _INSIDE.match(line):
        return ""
    if before and (found := _pattern(before).match(line)) and _INSIDE.match(line[found.end() :]):
        return found[0]
    if found := _INDENTED.match(line):
        return found["prefix"]
    child = CHILD.match(line)
    return "" if child and CLASS.match(child["rest"]) else None


def _pattern(prefix: str) -> re.Pattern[str]:
    """A prefix, with any digits for its digits."""
    parts = re.split(r"(\d+)", prefix)
    return re.compile("".join(r"\d+" if part.isdigit() else re.escape(part) for part in parts))
