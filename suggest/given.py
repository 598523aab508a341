"""What a mapping file that is kept gives and rules out, and where it contradicts itself.

Ruled out are targets behind ``# layermap: no`` on a rule's line, and rules that stand in a comment which ends so:

      # "linear_fc1": "gate_proj"  # layermap: no
"""

from __future__ import annotations

import re
from collections import defaultdict

import yaml

from .document import RULE, SECTION, TEXT, Document
from .errors import MappingError
from .mapping import LayerMap, Rule
from .replay import IDENTITY, NOWHERE, Landing
from .scopes import TOP_LAYER, Scopes

_OUT = re.compile(r"\s*#\s*(?P<rule>\S.*?)\s+#\s*layermap: no\s*$")


def check_keys(text: str, name: str) -> None:
    """Raise for a section or a key that stands twice; YAML itself would take the last."""
    try:
        top = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return  # load_document says where and why
    if not isinstance(top, yaml.MappingNode):
        return
    _check_twice(top, name, "section {0}")
    for section, rules in top.value:
        if isinstance(rules, yaml.MappingNode):
            _check_twice(rules, name, f"{section.value}: {{0}} -> {{1}}")


def _check_twice(node: yaml.MappingNode, name: str, shown: str) -> None:
    first: dict[str, tuple[int, str]] = {}
    for key, value in node.value:
        text = shown.format(key.value, getattr(value, "value", ""))
        line = key.start_mark.line + 1
        if str(key.value) in first:
            other, said = first[str(key.value)]
            raise MappingError(f"{name}:{line}", f"{text} contradicts line {other}, {said}", "keep one of them")
        first[str(key.value)] = (line, text)


def check_places(here: Scopes, there: Scopes, given: LayerMap, landing: Landing, document: Document, name: str) -> None:
    """Raise where two given rules send two modules to one, or a rule is given and ruled out."""
    for rule in given.rules:
        for row, target in _commented_out(document).get((rule.section, rule.key), ()):
            if target == rule.target:
                _contradiction(name, rule, f"line {row + 1}, which rules it out")
    first: dict[int, int] = {}
    for node, place in enumerate(landing.nodes):
        index = landing.rules[node]
        if index != IDENTITY and place != NOWHERE and here.entries[node].keys() & there.entries[place].keys():
            other = given.rules[first.setdefault(place, index)]
            if other is not given.rules[index]:
                shown = f"{other.section}: {other.key} -> {other.target}"
                both = f"both send a module to {there.path(place)}"
                _contradiction(name, given.rules[index], f"line {(other.line or 0) + 1}, {shown}: {both}")


def _contradiction(name: str, rule: Rule, other: str) -> None:
    shown = f"{rule.section}: {rule.key} -> {rule.target}"
    raise MappingError(f"{name}:{(rule.line or 0) + 1}", f"{shown} contradicts {other}", "keep one of them")


def refused(document: Document) -> dict[tuple[str, str], tuple[str, ...]]:
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line in document.lines:
        if line.kind == RULE and line.forbidden():
            found[line.section, line.key] += line.forbidden()
    for key, rows in _commented_out(document).items():
        found[key] += [target for _, target in rows]
    return {key: tuple(dict.fromkeys(targets)) for key, targets in found.items()}


def _commented_out(document: Document) -> dict[tuple[str, str], list[tuple[int, str]]]:
    """Rules that stand in comments and are ruled out: by section and key, the line and the target."""
    found: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    section = TOP_LAYER
    for row, line in enumerate(document.lines):
        section = line.section if line.kind == SECTION else section
        match = _OUT.match(line.head) if line.kind == TEXT else None
        if match:
            try:
                rule = yaml.safe_load(match["rule"])
            except yaml.YAMLError:
                continue
            if isinstance(rule, dict):
                for key, target in rule.items():
                    found[section, str(key)].append((row, str(target)))
    return found
