"""The trie of scopes on which msprobe applies a mapping (`LayerTrie` of mindstudio-probe 26.2.0), in arrays.

Node 0 is TopLayer. A node's *type* names the mapping section that is consulted there: the class of the LAST entry
inserted at it, or its own name where no entry stands (a ModuleList, an uncalled wrapper). None means that the input
does not tell the class: no section can be meant for such a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .source import LAYER_PREFIXES, Entry, is_api_name

TOP_LAYER = "TopLayer"
_MODULES = tuple(f"{prefix}." for prefix in LAYER_PREFIXES)


@dataclass(frozen=True, slots=True)
class Scopes:
    """Parallel tuples by trie node, parents first; ``entries[i]`` maps a state to entry names in dump order,
    ``api_calls[i]`` is how often an API was called there, 0 where a module was recorded too.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    types: tuple[str | None, ...]
    children: tuple[dict[str, int], ...]
    entries: tuple[dict[str, list[str]], ...]
    api_calls: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.names)

    def path(self, node: int) -> str:
        """The dotted scope of a node without TopLayer; "" for node 0."""
        steps = []
        while node:
            steps.append(self.names[node])
            node = self.parents[node]
        return ".".join(reversed(steps))

    def paths(self) -> list[str]:
        """The paths of all nodes, which takes less than one by one."""
        found = [""]
        for node in range(1, len(self.names)):
            above = found[self.parents[node]]
            found.append(f"{above}.{self.names[node]}" if above else self.names[node])
        return found

    def find(self, path: str) -> int | None:
        """The node at a dotted scope, None where there is none."""
        node: int | None = 0
        for step in path.split(".") if path else ():
            node = self.children[node].get(step) if node is not None else None
        return node

    @staticmethod
    def build(entries: Iterable[Entry]) -> Scopes:
        """The trie of these entries, in the order in which msprobe would insert them."""
        names: list[str] = [TOP_LAYER]
        parents = [-1]
        children: list[dict[str, int]] = [{}]
        found: list[dict[str, list[str]]] = [{}]
        kinds: list[str | None] = [TOP_LAYER]
        place: dict[tuple[str, ...], int] = {(): 0}
        last: tuple[str, ...] = ()
        node: int | None = 0
        for name, scope, kind, state in entries:
            if scope is not last:
                node, last = place.get(scope), scope
            if node is None:
                known = len(scope) - 1
                while (above := place.get(scope[:known])) is None:
                    known -= 1
                node = above
                for length in range(known, len(scope)):
                    step = scope[length]
                    below = len(names)
                    children[node][step] = below
                    names.append(step)
                    parents.append(node)
                    kinds.append(step)
                    children.append({})
                    found.append({})
                    place[scope[: length + 1]] = node = below
            by_state = found[node]
            if state in by_state:
                by_state[state].append(name)
            else:
                by_state[state] = [name]
            kinds[node] = kind
        calls = tuple([_api_calls(by_state.get("forward", ())) for by_state in found])
        return Scopes(tuple(names), tuple(parents), tuple(kinds), tuple(children), tuple(found), calls)


def _api_calls(names: Sequence[str]) -> int:
    """How many calls of an API these are; 0 if they are not, or not all."""
    if not names or not is_api_name(names[0]):
        return 0
    return 0 if any(name.startswith(_MODULES) for name in names) else len(names)
