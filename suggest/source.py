"""What a reader returns: the module tree for the matcher, and the entries that msprobe will look up.

msprobe applies a mapping to the entries of dump.json, by *scope*: the path of a module with its class cut out, or an
API below the scope of the module that called it (`DumpDataItem.full_scope` of mindstudio-probe 26.2.0). An input that
is no dump (a printed model) gets the entries that its dump would have: one forward call of every called module.

Scopes, and so the paths of the tree, carry the numbers that msprobe uses after renumbering the ``layers`` of every
``ParallelTransformer`` (see `suggest.entries`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from matcher import Numbers, Shape, Tree

from .repeats import NONE, Repeats

LAYER_PREFIXES = ("Module", "Cell")
_MODULES = tuple(f"{prefix}." for prefix in LAYER_PREFIXES)
_STATES = ("forward", "backward")


class Entry(NamedTuple):
    """One entry of dump.json as msprobe's layer mapping sees it; a tuple, as a large dump holds a million of them.

    ``name`` is the key in dump.json ``data``; ``scope`` the path steps below TopLayer; ``type`` the name of the mapping
    section that is consulted at this scope (the class of a module, the name of an API), None where the input does not
    tell; ``state`` is ``forward``, ``backward`` or ``parameters_grad``.
    """

    name: str
    scope: tuple[str, ...]
    type: str | None
    state: str = "forward"


def is_api_name(name: str) -> bool:
    """Whether an entry is an API's (``Functional.linear.0.forward``), not a module's, nor a parameter's of a list."""
    if name.startswith(_MODULES):
        return False
    last = name.partition("@")[0].rsplit(".", 2)[-2:]
    return len(last) == 2 and last[0].isdigit() and last[1] in _STATES


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One side, read.

    ``entries`` stand in the order of dump.json; ``notes`` are warnings for the user. ``parameters``
    are the names that the input lists, with shapes where known, if it is a list of parameters (`suggest.parameters`).
    ``repeats`` tells for which modules that were left out others stand, if any (`suggest.thin`), and ``results`` then
    the statistics of the first results of all modules, by path, in the order of dump.json.
    """

    label: str
    kind: str
    tree: Tree
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    parameters: tuple[tuple[str, Shape | None], ...] = ()
    repeats: Repeats = NONE
    results: tuple[tuple[str, Numbers], ...] = ()
