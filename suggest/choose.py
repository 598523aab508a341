"""Choose a target for every key that some node needs, and lift what that target does not serve.

A key ``(section, path)`` applies wherever the walk stands at a node of that type above that path. Its *claims* are the
targets which those places need; the cheapest target stays in the section, and every place that needs another is lifted
to its next ancestor, where the longer key wins over the shorter one. Places are looked at from short keys to long ones,
so that a lifted place meets everything that already applies where it arrives.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from .needs import Needs, below, joined
from .scopes import Scopes

Key = tuple[str, str]
Chosen = dict[Key, str]

_BY_NAME = ""  # the claim of a place that needs no rule at this key


def choose(npu: Scopes, bench: Scopes, needs: Needs) -> Chosen:
    """Rules by (section, key), exact wherever the alignment keeps to the tree; the rest is for repair."""
    return _Chooser(npu, bench, needs).run()


class _Chooser:
    """The state of one choice: rules so far, and by key length the keys that nodes still ask for."""

    def __init__(self, npu: Scopes, bench: Scopes, needs: Needs) -> None:
        self.npu, self.bench, self.needs = npu, bench, needs
        self.rules: Chosen = {}
        self.waiting: dict[int, dict[Key, list[int]]] = defaultdict(dict)
        self.lifted: dict[int, str] = {}
        self.serving: dict[tuple[str, str, str | None], bool] = {}
        self.stops: dict[str, list[int]] = defaultdict(list)
        for node, kind in enumerate(npu.types):
            if kind is not None:
                self.stops[kind].append(node)

    def run(self) -> Chosen:
        for node in range(1, len(self.npu)):
            if self.needs.definite[node]:
                self._ask(node, self.npu.parents[node], self.npu.names[node], lifting=False)
        while any(self.waiting.values()):
            length = min(size for size, keys in self.waiting.items() if keys)
            keys = self.waiting[length]
            key = next(iter(keys))
            self._settle(key, keys.pop(key))
        return self.rules

    def _ask(self, node: int, at: int, path: str, *, lifting: bool) -> None:
        """Put a node's need down at the nearest ancestor, from ``at`` upwards, that can serve it."""
        by_name = not lifting and self.needs.images[node] == joined(self.needs.images[at], path)
        if by_name:
            return
        for section, key, _ in self._anchors(node, at, path):
            self.waiting[key.count(".")].setdefault((section, key), []).append(node)
            return

    def _anchors(self, node: int, at: int, path: str) -> Iterator[tuple[str, str, int]]:
        """(section, key, stop) of the ancestors whose place is above the node's, nearest first."""
        while at >= 0:
            section = self.npu.types[at]
            if section is not None and below(self.needs.images[at], self.needs.images[node]) is not None:
                yield section, path, at
            path = joined(self.npu.names[at], path)
            at = self.npu.parents[at]

    def _settle(self, key: Key, asking: list[int]) -> None:
        """Choose the target of one key; lift the places that it does not serve."""
        section, path = key
        claims = self._claims(section, path, frozenset(asking))
        options = [target for target in claims if target not in (_ANYTHING, _IMPOSSIBLE)]
        best = min(
            options, key=lambda target: (self._cost(target, claims, path), -len(claims[target]), target), default=""
        )
        if best != _BY_NAME:
            self.rules[key] = best
        for target, nodes in claims.items():
            if target not in (best, _ANYTHING):
                for node in nodes:
                    self._lift(node, path)

    def _claims(self, section: str, path: str, asking: frozenset[int]) -> dict[str, list[int]]:
        """The nodes to which a key applies, by the target that each of them needs."""
        claims: dict[str, list[int]] = defaultdict(list)
        for stop, node in self._places(section, path):
            claims[self._claim(stop, node, path, asking)].append(node)
        return claims

    def _places(self, section: str, path: str) -> Iterator[tuple[int, int]]:
        """(stop, node) of every place to which a key applies."""
        steps = path.split(".")
        for stop in self.stops[section]:
            node: int | None = stop
            for step in steps:
                node = self.npu.children[node].get(step) if node is not None else None
            if node is not None:
                yield stop, node

    def _claim(self, stop: int, node: int, path: str, asking: frozenset[int]) -> str:
        if not self.needs.definite[node] or self.lifted.get(node, path).count(".") > path.count("."):
            return _ANYTHING
        rest = below(self.needs.images[stop], self.needs.images[node])
        if rest is None:
            return _IMPOSSIBLE
        return _BY_NAME if rest == path and node not in asking else rest

    def _cost(self, target: str, claims: dict[str, list[int]], path: str) -> int:
        """Rules that this choice takes: its own, and one for every kind of place that has to be lifted."""
        lifts = {
            self._above(node, path)[:2]
            for other, nodes in claims.items()
            if other not in (target, _ANYTHING)
            for node in nodes
        }
        return (target != _BY_NAME) + len(lifts)

    def _lift(self, node: int, path: str) -> None:
        section, key, _ = self._above(node, path)
        self.lifted[node] = key
        waiting = self.waiting[key.count(".")].setdefault((section, key), [])
        if node not in waiting:
            waiting.append(node)

    def _above(self, node: int, path: str) -> tuple[str, str, int]:
        """The next rule above a key that could serve a node: the nearest one that serves all its places alike."""
        at = node
        for _ in range(path.count(".") + 1):
            at = self.npu.parents[at]
        anchors = list(self._anchors(node, self.npu.parents[at], joined(self.npu.names[at], path)))
        for section, key, stop in anchors:
            target = below(self.needs.images[stop], self.needs.images[node])
            if self._serves(section, key, target):
                return section, key, stop
        return anchors[-1]

    def _serves(self, section: str, path: str, target: str | None) -> bool:
        """Whether a rule would be right wherever it applies."""
        known = (section, path, target)
        if known not in self.serving:
            self.serving[known] = all(
                not self.needs.definite[node] or below(self.needs.images[stop], self.needs.images[node]) == target
                for stop, node in self._places(section, path)
            )
        return self.serving[known]


_ANYTHING = "*"  # a place that may land anywhere; no target holds an asterisk
_IMPOSSIBLE = "!"  # a place whose counterpart does not stand below the stop's
