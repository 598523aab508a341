"""A layer mapping: rules by section, and the YAML that msprobe reads.

    TransformerLayer:                     # section: the class of the NPU module where the walk stands
      "self_attention": "self_attn"       # key, a path below it, and target, a path below its counterpart

A rule is data; what it does is in `suggest.replay`. `load_mapping` reads a file as msprobe does and says, line by line,
what msprobe would drop, change or choke on, which PyYAML alone would hide.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import yaml

from .errors import MappingError
from .scopes import TOP_LAYER

_OLD_TOP = "Cell"
_LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STRING = "tag:yaml.org,2002:str"
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*$")
_REVIEWED = re.compile(r"#(?:.*;)?\s*reviewed\s*(?:;|$)")
_RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """``section: {key: target}``; ``confidence`` (0 to 1) and ``note`` make its comment, ``line`` is where it stood."""

    section: str
    key: str
    target: str
    confidence: float | None = None
    note: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class LayerMap:
    """Rules in the order of the file; a section is one run of rules."""

    rules: tuple[Rule, ...] = ()

    def sections(self) -> dict[str, dict[str, str]]:
        """What a YAML loader makes of it: ``{section: {key: target}}``."""
        found: dict[str, dict[str, str]] = {}
        for rule in self.rules:
            found.setdefault(rule.section, {})[rule.key] = rule.target
        return found


@dataclass(frozen=True, slots=True)
class Problem:
    """What msprobe rejects in a mapping file (``fatal``: it ignores the whole file) or silently changes."""

    line: int
    message: str
    hint: str
    fatal: bool


@dataclass(frozen=True, slots=True)
class LoadedMapping:
    """A mapping file as msprobe understands it, what is wrong with it, and the lines that a person has said yes to."""

    name: str
    layer_map: LayerMap
    problems: tuple[Problem, ...] = ()
    reviewed: frozenset[int] = frozenset()


def load_mapping(text: str, name: str) -> LoadedMapping:
    """The rules of a mapping file, with line numbers, as msprobe 8.1 and later would apply them.

    Raises `MappingError` for a text that is no YAML at all. Everything else that is wrong is listed as a `Problem`.
    """
    try:
        documents = list(yaml.compose_all(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        what = (error.problem or "not valid YAML").replace("\n", " ")
        raise MappingError(f"{name}:{line}", f"not valid YAML: {what}", "indent with blanks and quote keys") from None
    except yaml.YAMLError as error:
        raise MappingError(name, f"not valid YAML: {str(error).splitlines()[0]}", "give a mapping.yaml") from None
    loaded = _Reader(name).read(documents)
    lines = enumerate(text.splitlines(), start=1)
    return replace(loaded, reviewed=frozenset(number for number, line in lines if _REVIEWED.search(line)))


class _Reader:
    """Collects rules and problems of one file."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[Problem] = []

    def read(self, documents: Sequence[yaml.Node | None]) -> LoadedMapping:
        top = documents[0] if documents else None
        rules: list[Rule] = []
        if len(documents) > 1 and documents[1] is not None:
            self._add(documents[1], "a second YAML document", "keep one document; remove the line ---", fatal=True)
        if top is None:
            self.problems.append(Problem(1, "the file is empty", "write {} for a mapping without rules", fatal=True))
        elif not isinstance(top, yaml.MappingNode):
            self._add(
                top, "no mapping of sections at the top level", "write SectionName: and rules below it", fatal=True
            )
        else:
            rules = self._sections(top)
        return LoadedMapping(self.name, LayerMap(tuple(rules)), tuple(sorted(self.problems, key=lambda p: p.line)))

    def _sections(self, top: yaml.MappingNode) -> list[Rule]:
        found: dict[str, list[Rule]] = {}
        for key, value in top.value:
            section = str(key.value)
            if key.tag != _STRING:
                self._add(key, f"section {section} is no string, so it is never used", "quote it", fatal=False)
            elif not isinstance(value, yaml.MappingNode):
                self._add(key, f"section {section} holds no rules", "remove it, or write rules below it", fatal=True)
            else:
                if section in found:
                    self._add(key, f"section {section} stands twice: the first one is lost", "merge them", fatal=False)
                found[section] = self._rules(section, value)
        if _OLD_TOP in found:
            if TOP_LAYER in found:
                line = found[_OLD_TOP][0].line if found[_OLD_TOP] else 1
                message = f"section {_OLD_TOP} replaces section {TOP_LAYER}, whose rules are lost"
                self.problems.append(Problem(line or 1, message, f"move its rules to {TOP_LAYER}", fatal=False))
            found.pop(TOP_LAYER, None)
            renamed = found.pop(_OLD_TOP)
            found[TOP_LAYER] = [_moved(rule, TOP_LAYER) for rule in renamed]
        return [rule for rules in found.values() for rule in rules]

    def _rules(self, section: str, node: yaml.MappingNode) -> list[Rule]:
        found: dict[str, Rule] = {}
        if not node.value:
            return []
        for key, value in node.value:
            for part, what in ((key, "key"), (value, "target")):
                if not isinstance(part, yaml.ScalarNode) or part.tag != _STRING:
                    shown = part.value if isinstance(part, yaml.ScalarNode) else "a block"
                    self._add(part, f"{what} {shown} of section {section} is no string", "put it in quotes", fatal=True)
            if not isinstance(value, yaml.ScalarNode):
                continue
            name, target = str(key.value), str(value.value)
            if name in found:
                self._add(key, f"{section}: {name} stands twice: the first one is lost", "remove one", fatal=False)
            if "(" in target:
                self._add(value, f"target {target} is cut at the parenthesis", "name the module only", fatal=False)
                target = target.split("(", maxsplit=1)[0]
            found[name] = Rule(section=section, key=name, target=target, line=key.start_mark.line + 1)
        return list(found.values())

    def _add(self, node: yaml.Node, message: str, hint: str, *, fatal: bool) -> None:
        self.problems.append(Problem(node.start_mark.line + 1, message, hint, fatal))


