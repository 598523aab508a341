"""What a reviewer decides, worked into a mapping file: the fewest edits of rules that make the decision true.

A decision names NPU modules that belong together (one module, or the same place in all of a row of equal layers), and
what is right for them: a counterpart, none, or what the rules say already. It changes the rule that sends the first of
them where they go now, else adds one at the nearest ancestor under which the rule harms nobody else; so one decision
serves every instance of a class, as an expert would write it. What the replay shows to be still wrong is decided at the
next ancestor, and at last by a rule from TopLayer, which nothing can override. So the result is exact by replay; rules
that the edit leaves without work are removed.

Why not draft all rules anew for every decision: a reviewer sees one line change, the rest of a file that people have
worked on stays as it is, and the same few functions run in the page (``page/decisions.js``), so that it saves the very
bytes that this module writes. A test compares the two.

*Harm* is a module outside the decision whose counterpart is lost. Limits: a decision never moves another module out of
the way; two modules on one counterpart are shown as such, to be decided next.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .document import REVIEWED, Document, ruled_out
from .errors import LayermapError
from .needs import below, joined, nowhere, taken
from .replay import IDENTITY, NOWHERE, Landing, land
from .scopes import Scopes

ACCEPT, LINK, REJECT = "accept", "link", "reject"
_FORWARD = "forward"
_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """``nodes`` are NPU scopes; ``target`` is the first one's bench scope where ``kind`` is link, else "".

    ``here`` keeps the decision to these nodes, where it would otherwise serve their whole class.
    """

    kind: str
    nodes: tuple[str, ...]
    target: str = ""
    here: bool = False


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A rule that could move a node: its section and key, and the ancestor where the walk consults it."""

    section: str
    key: str
    stop: int


def decide(npu: Scopes, bench: Scopes, document: Document, decisions: Iterable[Decision]) -> Document:
    """The mapping file after these decisions, made one after the other."""
    for decision in decisions:
        document = _Decider(npu, bench, document).run(decision)
    return document


def parse_decisions(raw: object) -> list[Decision]:
    """Decisions from parsed JSON; raises `LayermapError` for anything else."""
    try:
        return [_parsed(item) for item in raw]  # type: ignore[attr-defined]
    except (KeyError, TypeError, ValueError):
        raise LayermapError("decisions", "not a list of decisions", "reload the page") from None


def _parsed(item: Mapping[str, Any]) -> Decision:
    kind, nodes, target = item["kind"], item["nodes"], item.get("target", "")
    if kind not in (ACCEPT, LINK, REJECT) or not nodes or not all(isinstance(node, str) for node in (*nodes, target)):
        raise ValueError(kind)
    return Decision(kind=kind, nodes=tuple(nodes), target=target, here=bool(item.get("here")))


