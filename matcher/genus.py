"""The coarse kind of a module ("norm", "linear", "attention", "list", ...), told by its class, name and parameters."""

from __future__ import annotations

from functools import lru_cache

from .lexicon import PARAMETERS
from .names import plain, words
from .tree import Params, Tree

_GENUS_WORDS: tuple[tuple[str, frozenset[str]], ...] = (
    ("identity", frozenset({"identity"})),
    ("dropout", frozenset({"dropout", "stochastic"})),
    ("norm", frozenset({"norm"})),
    ("rotary", frozenset({"rotary", "rope", "freqs"})),
    ("activation", frozenset({"gelu", "relu", "silu", "swish", "tanh", "sigmoid", "activation", "softplus", "glu"})),
    ("softmax", frozenset({"softmax"})),
    ("loss", frozenset({"loss", "entropy"})),
    ("pool", frozenset({"pool", "pool2", "pooling"})),
    ("experts", frozenset({"experts"})),
    ("moe", frozenset({"moe"})),
    ("router", frozenset({"router", "gate"})),
    ("mask", frozenset({"mask"})),
    ("convolution", frozenset({"convolution"})),
    ("embedding", frozenset({"embedding"})),
    ("mlp", frozenset({"mlp"})),
    ("attention", frozenset({"attention"})),
    ("linear", frozenset({"linear", "dense"})),
    ("list", frozenset({"list", "sequential", "dict"})),
    ("layer", frozenset({"layer", "block"})),
    ("model", frozenset({"model", "transformer", "encoder", "decoder", "lm"})),
)
_LISTS = frozenset(
    {"ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "CellList", "CellDict", "list", "tuple"}
)
_HOLDERS = frozenset({"layer", "model", "list"})  # genera that a leaf cannot be
PARAMETRIC = frozenset({"norm", "linear", "matrix", "convolution", "embedding", "router"})
LIGHT = frozenset({"dropout", "activation", "identity", "softmax", "pool", "mask", "loss"})
_LEAVES = LIGHT - {"pool"} | {"norm"}  # genera that only leaves have, whatever a block is called after
_SMALL = 9  # a module with more nodes than this is a block, whatever its class is called


@lru_cache(maxsize=1 << 16)
def genus_of(cls: str, name: str, params: Params, *, leaf: bool) -> str:
    """By class, else by name, else by the rank of the weight; "" where nothing tells."""
    if cls in _LISTS:
        return "list"
    if leaf and not params and plain(name) in PARAMETERS:
        return "parameter"
    for identifier in (cls, name):
        known = _genus_of_words(identifier, leaf=leaf)
        if known:
            return known
    if leaf and params:
        return {0: "", 1: "norm", 2: "matrix"}.get(len(main_shape(params)), "convolution")
    return ""


def _genus_of_words(identifier: str, *, leaf: bool) -> str:
    if identifier.startswith("TELayerNorm"):
        return "linear"
    found = frozenset(words(identifier))
    impossible = _HOLDERS if leaf else _LEAVES
    return next((genus for genus, marks in _GENUS_WORDS if found & marks and genus not in impossible), "")


def main_shape(params: Params) -> tuple[int, ...]:
    """The shape of the largest parameter, sizes of one dropped."""
    best: tuple[int, ...] = ()
    size = 0
    for _, shape in params:
        count = 1
        for extent in shape:
            count *= extent
        if count > size:
            best, size = shape, count
    return tuple(extent for extent in best if extent != 1)


def is_solid(tree: Tree, genera: list[str], node: int) -> bool:
    """Whether a module computes something itself: a leaf, one with parameters, or one of a kind that has them.

    The last is an inner module without known parameters below which nothing else has that kind: a MindFormers
    ``Linear`` that holds its activation, a ``word_embeddings`` that holds a norm.
    """
    if tree.is_leaf(node) or tree.params[node]:
        return True
    if genera[node] not in PARAMETRIC or tree.ends[node] - node >= _SMALL:
        return False
    below = {genera[inner] for inner in range(node + 1, tree.ends[node])} & PARAMETRIC
    return not below or (below == {"norm"} and genera[node] != "norm")
