"""A small trie that asks for the same rules as a large one: of equal numbered siblings only the first few are kept.

61 layers of 256 experts want one and the same set of rules, which three layers of three experts show as well. Two
siblings are equal when everything below them has equal names, types and states, and when what is wanted of it is equal
seen from where they themselves should land; an item that does not keep its number is always kept. Limits: a rule
that must be written once for every item is not seen in the small trie, so that whatever comes out of it has to be
replayed on the large one (`suggest.synthesise` does, and starts over with the large one if it is wrong).
"""

from __future__ import annotations

from collections import Counter

from .needs import Wanted, below
from .scopes import Scopes

_KEPT = 3  # equal siblings kept: enough for one rule for all of them to beat one rule for each


def shrunk(npu: Scopes, wanted: Wanted, kept: int = _KEPT) -> tuple[Scopes, dict[int, str | None]]:
    """The small trie, and what is wanted of its nodes; linear in nodes. ``kept`` equal siblings stay of each kind."""
    kinds = _kinds(npu, wanted)
    stays = {0}
    for node in range(len(npu)):
        if node not in stays:
            continue
        seen: Counter[int] = Counter()
        for name, child in npu.children[node].items():
            seen[kinds[child]] += 1
            if not name.isdigit() or seen[kinds[child]] <= kept:
                stays.add(child)
    nodes = sorted(stays)
    new_id = {node: place for place, node in enumerate(nodes)}
    small = Scopes(
        names=tuple(npu.names[node] for node in nodes),
        parents=tuple(new_id[npu.parents[node]] if node else -1 for node in nodes),
        types=tuple(npu.types[node] for node in nodes),
        children=tuple({n: new_id[c] for n, c in npu.children[node].items() if c in new_id} for node in nodes),
        entries=tuple(npu.entries[node] for node in nodes),
        api_calls=tuple(npu.api_calls[node] for node in nodes),
    )
    return small, {new_id[node]: scope for node, scope in wanted.items() if node in new_id}


def _kinds(npu: Scopes, wanted: Wanted) -> list[int]:
    """Equal numbers for equal nodes."""
    known: dict[object, int] = {}
    kinds = [0] * len(npu)
    for node in range(len(npu) - 1, 0, -1):
        name, kind, below = npu.names[node], npu.types[node], npu.children[node]
        signature = (
            "#" if name.isdigit() else name,
            kind if kind != name else "#",
            tuple(npu.entries[node]),
            _seen_from_parent(npu, wanted, node) if node in wanted else "any",
            (*below, *[kinds[child] for child in below.values()]) if below else (),
        )
        kinds[node] = known.setdefault(signature, len(known))
    return kinds


def _seen_from_parent(npu: Scopes, wanted: Wanted, node: int) -> str | None:
    """What is wanted of a node, relative to the nearest node above of which something is wanted, numbers kept apart."""
    scope = wanted[node]
    if scope is None:
        return None
    outer = wanted.get(npu.parents[node])
    if outer is not None:
        step, name = below(outer, scope), npu.names[node]
        if step is not None and "." not in step:
            return "#" if step == name and name.isdigit() else step
    way = [npu.names[node]]
    above = npu.parents[node]
    while above and wanted.get(above) is None:
        way.append(npu.names[above])
        above = npu.parents[above]
    rest = below((above and wanted[above]) or "", scope)
    if rest is None:
        return f"!{scope}"
    numbers = [step for step in reversed(way) if step.isdigit()]
    if [step for step in rest.split(".") if step.isdigit()] != numbers:
        return rest
    return ".".join("#" if step.isdigit() else step for step in rest.split("."))
