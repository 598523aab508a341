"""Align two module trees: trees in, one-to-one pairs with evidence out. Pure: no files, no YAML, no printing."""

from .align import Options, align
from .alignment import Alignment, Candidate, Evidence, Explanation, Group, Pair
from .explain import explain
from .numbers import Numbers, comparable, difference
from .operators import Operator, is_activation, kind_of, paired
from .score import Weights
from .tree import Module, Params, Shape, Tree

__all__ = [
    "Alignment",
    "Candidate",
    "Evidence",
    "Explanation",
    "Group",
    "Module",
    "Numbers",
    "Operator",
    "Options",
    "Pair",
    "Params",
    "Shape",
    "Tree",
    "Weights",
    "align",
    "comparable",
    "difference",
    "explain",
    "is_activation",
    "kind_of",
    "paired",
]
