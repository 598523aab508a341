"""Whether two modules run more often than the rest of their networks, and equally so: shared ones do.

A module that several layers share stands once in the tree and runs once for each of them. Recomputation, micro-steps
and several passes multiply the calls of all modules, so calls are counted in multiples of what is usual on a side.
Limits: unequal multiples say nothing, since one code base asks a rotary embedding once and another in every layer.
"""

from __future__ import annotations

from collections import Counter

from .tree import Tree


def usual_calls(tree: Tree) -> int:
    """How often most modules of a tree ran; the smaller number of equally frequent ones."""
    count = Counter(calls for calls, called in zip(tree.calls, tree.called, strict=True) if called)
    return min(count, key=lambda calls: (-count[calls], calls), default=1)


def repeats_alike(one: int, usual: int, other: int, usual_there: int) -> bool:
    """Whether two modules ran the same multiple of what is usual, more than once."""
    return one > usual and one * usual_there == other * usual
