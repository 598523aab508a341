"""What a module is, told from its class, name, parameters and neighbours: its *genus* and its *roles*.

A genus is coarse ("norm", "linear", "attention", "list", ...) and mostly told by the class; a role is what the module
does in its block (`matcher.lexicon`) and mostly told by its name, read in context: ``dense`` ends an attention below
``attention.output`` and an MLP below ``output``. Both are guesses that scoring weighs, never filters; "" and () mean
that nothing is known, which is what meaningless names lead to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from .lexicon import NORM_NAMES, PARAMETERS, ROLE_NAMES, SIBLINGS
from .names import plain, words
from .tree import Params, Tree

Roles = tuple[tuple[str, float], ...]

# A role that the context does not support keeps this share of its weight: names win over a misread context.
_OUT_OF_CONTEXT = 0.35

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
_SMALL = 9  # a module with more nodes than this is a block, whatever its class is called
PARAMETRIC = frozenset({"norm", "linear", "matrix", "convolution", "embedding", "router"})
_NORM_ROLES = {name: key for key, names in NORM_NAMES.items() for name in names.split()}
_PLAIN_NORMS = frozenset(
    {"norm", "layer_norm", "layernorm", "ln", "rms_norm", "rmsnorm", "group_norm", "normalization"}
)
_POST_ATTENTION = frozenset({"post_attention_layernorm", "post_attention_norm", "post_attention_layer_norm"})


def _roles_by_name() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for role, names in ROLE_NAMES.items():
        for name in names.split():
            table[name] = (*table.get(name, ()), role)
    return table


_ROLES = _roles_by_name()


@dataclass(frozen=True, slots=True)
class Trait:
    """Genus, weighted roles, and the largest parameter's shape without ones ((), if unknown or a scalar).

    A *solid* module computes something itself: a leaf, or one that has parameters, or looks as if it had, beside what
    stands below it (a MindFormers ``Linear`` that holds its activation).
    """

    genus: str
    roles: Roles
    shape: tuple[int, ...]
    solid: bool


def traits_of(tree: Tree) -> tuple[Trait, ...]:
    """The trait of every node; neighbourhoods that are equal are looked at once."""
    genera = [
        genus_of(tree.classes[node], tree.names[node], tree.params[node], leaf=tree.is_leaf(node))
        for node in range(len(tree))
    ]
    siblings = {
        node: frozenset(plain(tree.names[child]) for child in below) for node, below in enumerate(tree.children)
    }
    cache: dict[object, Trait] = {}
    found: list[Trait] = []
    for node in range(len(tree)):
        parent = tree.parents[node]
        context = _steps(tree, node)
        around = siblings[parent] if parent >= 0 else frozenset()
        rank = _rank_among_linears(tree, genera, node) if tree.names[node].isdigit() else (0, 0)
        solid = tree.is_leaf(node) or bool(tree.params[node]) or _is_solid(tree, genera, node)
        key = (context, genera[node], around, tree.params[node], rank, solid)
        trait = cache.get(key)
        if trait is None:
            roles = _roles(context, genera[node], around, rank)
            trait = Trait(genera[node], roles, main_shape(tree.params[node]), solid)
            cache[key] = trait
        found.append(trait)
    return tuple(found)


def _is_solid(tree: Tree, genera: list[str], node: int) -> bool:
    """Whether an inner module without known parameters is of a kind that has them, and nothing below it is."""
    if genera[node] not in PARAMETRIC or tree.ends[node] - node >= _SMALL:
        return False
    below = {genera[inner] for inner in range(node + 1, tree.ends[node])} & PARAMETRIC
    return not below or (below == {"norm"} and genera[node] != "norm")


@lru_cache(maxsize=1 << 16)
def genus_of(cls: str, name: str, params: Params, *, leaf: bool) -> str:
    """The coarse kind of a module: by class, else by name, else by the rank of its weight."""
    if cls in _LISTS:
        return "list"
    known = _genus_of_words(cls)
    if leaf and known in ("", "layer", "model", "list"):
        known = ""
    if known:
        return known
    if leaf and not params and plain(name) in PARAMETERS:
        return "parameter"
    by_name = _genus_of_words(name)
    if by_name and not (leaf and by_name in ("layer", "model", "list")):
        return by_name
    if leaf and params:
        rank = len(main_shape(params))
        return {0: "", 1: "norm", 2: "matrix"}.get(rank, "convolution")
    return ""


def _genus_of_words(identifier: str) -> str:
    found = frozenset(words(identifier))
    if identifier.startswith("TELayerNorm"):
        return "linear"
    for genus, marks in _GENUS_WORDS:
        if found & marks:
            return genus
    return ""


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


def _steps(tree: Tree, node: int) -> tuple[str, ...]:
    """Own name and up to two named ancestors, outermost first, numbers skipped."""
    steps: list[str] = []
    while node > 0 and len(steps) < 3:
        if not tree.names[node].isdigit():
            steps.append(plain(tree.names[node]))
        node = tree.parents[node]
    return tuple(reversed(steps))


def _rank_among_linears(tree: Tree, genera: list[str], node: int) -> tuple[int, int]:
    """Position among, and number of, the linear siblings: all that tells ``mlp.0`` from ``mlp.2``."""
    parent = tree.parents[node]
    if parent < 0 or len(tree.children[parent]) > 8:
        return (0, 0)
    linears = [child for child in tree.children[parent] if genera[child] in ("linear", "matrix")]
    return (linears.index(node) + 1, len(linears)) if node in linears else (0, 0)


def _roles(steps: tuple[str, ...], genus: str, around: frozenset[str], rank: tuple[int, int]) -> Roles:
    if not steps or genus in ("identity", "dropout", "activation", "softmax", "loss", "mask"):
        return ()
    if genus == "norm":
        return _norm_roles(steps, around)
    own = steps[-1]
    if own in PARAMETERS and len(steps) > 1:
        return _parameter_roles(steps, around)
    for names, _ in SIBLINGS:
        if own in names and names.keys() <= around:
            return ((names[own], 1.0),)
    if rank[1] == 2 and _context(steps) != "attn":
        return (("mlp.fc1" if rank[0] == 1 else "mlp.down", 1.0),)
    for length in (3, 2, 1):
        found = _ROLES.get("_".join(steps[-length:])) if len(steps) >= length else None
        if found:
            return _in_context(found, steps[:-1], genus, around)
    return ()


def _parameter_roles(steps: tuple[str, ...], around: frozenset[str]) -> Roles:
    """A bare parameter plays the role of its module, marked with which parameter it is."""
    kind, norm = PARAMETERS[steps[-1]]
    if norm:
        serves = {"attn.qkv": "norm.attn.pre", "attn.q": "norm.attn.pre", "mlp.fc1": "norm.mlp.pre"}
        found = _roles(steps[:-1], "linear", frozenset(), (0, 0))
        return tuple(sorted((f"{serves[role]}@{kind}", weight) for role, weight in found if role in serves))
    genus = genus_of("", steps[-2], (), leaf=False)
    return tuple((f"{role}@{kind}", weight) for role, weight in _roles(steps[:-1], genus, frozenset(), (0, 0)))


def _in_context(found: tuple[str, ...], outer: tuple[str, ...], genus: str, around: frozenset[str]) -> Roles:
    if "moe.router" in found and around & {"experts", "local_experts", "shared_experts", "shared_expert"}:
        return (("moe.router", 1.0),)
    context = _context(outer)
    leaves = [role for role in found if _fits(role, genus)] or list(found)
    if context:
        inside = [role for role in leaves if role.split(".")[0] == context and "." in role]
        if inside:
            rest = [role for role in leaves if role not in inside]
            return tuple(sorted([(role, 1.0) for role in inside] + [(role, _OUT_OF_CONTEXT) for role in rest]))
    return tuple(sorted((role, 1.0) for role in leaves))


def _fits(role: str, genus: str) -> bool:
    """Whether a module of this genus can play the role at all."""
    if role in ("attn", "attn.cross", "mlp", "layers", "stack", "model", "vision", "text", "moe.experts"):
        return genus not in ("linear", "matrix", "embedding", "convolution")
    if role.startswith("embed."):
        return genus not in ("linear", "attention", "mlp", "rotary")
    if role == "rotary":
        return genus in ("rotary", "", "embedding")
    if role in ("mlp.gate", "mlp.up", "mlp.down", "mlp.fc1", "head"):
        return genus not in ("attention", "embedding", "mlp", "moe")
    return True


def _context(outer: tuple[str, ...]) -> str:
    """The sublayer that the named ancestors speak of: "attn", "mlp" or ""."""
    for step in reversed(outer):
        marks = frozenset(words(step))
        if "attention" in marks or "mha" in marks:
            return "attn"
        if marks & {"mlp", "moe", "experts", "mixtral"} or step in ("dense_relu_dense", "intermediate"):
            return "mlp"
    return ""


def _norm_roles(steps: tuple[str, ...], around: frozenset[str]) -> Roles:
    own = steps[-1]
    if own in _POST_ATTENTION:
        split = any(_NORM_ROLES.get(name) == ("mlp", "pre") for name in around)
        return (("norm.attn.post", 1.0),) if split else (("norm.mlp.pre", 1.0),)
    for length in (3, 2):
        found = _NORM_ROLES.get("_".join(steps[-length:])) if len(steps) >= length else None
        if found:
            return ((".".join(("norm", *found)).rstrip("."), 1.0),)
    found = _NORM_ROLES.get(own)
    stack = around & {"layers", "h", "blocks", "layer", "block", "resblocks", "stages", "encoder", "decoder"}
    if own == "final_layer_norm" and not stack:
        return (("norm.mlp", 1.0),)
    if around & {"cross_attn", "encoder_attn", "cross_attention", "multihead_attn", "crossattention"} and found:
        third = any(name.endswith("_3") for name in around if name in own[:-1] + "3")
        if third and own.endswith("_2"):
            return (("norm.cross", 1.0),)
    if own.endswith("_3") and (own[:-1] + "2") in around:
        return (("norm.mlp.pre", 1.0),)
    if found:
        return ((".".join(("norm", *found)).rstrip("."), 1.0),)
    if own in _PLAIN_NORMS:
        return _plain_norm_roles(steps, around, final=bool(stack))
    return ()


def _plain_norm_roles(steps: tuple[str, ...], around: frozenset[str], *, final: bool) -> Roles:
    """A norm that is just called a norm serves the sublayer it stands in, or beside."""
    if final:
        return (("norm.final", 1.0),)
    outer = steps[-2] if len(steps) > 1 else ""
    if "embedding" in words(outer):
        return (("norm.embed", 1.0),)
    beside = {_context((name,)) for name in around} - {""}
    if len(beside) == 1:
        cross = any("cross" in name or "enc" in words(name) or "encoder" in words(name) for name in around)
        return (("norm.cross" if cross and "attn" in beside else f"norm.{beside.pop()}", 1.0),)
    context = _context(steps[:-1])
    if context:
        return ((f"norm.{context}", 1.0),)
    return ()
