"""A mapping file as lines that can be edited: what is not touched stays byte for byte, comments and order included.

A rule stands on a line of its own, cut into what is before its target, the target, and what is after it. An edit
replaces the target and layermap's own part of the comment; what a person wrote there stays. A section in another style
(flow style, aliases, targets on the next line) is written out line by line when the file is read.

Comments that mean something, parted from others by ``; ``:

    0.93, 0.61 review: or x, new      how sure the draft was, and whether it asks for a look
    reviewed                          a person said yes
    layermap: no                      the rule on this line is wrong, and must not come back
    layermap: no gate_proj, fc1       these targets are wrong for this key; the one on the line is another

The review page has the same edits in JavaScript (``page/document.js``), function by function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from .mapping import LayerMap, Rule, plain_or_quoted, printable, quoted
from .scopes import TOP_LAYER

REVIEWED = "reviewed"
FORBIDDEN = "layermap: no"
TEXT, SECTION, RULE, NOTHING = "text", "section", "rule", "nothing"
_BLANKS = " \t\r"
_OWN = re.compile(
    r"(?:[0-9]\.[0-9][0-9]|new|[0-9]\.[0-9][0-9] new)?(?:(?:^| )(?:review(?:: .*)?|blocked: no counterpart"
    r"|kept: another rule would move it|fused, covers .*|for parameters_grad, .*))?|reviewed"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end. ``kind`` is text, section, rule, or nothing for the ``{}`` of a file without rules.

    The text is ``head + value + tail``; only a rule has a ``value``, its target as written, and a ``tail``.
    """

    kind: str
    head: str
    value: str = ""
    tail: str = ""
    section: str = ""
    key: str = ""
    target: str = ""

    @property
    def text(self) -> str:
        return self.head + self.value + self.tail

    def parts(self) -> list[str]:
        """The parts of the comment behind a rule."""
        _, sign, said = self.tail.partition("#")
        return [part for part in said.strip(_BLANKS).split("; ") if part] if sign else []

    def forbidden(self) -> list[str]:
        """Targets that a person ruled out for this key; they may include the one on the line."""
        found: list[str] = []
        for part in self.parts():
            if part == FORBIDDEN:
                found.append(self.target)
            elif part.startswith(f"{FORBIDDEN} "):
                found += [name.strip(_BLANKS) for name in part[len(FORBIDDEN) :].split(",")]
        return found

    def is_ruled_out(self) -> bool:
        """Whether the rule on this line is itself wrong."""
        return FORBIDDEN in self.parts()

    def words(self) -> list[str]:
        """What a person wrote in the comment."""
        return [part for part in self.parts() if not _OWN.fullmatch(part) and not part.startswith(FORBIDDEN)]


@dataclass(frozen=True, slots=True)
class Document:
    """The lines of a mapping file, and what ends them."""

    lines: tuple[Line, ...]
    eol: str = "\n"

    @property
    def text(self) -> str:
        return self.eol.join(line.text for line in self.lines)

    def layer_map(self) -> LayerMap:
        """The rules, in the order of the file; ``line`` is the index of each rule's line, from 0."""
        return LayerMap(
            tuple(
                Rule(section=line.section, key=line.key, target=line.target, line=index)
                for index, line in enumerate(self.lines)
                if line.kind == RULE
            )
        )

    def at(self, section: str, key: str) -> int:
        """The index of a rule's line, -1 if there is no such rule."""
        for index, line in enumerate(self.lines):
            if line.kind == RULE and line.section == section and line.key == key:
                return index
        return -1

    def with_rule(self, section: str, key: str, target: str, said: Iterable[str]) -> Document:
        """The rule set to this target, added where there is none, with this as layermap's part of its comment."""
        at = self.at(section, key)
        if at >= 0:
            line = self.lines[at]
            value = line.value if line.target == target else quoted(target)
            return self._with(at, commented(replace(line, value=value, target=target), said, _column(line)))
        at = self._last(section)
        if at < 0:
            return self._with_section(section).with_rule(section, key, target, said)
        indent = re.match(r"[ \t]*", self.lines[at].head)
        space = indent[0] if indent and self.lines[at].kind == RULE else "  "
        line = Line(RULE, f"{space}{quoted(key)}: ", quoted(target), "", section, key, target)
        added = commented(line, said, _column(self.lines[at]))
        return self._of([*self.lines[: at + 1], added, *self.lines[at + 1 :]])

    def without(self, section: str, key: str) -> Document:
        """The rule's line left out, and its section's if it was the last; an empty section would void the file."""
        gone = {self.at(section, key)}
        if not any(
            line.kind == RULE and line.section == section and index not in gone for index, line in enumerate(self.lines)
        ):
            for index, line in enumerate(self.lines):
                if line.kind == SECTION and line.section == section:
                    gone |= {index, index - 1} if index and not self.lines[index - 1].text.strip() else {index}
        lines = [line for index, line in enumerate(self.lines) if index not in gone]
        if not any(line.kind in (RULE, NOTHING) for line in lines):
            lines.insert(self._end(lines), Line(NOTHING, "{}"))
        return self._of(lines)

    def with_comment(self, at: int, said: Iterable[str]) -> Document:
        """Layermap's part of the comment on a line replaced."""
        return self._with(at, commented(self.lines[at], said, _column(self.lines[at])))

    def _with(self, at: int, line: Line) -> Document:
        return self._of([*self.lines[:at], line, *self.lines[at + 1 :]])

    def _of(self, lines: list[Line]) -> Document:
        return Document(tuple(lines), self.eol)

    def _last(self, section: str) -> int:
        """The line after which a section's next rule goes, -1 if there is no such section."""
        found = [i for i, line in enumerate(self.lines) if line.kind in (RULE, SECTION) and line.section == section]
        return max(found, default=-1)

    def _with_section(self, section: str) -> Document:
        """An empty section added: TopLayer before all others, any other behind them."""
        lines = [line for line in self.lines if line.kind != NOTHING]
        added = Line(SECTION, f"{plain_or_quoted(section)}:", section=section)
        first = next((index for index, line in enumerate(lines) if line.kind == SECTION), None)
        if section == TOP_LAYER and first is not None:
            lines[first:first] = [added, Line(TEXT, "")]
        else:
            end = self._end(lines)
            lines[end:end] = [Line(TEXT, ""), added] if first is not None else [added]
        return self._of(lines)

    @staticmethod
    def _end(lines: list[Line]) -> int:
        """Where a new section goes: behind the last rule; without rules, behind the comments and before blank lines."""
        last = max((index for index, line in enumerate(lines) if line.kind in (RULE, SECTION)), default=-1)
        if last < 0:
            last = len(lines) - 1
            while last >= 0 and not lines[last].text.strip():
                last -= 1
        return last + 1


def ruled_out(targets: Iterable[str]) -> list[str]:
    """The part of a comment that rules targets out; none for none."""
    named = ", ".join(targets)
    return [f"{FORBIDDEN} {printable(named)}"] if named else []


def commented(line: Line, said: Iterable[str], column: int = 0) -> Line:
    """The line with layermap's part of its comment replaced, in this column if there is room."""
    parts = [*said, *line.words()]
    gap = max(2, column - len(line.head) - len(line.value))
    return replace(line, tail=" " * gap + "# " + "; ".join(parts) if parts else "")


def _column(line: Line) -> int:
    """Where the comment of a line begins, 0 if it has none."""
    before, sign, _ = line.tail.partition("#")
    return len(line.head) + len(line.value) + len(before) if sign else 0