class _Decider:
    """One decision at work: the document so far and where its rules send every node."""

    def __init__(self, npu: Scopes, bench: Scopes, document: Document) -> None:
        self.npu, self.bench, self.document = npu, bench, document
        self.landing = land(npu, bench, document.layer_map())
        self.inside: frozenset[int] = frozenset()

    def run(self, decision: Decision) -> Document:
        nodes = [node for path in decision.nodes if (node := self.npu.find(path))]
        if not nodes:
            return self.document
        self.inside = self._subtrees(nodes)
        if decision.kind == LINK:
            for node, target in zip(nodes, self._targets(nodes, decision.target), strict=True):
                if self.landing.scopes[node] != target:
                    self._place(node, target, here=decision.here)
        if decision.kind == REJECT:
            for node in nodes:
                if taken(self.npu, self.bench, node, self.landing.scopes[node]):
                    self._place(node, None, here=decision.here)
        else:
            self._mark_reviewed(nodes)
        return self.document

    def _subtrees(self, nodes: list[int]) -> frozenset[int]:
        """The nodes and everything below them; parents stand before their children."""
        inside = set(nodes)
        for node in range(1, len(self.npu)):
            if self.npu.parents[node] in inside:
                inside.add(node)
        return frozenset(inside)

    def _targets(self, nodes: list[int], target: str) -> list[str]:
        """The bench scope of every node: what the first one's is below its ancestor's, each has below its own."""
        height, rest, key = self._relation(nodes[0], target)
        found = []
        for node in nodes:
            stop, own = self.npu.parents[node], self.npu.names[node]
            for _ in range(height - 1):
                if stop > 0:
                    own, stop = joined(self.npu.names[stop], own), self.npu.parents[stop]
            found.append(joined(self.landing.scopes[stop], _shifted(rest, key, own)))
        return [target, *found[1:]]

    def _relation(self, node: int, target: str) -> tuple[int, str, str]:
        """How far above a node the nearest ancestor is below whose place the target is, the target below that place,
        and the node's path below the ancestor.
        """
        stop, key, height = self.npu.parents[node], self.npu.names[node], 1
        while stop:
            rest = below(self.landing.scopes[stop], target)
            if rest is not None and self.landing.scopes[stop]:
                return height, rest, key
            key, stop, height = joined(self.npu.names[stop], key), self.npu.parents[stop], height + 1
        return height, target, key

    def _place(self, node: int, target: str | None, *, here: bool) -> None:
        """Edit rules until the replay puts a node where it should be; None is nowhere."""
        best: tuple[int, _Anchor, Document, Landing] | None = None
        for anchor in self._anchors(node, here=here):
            tried = self._tried(node, target, anchor)
            if tried is None:
                continue
            harm = self._harm(tried[1], exactly=here) if target is not None or here else 0
            if best is None or harm < best[0]:
                best = (harm, anchor, *tried)
            if harm == 0:
                break
        if best is not None:
            self._adopt(*best[1:])

    def _anchors(self, node: int, *, here: bool) -> Iterator[_Anchor]:
        """Rules that could move a node, the one that does so now first, then the nearest ancestor's, outwards."""
        found: list[_Anchor] = []
        key, at = self.npu.names[node], self.npu.parents[node]
        while at >= 0:
            section = self.npu.types[at]
            if section is not None:
                found.append(_Anchor(section, key, at))
            key, at = joined(self.npu.names[at], key), self.npu.parents[at]
        index = self.landing.rules[node]
        if index != IDENTITY and not here:
            rule = self.document.layer_map().rules[index]
            found.sort(key=lambda anchor: (anchor.section, anchor.key) != (rule.section, rule.key))
        yield from found

    def _tried(self, node: int, target: str | None, anchor: _Anchor) -> tuple[Document, Landing] | None:
        """The document with one rule more or changed, and its landing; None where that does not do what it should."""
        document = self.document
        at = document.at(anchor.section, anchor.key)
        old = document.lines[at] if at >= 0 else None
        if target is None:
            rest: str | None = nowhere(self.bench, self.npu.names[node])
        else:
            rest = below(self.landing.scopes[anchor.stop], target)
        if rest is None or (anchor.stop and not self.landing.scopes[anchor.stop]):
            return None
        refused = [name for name in (old.forbidden() if old else []) if name != rest]
        if target is None:
            was = below(self.landing.scopes[anchor.stop], self.landing.scopes[node])
            refused += [was] if was and was not in refused else []
        said = ruled_out(refused) if target is None else [REVIEWED, *ruled_out(refused)]
        document = document.with_rule(anchor.section, anchor.key, rest, said)
        landing = land(self.npu, self.bench, document.layer_map())
        reached = landing.scopes[node]
        right = not taken(self.npu, self.bench, node, reached) if target is None else reached == target
        return (document, landing) if right else None

    def _harm(self, landing: Landing, *, exactly: bool) -> int:
        """Modules outside the decision that lose their counterpart, or that move at all."""
        return sum(
            before != after and (exactly or (self._hit(node, before) and not self._hit(node, after)))
            for node, (before, after) in enumerate(zip(self.landing.nodes, landing.nodes, strict=True))
            if node not in self.inside
        )

    def _adopt(self, anchor: _Anchor, document: Document, landing: Landing) -> None:
        """Take an edit over, without rules that it leaves without work, or itself if it says what holds anyway."""
        fired, fires = set(self.landing.rules), set(landing.rules)
        working = {(rule.section, rule.key) for index, rule in enumerate(document.layer_map().rules) if index in fires}
        for index, rule in enumerate(self.document.layer_map().rules):
            line = document.lines[document.at(rule.section, rule.key)]
            if index in fired and (rule.section, rule.key) not in working and not line.words():
                document = document.without(rule.section, rule.key)
        at = document.at(anchor.section, anchor.key)
        line = document.lines[at]
        if at >= 0 and line.key == line.target and line.parts() == [REVIEWED]:
            fewer = document.without(anchor.section, anchor.key)
            document = fewer if self._same(fewer, landing) else document
        self.document, self.landing = document, land(self.npu, self.bench, document.layer_map())

    def _same(self, document: Document, landing: Landing) -> bool:
        return land(self.npu, self.bench, document.layer_map()).scopes == landing.scopes

    def _mark_reviewed(self, nodes: list[int]) -> None:
        """The rules that decide these nodes are marked as reviewed, unless a person has commented on them."""
        rules = self.document.layer_map().rules
        for index in sorted({self.landing.rules[node] for node in nodes} - {IDENTITY}):
            line = self.document.lines[rules[index].line or 0]
            if REVIEWED not in line.parts():
                refused = [name for name in line.forbidden() if name != line.target]
                said = [REVIEWED, *ruled_out(refused)]
                self.document = self.document.with_comment(rules[index].line or 0, said)

    def _hit(self, node: int, place: int) -> bool:
        return place != NOWHERE and bool(
            self.npu.entries[node].get(_FORWARD) and self.bench.entries[place].get(_FORWARD)
        )


def _shifted(rest: str, key: str, own: str) -> str:
    """A target for another layer: every number moves by as much as the number in the key does."""
    steps, old, new = rest.split("."), _numbers(key), _numbers(own)
    if not len(_numbers(rest)) == len(old) == len(new):
        return rest
    moves = iter(after - before for before, after in zip(old, new, strict=True))
    return ".".join(str(int(step) + next(moves)) if _NUMBER.fullmatch(step) else step for step in steps)


def _numbers(path: str) -> list[int]:
    return [int(step) for step in path.split(".") if _NUMBER.fullmatch(step)]
