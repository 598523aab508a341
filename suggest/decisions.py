"""A reviewer's decisions as values, and as the JSON in which the page sends them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import LayermapError

ACCEPT, LINK, REJECT = "accept", "link", "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """``nodes`` are NPU scopes; ``target`` is the first one's bench scope where ``kind`` is link, else "".

    ``here`` keeps the decision to these nodes, where it would otherwise serve their whole class.
    """

    kind: str
    nodes: tuple[str, ...]
    target: str = ""
    here: bool = False


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
