"""A mapping file read into lines that remember where its rules stand.

YAML says what the rules are, its marks say where. A section that does not stand one rule a line (flow style, values on
lines of their own) is written out so; every other line is taken as it is, to the byte.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate

import yaml

from .document import NOTHING, RULE, SECTION, TEXT, Document, Line
from .errors import MappingError
from .mapping import load_mapping, plain_or_quoted, quoted
from .scopes import TOP_LAYER

_OLD_TOP = "Cell"
_STRING = "tag:yaml.org,2002:str"


def load_document(text: str, name: str) -> Document:
    """The lines of a mapping file.

    Raises `MappingError` for a file that msprobe rejects or of which it silently drops something.
    """
    for problem in load_mapping(text, name).problems:
        if problem.fatal or "stands twice" in problem.message or "replaces section" in problem.message:
            raise MappingError(f"{name}:{problem.line}", problem.message, problem.hint)
    top = yaml.compose(text, Loader=yaml.SafeLoader)
    eol = "\r\n" if text.count("\r\n") == text.count("\n") > 0 else "\n"
    lines = [Line(TEXT, part) for part in text.split(eol)]
    if not isinstance(top, yaml.MappingNode) or not top.value:
        nothing = [replace(line, kind=NOTHING) if line.head.split("#")[0].strip() == "{}" else line for line in lines]
        return Document(tuple(nothing), eol)
    return Document(tuple(_Reader(lines, eol).read(top)), eol)


class _Reader:
    """Finds the rules in the lines of one file."""

    def __init__(self, lines: list[Line], eol: str) -> None:
        self.lines = lines
        self.starts = [0, *accumulate(len(line.head) + len(eol) for line in lines)]
        self.new: dict[int, list[Line]] = {}

    def read(self, top: yaml.MappingNode) -> list[Line]:
        if top.flow_style:
            sections = [self._written_out(key, value) for key, value in top.value]
            parted = [line for lines in sections for line in (*lines, Line(TEXT, ""))]
            first, last = self._row(top.start_mark), self._row(top.end_mark)
            return [*self.lines[:first], *parted[:-1], *self.lines[last + 1 :]]
        for key, value in top.value:
            if key.tag == _STRING:
                rules = self._rules(str(key.value), value)
                if rules is None:
                    self._replace(key, value, self._written_out(key, value))
                else:
                    head = self.lines[self._row(key.start_mark)].head
                    self.new[self._row(key.start_mark)] = [Line(SECTION, head, section=_section(key))]
                    self.new.update((row, [line]) for row, line in rules.items())
        return [line for row, old in enumerate(self.lines) for line in self.new.get(row, [old])]

    def _rules(self, name: str, node: yaml.MappingNode) -> dict[int, Line] | None:
        """The rules of a section by row; None where they do not stand one a line."""
        found: dict[int, Line] = {}
        if node.flow_style or not node.value:
            return None
        for key, value in node.value:
            row = self._row(key.start_mark)
            if {self._row(mark) for mark in (key.end_mark, value.start_mark, value.end_mark)} != {row} or row in found:
                return None
            text, start = self.lines[row].head, self.starts[row]
            begin, end = value.start_mark.index - start, value.end_mark.index - start
            if text[: key.start_mark.index - start].strip():
                return None
            found[row] = _rule(_section_name(name), key, value, (text[:begin], text[begin:end], text[end:]))
        return found

    def _replace(self, key: yaml.Node, value: yaml.MappingNode, lines: list[Line]) -> None:
        last = max((self._row(part.end_mark) for pair in value.value for part in pair), default=0)
        ends = self._row(value.end_mark) if value.flow_style else last
        first = self._row(key.start_mark)
        for row in range(first, max(first, ends) + 1):
            self.new[row] = lines if row == first else []

    @staticmethod
    def _written_out(key: yaml.Node, value: yaml.MappingNode) -> list[Line]:
        section = _section(key)
        rules = [
            _rule(section, k, v, (f"  {quoted(str(k.value))}: ", quoted(str(v.value)), "")) for k, v in value.value
        ]
        name = plain_or_quoted(str(key.value))
        return [Line(SECTION, f"{name}:" if rules else f"{name}: {{}}", section=section), *rules]

    def _row(self, mark: yaml.Mark) -> int:
        return bisect_right(self.starts, mark.index) - 1


def _section(key: yaml.Node) -> str:
    return _section_name(str(key.value))


def _section_name(name: str) -> str:
    return TOP_LAYER if name == _OLD_TOP else name


def _rule(section: str, key: yaml.Node, value: yaml.Node, cut: tuple[str, str, str]) -> Line:
    target = str(value.value).split("(", maxsplit=1)[0]
    return Line(RULE, *cut, section=section, key=str(key.value), target=target)
