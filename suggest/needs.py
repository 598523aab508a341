"""Where every NPU node has to land, containers and one-sided wrappers included.

Matched nodes must land on their counterpart, and one-sided ones on nothing. Everything else (a ModuleList, a wrapper
that was never called, an API that nobody asked for) is free, and its place is chosen so that what is below it comes out
right without rules of its own: a container takes the place from which most of its children follow by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from .scopes import Scopes

NO_COUNTERPART = "_no_counterpart"
Wanted = Mapping[int, "str | None"]


@dataclass(frozen=True, slots=True)
class Needs:
    """By NPU trie node: its bench scope, and whether that is *definite*.

    A node that is not definite may land anywhere, as long as that is not a bench entry if it is in ``alone``.
    """

    images: tuple[str, ...]
    definite: tuple[bool, ...]
    alone: frozenset[int]


def needs_of(npu: Scopes, bench: Scopes, wanted: Wanted) -> Needs:
    """The needs of every node; ``wanted`` maps a node to its bench scope, or to None for no counterpart at all."""
    count = len(npu)
    alone = frozenset(node for node, scope in wanted.items() if scope is None)
    pulled = _pulled(npu, bench, wanted, alone)
    images, definite = [""] * count, [False] * count
    definite[0] = True
    for node in range(1, count):
        parent = npu.parents[node]
        target = wanted.get(node)
        follows = joined(images[parent], npu.names[node])
        images[node] = target if target is not None else pulled.get(node, follows)
        definite[node] = target is not None or node in pulled
        if node in alone and node not in pulled and taken(npu, bench, node, follows):
            images[node] = joined(images[parent], nowhere(bench, npu.names[node]))
            definite[node] = True
    for node in range(count - 1, 0, -1):
        parent = npu.parents[node]
        if definite[node] and images[node] == joined(images[parent], npu.names[node]):
            definite[parent] = True
    return Needs(tuple(images), tuple(definite), alone)


def _pulled(npu: Scopes, bench: Scopes, wanted: Wanted, alone: frozenset[int]) -> dict[int, str]:
    """The places that free nodes take for the sake of their children."""
    votes: dict[int, Counter[str]] = {}
    pulled: dict[int, str] = {}
    for node in range(len(npu) - 1, 0, -1):
        image = wanted.get(node)
        if image is None and node in votes:
            image = _elected(npu, bench, node, votes[node], alone)
            if image is not None:
                pulled[node] = image
        if image is not None:
            outer, _, last = image.rpartition(".")
            if last == npu.names[node] and outer:
                votes.setdefault(npu.parents[node], Counter())[outer] += 1
    return pulled


def _elected(npu: Scopes, bench: Scopes, node: int, votes: Counter[str], alone: frozenset[int]) -> str | None:
    """The place most children follow from; one named child alone is better served by a rule of its own."""
    numbered = any(name.isdigit() for name in npu.children[node])
    for image, count in sorted(votes.items(), key=lambda item: (-item[1], item[0])):
        if (count > 1 or numbered) and not (node in alone and taken(npu, bench, node, image)):
            return image
    return None


def taken(npu: Scopes, bench: Scopes, node: int, image: str) -> bool:
    """Whether a node that lands there would meet a bench entry of one of its own states."""
    found = bench.find(image)
    return found is not None and any(bench.entries[found].get(state) for state in npu.entries[node])


def nowhere(bench: Scopes, name: str) -> str:
    """A target that no bench path contains: what a one-sided node is sent to."""
    target = f"{name}{NO_COUNTERPART}"
    while target in bench.names:
        target += "_"
    return target


def joined(outer: str, inner: str) -> str:
    """Two scopes as one; "" is TopLayer."""
    return f"{outer}.{inner}" if outer else inner


def below(outer: str, scope: str) -> str | None:
    """The rest of a scope below an outer one, None if it does not stand below it."""
    if not outer:
        return scope or None
    return scope[len(outer) + 1 :] if scope.startswith(f"{outer}.") else None