def _moved(rule: Rule, section: str) -> Rule:
    return Rule(section=section, key=rule.key, target=rule.target, line=rule.line)


def dump_yaml(layer_map: LayerMap, header: Iterable[str] = (), footer: Iterable[str] = (), *, comments: bool) -> str:
    """The mapping as YAML that msprobe 1.2 to 26.2 reads; every key and target quoted, comments aligned by section."""
    lines = [_comment(line) for line in header] if comments else []
    blocks = ["\n".join(_section(name, rules, comments=comments)) for name, rules in _by_section(layer_map)]
    body = "\n\n".join(blocks) if blocks else "{}"
    tail = [_comment(line) for line in footer] if comments else []
    parts = ["\n".join(lines)] if lines else []
    parts.append(body)
    if tail:
        parts += ["", "\n".join(tail)]
    return "\n".join(parts) + "\n"


def dump_json(layer_map: LayerMap) -> str:
    """Sections and rules as JSON, each rule with its confidence and note."""
    sections = {
        name: [
            {"key": rule.key, "target": rule.target, "confidence": rule.confidence, "note": rule.note} for rule in rules
        ]
        for name, rules in _by_section(layer_map)
    }
    return json.dumps({"sections": sections}, indent=2, ensure_ascii=False) + "\n"


def _by_section(layer_map: LayerMap) -> Iterator[tuple[str, list[Rule]]]:
    found: dict[str, list[Rule]] = {}
    for rule in layer_map.rules:
        found.setdefault(rule.section, []).append(rule)
    yield from found.items()


def _section(name: str, rules: list[Rule], *, comments: bool) -> list[str]:
    texts = [f"  {quoted(rule.key)}: {quoted(rule.target)}" for rule in rules]
    width = max(map(len, texts))
    lines = [f"{plain_or_quoted(name)}:"]
    for rule, text in zip(rules, texts, strict=True):
        said = [f"{rule.confidence:.2f}"] if rule.confidence is not None else []
        said += [rule.note] if rule.note else []
        lines.append(f"{text:{width}}  {_comment(' '.join(said))}" if said and comments else text)
    return lines


def plain_or_quoted(section: str) -> str:
    """A section's name as it stands before its colon."""
    return section if _PLAIN.match(section) and section.lower() not in _RESERVED else quoted(section)


def _comment(text: str) -> str:
    return f"# {printable(text)}".rstrip()


def printable(text: str) -> str:
    """One line fit for a comment, whatever the text holds."""
    return "".join(char if char.isprintable() else " " for char in text)


def quoted(text: str) -> str:
    """A double-quoted scalar, everything unusual escaped."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable() and ord(char) < 0xFFFE:
        return char
    code = ord(char)
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
