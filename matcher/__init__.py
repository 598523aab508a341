"""Align two module trees: trees in, one-to-one pairs with evidence out. Pure: no files, no YAML, no printing."""

from .align import align
from .alignment import Alignment, Evidence, Group, Pair
from .tree import Module, Params, Shape, Tree

__all__ = ["Alignment", "Evidence", "Group", "Module", "Pair", "Params", "Shape", "Tree", "align"]
