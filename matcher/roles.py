"""What a module does in its block, read off its name in context.

``dense`` ends an attention below ``attention.output`` and an MLP below ``output``; ``gate`` routes beside experts and
gates beside ``up_proj``; a norm that is just called ``norm`` serves the sublayer that it stands in. The names are data
(`matcher.lexicon`), the reading is here. Roles are weighted and may be several, or none.
"""

from __future__ import annotations

from .genus import genus_of
from .lexicon import NORM_NAMES, PARAMETERS, ROLE_NAMES, SIBLINGS
from .names import words

Roles = tuple[tuple[str, float], ...]

_OUT_OF_CONTEXT = 0.35  # share of its weight that a role keeps where context speaks for another
_SILENT = frozenset({"identity", "dropout", "activation", "softmax", "loss", "mask"})
_BLOCKS = frozenset({"attn", "attn.cross", "mlp", "layers", "stack", "model", "vision", "text", "moe.experts"})
_PROJECTIONS = frozenset({"mlp.gate", "mlp.up", "mlp.down", "mlp.fc1", "head"})
_EXPERTS = frozenset({"experts", "local_experts", "shared_experts", "shared_expert"})
_CROSS = frozenset({"cross_attn", "encoder_attn", "cross_attention", "multihead_attn", "crossattention"})
_STACKS = frozenset({"layers", "h", "blocks", "layer", "block", "resblocks", "stages", "encoder", "decoder"})
_PLAIN_NORMS = frozenset(
    {"norm", "layer_norm", "layernorm", "ln", "rms_norm", "rmsnorm", "group_norm", "normalization"}
)
_POST_ATTENTION = frozenset({"post_attention_layernorm", "post_attention_norm", "post_attention_layer_norm"})
_FUSED_NORM = {"attn.qkv": "norm.attn.pre", "attn.q": "norm.attn.pre", "mlp.fc1": "norm.mlp.pre"}


def _by_name() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for role, names in ROLE_NAMES.items():
        for name in names.split():
            table[name] = (*table.get(name, ()), role)
    return table


_ROLES = _by_name()
_NORM_ROLES = {
    name: ".".join(("norm", *key)).rstrip(".") for key, names in NORM_NAMES.items() for name in names.split()
}


def roles_of(steps: tuple[str, ...], genus: str, around: frozenset[str], rank: tuple[int, int]) -> Roles:
    """Weighted roles of a module, sorted.

    ``steps`` are its own name and up to two ancestors', outermost first, as `matcher.names.plain` writes them;
    ``around`` the names of its siblings and itself; ``rank`` its place among, and the number of, linear siblings that
    are only numbered, (0, 0) otherwise.
    """
    if not steps or genus in _SILENT:
        return ()
    if genus == "norm":
        role = _norm_role(steps, around)
        return ((role, 1.0),) if role else ()
    own = steps[-1]
    if own in PARAMETERS and len(steps) > 1:
        return _parameter_roles(steps)
    taught = next((names[own] for names in SIBLINGS if own in names and names.keys() <= around), "")
    if not taught and rank[1] == 2 and _context(steps) != "attn":
        taught = "mlp.fc1" if rank[0] == 1 else "mlp.down"
    return ((taught, 1.0),) if taught else _in_context(_longest(steps, _ROLES, ()), steps[:-1], genus, around)


def _longest(steps: tuple[str, ...], table: dict[str, tuple[str, ...]], default: tuple[str, ...]) -> tuple[str, ...]:
    """What the table says of the last three steps joined, else of the last two, else of the last."""
    for length in range(min(3, len(steps)), 0, -1):
        found = table.get("_".join(steps[-length:]))
        if found:
            return found
    return default


def _parameter_roles(steps: tuple[str, ...]) -> Roles:
    """A bare parameter plays the role of its module, marked with which parameter it is."""
    kind, in_fused_norm = PARAMETERS[steps[-1]]
    genus = "linear" if in_fused_norm else genus_of("", steps[-2], (), leaf=False)
    found = roles_of(steps[:-1], genus, frozenset(), (0, 0))
    if in_fused_norm:
        found = tuple(sorted({(_FUSED_NORM[role], weight) for role, weight in found if role in _FUSED_NORM}))
    return tuple((f"{role}@{kind}", weight) for role, weight in found)


def _in_context(found: tuple[str, ...], outer: tuple[str, ...], genus: str, around: frozenset[str]) -> Roles:
    if "moe.router" in found and around & _EXPERTS:
        return (("moe.router", 1.0),)
    fitting = [role for role in found if _fits(role, genus)] or list(found)
    context = _context(outer)
    inside = [role for role in fitting if context and role.startswith(f"{context}.")]
    return tuple(sorted((role, 1.0 if not inside or role in inside else _OUT_OF_CONTEXT) for role in fitting))


def _fits(role: str, genus: str) -> bool:
    """Whether a module of this genus can play the role at all."""
    if role in _BLOCKS:
        return genus not in ("linear", "matrix", "embedding", "convolution")
    if role.startswith("embed."):
        return genus not in ("linear", "attention", "mlp", "rotary")
    if role == "rotary":
        return genus in ("rotary", "", "embedding")
    return role not in _PROJECTIONS or genus not in ("attention", "embedding", "mlp", "moe")


def _context(outer: tuple[str, ...]) -> str:
    """The sublayer that the named ancestors speak of, the nearest first: "attn", "mlp" or ""."""
    for step in reversed(outer):
        marks = frozenset(words(step))
        if "attention" in marks or "mha" in marks:
            return "attn"
        if marks & {"mlp", "moe", "experts"} or step in ("dense_relu_dense", "intermediate"):
            return "mlp"
    return ""


def _norm_role(steps: tuple[str, ...], around: frozenset[str]) -> str:
    own = steps[-1]
    if own in _POST_ATTENTION:
        # With four norms to a layer it stands after the attention, with two before the MLP.
        return "norm.attn.post" if any(_NORM_ROLES.get(name) == "norm.mlp.pre" for name in around) else "norm.mlp.pre"
    for length in (3, 2):
        found = _NORM_ROLES.get("_".join(steps[-length:])) if len(steps) >= length else None
        if found:
            return found
    if own == "final_layer_norm" and not around & _STACKS:
        return "norm.mlp"
    stem, third = own[:-1], f"{own[:-1]}3"
    if own == third and f"{stem}2" in around:
        return "norm.mlp.pre"
    if own == f"{stem}2" and third in around and around & _CROSS:
        return "norm.cross"
    return _NORM_ROLES.get(own, "") or (_plain_norm_role(steps, around) if own in _PLAIN_NORMS else "")


def _plain_norm_role(steps: tuple[str, ...], around: frozenset[str]) -> str:
    """A norm that is just called a norm serves the sublayer it stands beside or in."""
    if around & _STACKS:
        return "norm.final"
    if len(steps) > 1 and "embedding" in words(steps[-2]):
        return "norm.embed"
    beside = {_context((name,)) for name in around} - {""}
    if beside == {"attn"} and any({"cross", "encoder"} & set(words(name)) or "enc" in name for name in around):
        return "norm.cross"
    serves = beside.pop() if len(beside) == 1 else _context(steps[:-1])
    return f"norm.{serves}" if serves else ""
