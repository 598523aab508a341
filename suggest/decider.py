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

*Harm* is a module outside the decision whose counterpart is lost. Gradients of parameters go along with their module.
Limits: a decision never moves another module out of the way; two modules on one counterpart are shown as such, to be
decided next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .decisions import ACCEPT, LINK, REJECT, Decision
from .document import REVIEWED, Document, ruled_out
from .draft import FOR_GRADIENTS, gradient_wishes
from .needs import below, joined, nowhere, taken
from .replay import IDENTITY, NOWHERE, Landing, land
from .scopes import Scopes
from .shifted import shifted

_FORWARD, _GRADIENT = "forward", "parameters_grad"


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
        before, busy = self.landing, self._busy()
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
            self._settle(nodes, decision)
        self._follow(before, here=decision.here)
        idle = busy - self._busy()
        for rule in self.document.layer_map().rules:
            if (rule.section, rule.key) in idle:
                self._drop_for_gradients(rule.section, rule.key)
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
            found.append(joined(self.landing.scopes[stop], shifted(rest, key, own)))
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

    def _settle(self, nodes: list[int], decision: Decision) -> None:
        """What is right by its name alone gets a rule that says so; nobody could see later that it was looked at."""
        for node in nodes:
            if self.landing.rules[node] == IDENTITY and self.npu.entries[node].get(_FORWARD):
                if self._hit(node, self.landing.nodes[node]):
                    self._place(node, self.landing.scopes[node], here=decision.here)
                elif decision.kind == ACCEPT:
                    self._place(node, None, here=True, said=(REVIEWED,))

    def _follow(self, before: Landing, *, here: bool) -> None:
        """Gradients of parameters follow their modules, whose names their scopes hold twice."""
        nodes = enumerate(zip(before.nodes, self.landing.nodes, strict=True))
        moved: dict[int, str | None] = {
            node: self.landing.scopes[node] for node, (old, new) in nodes if new not in (old, NOWHERE)
        }
        wishes = gradient_wishes(self.npu, self.bench, moved)
        for node in self._in_preorder() if wishes else ():
            if node in wishes and self.landing.scopes[node] != wishes[node]:
                self._place(node, wishes[node], here=here, said=(FOR_GRADIENTS,))

    def _in_preorder(self) -> Iterator[int]:
        """All nodes in the order in which the page numbers them; here they have that of the dump."""
        stack = [0]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(self.npu.children[node].values()))

    def _busy(self) -> set[tuple[str, str]]:
        """The rules that lead anything to a counterpart, by section and key."""
        rules = self.document.layer_map().rules
        hits = (rule for node, rule in enumerate(self.landing.rules) if self._hit(node, self.landing.nodes[node]))
        return {(rules[rule].section, rules[rule].key) for rule in hits if rule != IDENTITY}

    def _drop_for_gradients(self, section: str, key: str) -> None:
        """A rule that was there for gradients only goes when they have no counterpart any more."""
        at = self.document.at(section, key)
        line = self.document.lines[at]
        if at >= 0 and not line.words() and any(part.endswith(FOR_GRADIENTS) for part in line.parts()):
            self.document = self.document.without(section, key)

    def _place(self, node: int, target: str | None, *, here: bool, said: tuple[str, ...] = ()) -> None:
        """Edit rules until the replay puts a node where it should be; None is nowhere."""
        best: tuple[int, Document, Landing] | None = None
        for anchor in self._anchors(node, here=here):
            tried = self._tried(node, target, anchor, said)
            if tried is None:
                continue
            harm = self._harm(tried[1], exactly=here) if target is not None or here else 0
            if best is None or harm < best[0]:
                best = (harm, *tried)
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

    def _tried(
        self, node: int, target: str | None, anchor: _Anchor, said: tuple[str, ...]
    ) -> tuple[Document, Landing] | None:
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
        if target is None and not said:
            was = below(self.landing.scopes[anchor.stop], self.landing.scopes[node])
            refused += [was] if was and was not in refused else []
        said = said or (() if target is None else (REVIEWED,))
        document = document.with_rule(anchor.section, anchor.key, rest, [*said, *ruled_out(refused)])
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

    def _adopt(self, document: Document, landing: Landing) -> None:
        """Take an edit over, without rules that it leaves without work."""
        fired, fires = set(self.landing.rules), set(landing.rules)
        working = {(rule.section, rule.key) for index, rule in enumerate(document.layer_map().rules) if index in fires}
        for index, rule in enumerate(self.document.layer_map().rules):
            line = document.lines[document.at(rule.section, rule.key)]
            if index in fired and (rule.section, rule.key) not in working and not line.words():
                document = document.without(rule.section, rule.key)
        self.document, self.landing = document, land(self.npu, self.bench, document.layer_map())

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
        """Whether a module's call, or the gradient that stands alone at a place, is matched."""
        if place == NOWHERE:
            return False
        mine, theirs = self.npu.entries[node], self.bench.entries[place]
        if {*mine} == {*theirs} == {_GRADIENT}:
            return True
        return bool(mine.get(_FORWARD) and theirs.get(_FORWARD))
