"""Where the APIs of matched modules have to land, so that they get rules through the same synthesis as modules.

msprobe puts an API below the module that called it, so an API is a node of the trie like any other. The operators of
a matched pair of modules, those of unmatched modules inside them included, are paired by what they do
(`matcher.operators`). What finds no partner there is offered to the next matched pair around, where it must be one of
equally many: a norm of its own here may be computed inside a fused linear there. Limits: k-th calls meet k-th calls;
an API that bears the name of a module beside it shares that module's place and is left to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from matcher import Operator, is_activation, kind_of, paired

from .needs import Wanted, joined
from .replay import NOWHERE, Landing
from .scopes import Scopes
from .source import Source, is_api_name

_FORWARD = "forward"


@dataclass(frozen=True, slots=True)
class Apis:
    """Forward calls of APIs on the NPU side: how many there are, and how many msprobe would match."""

    matched: int
    total: int

    def line(self) -> str:
        """In words; "" where there are none."""
        return f"{self.matched} of {self.total} API calls match" if self.total else ""


Pools = dict[int, list[int]]


def has_apis(scopes: Scopes) -> bool:
    """Whether a dump holds APIs (level ``mix``)."""
    return any(scopes.api_calls)


@dataclass(frozen=True, slots=True)
class Side:
    """A trie, and the place of every forward call in the dump, which is the order in which calls ended."""

    scopes: Scopes
    order: Mapping[str, int]

    @staticmethod
    def of(source: Source, scopes: Scopes) -> Side:
        entries = enumerate(source.entries)
        return Side(scopes, {entry.name: place for place, entry in entries if entry.state == _FORWARD})

    def ended_before(self, node: int, mark: int) -> list[bool]:
        """For every call at a node, whether it ended before the first call at another."""
        first = next(iter(self._places(mark)), -1)
        return [place < first for place in self._places(node)]

    def _places(self, node: int) -> Iterator[int]:
        return (self.order[name] for name in self.scopes.entries[node].get(_FORWARD, ()))


def count_apis(here: Scopes, there: Scopes, landing: Landing) -> Apis:
    """What a mapping matches of the forward calls of APIs, replayed."""
    matched = total = 0
    for node, place in enumerate(landing.nodes):
        partners = len(there.entries[place].get(_FORWARD, ())) if place != NOWHERE else 0
        calls = here.api_calls[node]
        if calls:
            total += calls
            matched += min(calls, partners)
            continue
        names = here.entries[node].get(_FORWARD, ())
        beside = [call for call, name in enumerate(names) if is_api_name(name)] if len(names) > 1 else ()
        total += len(beside)
        matched += sum(call < partners for call in beside)
    return Apis(matched, total)


def is_api(scopes: Scopes, node: int) -> bool:
    """Whether nothing but calls of an API was recorded at a node."""
    return scopes.api_calls[node] > 0


def misled(here: Scopes, there: Scopes, wanted: Wanted) -> dict[int, None]:
    """APIs that would meet by their name a module of the other side that has its counterpart: they belong nowhere."""
    images = {scope for scope in wanted.values() if scope is not None}
    found: dict[int, None] = {}
    for node in range(1, len(here)):
        above = wanted.get(here.parents[node]) if node not in wanted and is_api(here, node) else None
        if above is not None and (scope := joined(above, here.names[node])) in images:
            place = there.find(scope)
            if place is not None and not is_api(there, place):
                found[node] = None
    return found


def api_wishes(npu: Side, bench: Side, wanted: Wanted) -> dict[int, str]:
    """The bench scope of every API of the NPU side that has a counterpart; ``wanted`` are the wishes of modules."""
    here, there = npu.scopes, bench.scopes
    pairs = {0: 0} | {
        node: place for node, scope in wanted.items() if scope is not None and (place := there.find(scope)) is not None
    }
    back = {place: node for node, place in pairs.items()}
    ours, theirs = _owned(here, pairs, _apis(here)), _owned(there, back, _apis(there))
    inner = _owned(here, pairs, sorted(pairs)[1:])
    found: dict[int, int] = {}
    for node in sorted(pairs, reverse=True):  # a node stands after its parent, so the innermost come first
        place = pairs[node]
        own = [one for one in ours[node] if here.parents[one] == node]
        found.update(_paired(here, there, own, [other for other in theirs[place] if there.parents[other] == place]))
        done = set(found.values())
        left = sorted(one for one in ours[node] if one not in found)
        right = sorted(other for other in theirs[place] if other not in done)
        marks = [(mark, pairs[mark]) for mark in inner[node]]
        candidates = _paired(here, there, left, right, strict=True)
        found.update(pair for pair in candidates if _in_step(npu, bench, pair, marks))
        if node:
            here_only, there_only = _one_sided(here, left, there, right)
            ours[_owner(here, node, pairs)] += here_only
            theirs[_owner(there, place, back)] += there_only
    return {one: there.path(other) for one, other in sorted(found.items())}


def _paired(
    here: Scopes, there: Scopes, left: list[int], right: list[int], *, strict: bool = False
) -> tuple[tuple[int, int], ...]:
    if not left or not right:
        return ()
    ours = [Operator(node, here.names[node], here.api_calls[node]) for node in left]
    theirs = [Operator(node, there.names[node], there.api_calls[node]) for node in right]
    return paired(ours, theirs, strict=strict)


def _one_sided(here: Scopes, left: list[int], there: Scopes, right: list[int]) -> tuple[list[int], list[int]]:
    """The APIs whose kind the other side does not have: whatever has been compared in vain is not offered again."""
    ours, theirs = {kind_of(here.names[one]) for one in left}, {kind_of(there.names[other]) for other in right}
    return (
        [one for one in left if kind_of(here.names[one]) not in theirs],
        [other for other in right if kind_of(there.names[other]) not in ours],
    )


def _in_step(npu: Side, bench: Side, pair: tuple[int, int], marks: list[tuple[int, int]]) -> bool:
    """Whether two APIs ran on the same side of every matched module around them: before it here and there, or after.

    An activation may wait until a branch beside it is done, so its place in the order says nothing.
    """
    one, other = pair
    if is_activation(npu.scopes.names[one]):
        return True
    calls = ((npu.ended_before(one, mark), bench.ended_before(other, image)) for mark, image in marks)
    return all(ours == theirs for here, there in calls for ours, theirs in zip(here, there, strict=False))


def _apis(scopes: Scopes) -> list[int]:
    return [node for node in range(1, len(scopes)) if is_api(scopes, node)]


def _owned(scopes: Scopes, matched: Mapping[int, int], nodes: Iterable[int]) -> Pools:
    """Nodes by the nearest matched module above them."""
    pools: Pools = defaultdict(list)
    for node in nodes:
        pools[_owner(scopes, node, matched)].append(node)
    return pools


def _owner(scopes: Scopes, node: int, matched: Mapping[int, int]) -> int:
    """The nearest matched module above a node."""
    node = scopes.parents[node]
    while node not in matched:
        node = scopes.parents[node]
    return node
