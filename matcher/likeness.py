"""How alike two modules are called: by what their names mean where that is known, by how they are spelled else.

Roles (`matcher.roles`) are compared by the lexicon's kinship, everything else by words and letters (`matcher.names`).
Limits: a number says nothing, and two names of which neither is known are compared by spelling alone.
"""

from __future__ import annotations

from functools import cache

from .lexicon import KIN
from .names import is_known, likeness
from .roles import CONTEXT_STREAM, GROUPED, Roles
from .traits import Trait

_OTHER_STREAM = 0.35  # two streams of a block do the same things to different tokens
_NUMBERED = 0.42  # a number says nothing: the middle of the scale


def role_likeness(one: Roles, other: Roles) -> float | None:
    """Agreement of two weighted sets of roles in [0, 1]; None where a side has none."""
    if not one or not other:
        return None
    best = 0.0
    for left, left_weight in one:
        for right, right_weight in other:
            best = max(best, left_weight * right_weight * _kin(left, right))
    return best


@cache
def _kin(left: str, right: str) -> float:
    if left == right:
        return 1.0
    left, _, mine = left.partition("@")
    right, _, theirs = right.partition("@")
    if mine != theirs:
        return 0.0
    if left.endswith(GROUPED) != right.endswith(GROUPED):
        return 0.0
    left, right = left.removesuffix(GROUPED), right.removesuffix(GROUPED)
    if left.endswith(CONTEXT_STREAM) != right.endswith(CONTEXT_STREAM):
        return _OTHER_STREAM * _kin(left.removesuffix(CONTEXT_STREAM), right.removesuffix(CONTEXT_STREAM))
    left, right = left.removesuffix(CONTEXT_STREAM), right.removesuffix(CONTEXT_STREAM)
    if left.startswith("norm.") and right.startswith("norm."):
        return _norm_kin(left.split("."), right.split("."))
    return KIN.get(frozenset((left, right)), 0.0)


def _norm_kin(left: list[str], right: list[str]) -> float:
    """Norms of one sublayer agree unless one stands before and one after it; others hardly do."""
    if left[1] == right[1]:
        return 0.95 if len(left) != len(right) else 0.45
    sublayers, ends = {left[1], right[1]}, {left[-1], right[-1]}
    if sublayers == {"q", "q_down"}:
        return 0.9
    return 0.3 if sublayers == {"attn", "mlp"} and ends == {"post", "pre"} else 0.05


def name_likeness(left: str, right: str, one: Trait, other: Trait) -> float:
    """Roles where both are known, words and letters else, in [0, 1]."""
    spelled = _NUMBERED if left.isdigit() or right.isdigit() else likeness(left, right)
    roles = role_likeness(one.roles, other.roles)
    if roles is None:
        dumb = not (one.roles or is_known(left)) or not (other.roles or is_known(right))
        return max(spelled, _NUMBERED - 0.1) if dumb else spelled
    return max(roles, 0.6 if spelled == 1.0 else 0.35 * spelled)


def class_likeness(one: str, other: str) -> float:
    """How alike two class names are, in [-0.3, 0.7]; 0 where a side has none."""
    return likeness(one, other) - 0.3 if one and other else 0.0
