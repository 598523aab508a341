"""What a module does in its block, read off its name in context.

``dense`` ends an attention below ``attention.output`` and an MLP below ``output``; ``gate`` routes beside experts and
gates beside ``up_proj``; a norm that is just called ``norm`` serves the sublayer that it stands in. The names are data
(`matcher.lexicon`), the reading is here. Roles are weighted and may be several, or none.
"""

from __future__ import annotations

from functools import lru_cache

from .genus import genus_of
from .lexicon import NORM_NAMES, PARAMETERS, ROLE_NAMES, SIBLINGS
from .names import words

Roles = tuple[tuple[str, float], ...]

GROUPED = "~grouped"  # ends the roles of a module that computes all experts of a layer at once
CONTEXT_STREAM = "~context"  # ends the roles of a second stream beside the main one (``ff_context``, ``add_q_proj``)
_CONTEXT = frozenset({"context", "ctx", "txt", "add", "added"})
_OUT_OF_CONTEXT = 0.35  # share of its weight that a role keeps where context speaks for another
_SILENT = frozenset({"identity", "dropout", "activation", "softmax", "loss", "mask"})
_BLOCKS = frozenset({"attn", "attn.cross", "mlp", "layers", "stack", "model", "vision", "text", "moe.experts"})
_PROJECTIONS = frozenset({"mlp.gate", "mlp.up", "mlp.down", "mlp.fc1", "head"})
_EXPERTS = frozenset({"experts", "local_experts", "shared_experts", "shared_expert"})
_CROSS = frozenset(
    {"cross_attn", "encoder_attn", "cross_attention", "multihead_attn", "crossattention", "enc_dec_attention"}
)
_STACKS = frozenset({"layers", "h", "blocks", "layer", "block", "resblocks", "stages", "encoder", "decoder"})
_NUMBERED_NORMS = frozenset({"norm_1", "norm_2", "norm_3"})
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
    found = _roles(steps, genus, around, rank)
    if found and _is_second_stream(steps):
        return tuple((f"{role}{CONTEXT_STREAM}", weight) for role, weight in found)
    return found


def _is_second_stream(steps: tuple[str, ...]) -> bool:
    return any(_CONTEXT & set(step.split("_")) for step in steps)


def _roles(steps: tuple[str, ...], genus: str, around: frozenset[str], rank: tuple[int, int]) -> Roles:
    if not steps:
        return ()
    if genus in _SILENT:
        return (("silent", 1.0),) if _is_second_stream(steps) else ()
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
    genus = "linear" if in_fused_norm else genus_of("", steps[-2], (), leaf=True)
    found = _roles(steps[:-1], genus, frozenset(), (0, 0))
    if in_fused_norm:
        found = tuple(sorted({(_FUSED_NORM[role], weight) for role, weight in found if role in _FUSED_NORM}))
    return tuple((f"{role}@{kind}", weight) for role, weight in found)


def _in_context(found: tuple[str, ...], outer: tuple[str, ...], genus: str, around: frozenset[str]) -> Roles:
    if "moe.router" in found and around & _EXPERTS:
        return (("moe.router", 1.0),)
    found = tuple(role for role in found if role != "modulation" or genus in ("linear", "matrix", ""))
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


@lru_cache(maxsize=1 << 12)
def norm_name(name: str) -> str:
    """A norm's name with abbreviations undone and every kind of norm just "norm" (``post_ffn_layernorm``).

    Which stream it belongs to is left out too: ``norm1_context`` does to the context what ``norm1`` does.
    """
    kept: list[str] = []
    for word in words(name):
        if word in _CONTEXT or word == "text":
            continue
        if word == "norm" and kept and kept[-1] in ("layer", "group", "norm"):
            kept.pop()
        if word == "forward" and kept and kept[-1] == "feed":
            kept[-1] = "mlp"
        else:
            kept.append(word)
    return "_".join(kept)


def _norm_role(steps: tuple[str, ...], around: frozenset[str]) -> str:
    own = norm_name(steps[-1])
    names = {norm_name(name) for name in around if "n" in name}
    if own == "post_attention_norm":
        # With four norms to a layer it stands after the attention, with two before the MLP.
        return "norm.attn.post" if any(_NORM_ROLES.get(name) == "norm.mlp.pre" for name in names) else "norm.mlp.pre"
    if own == "norm" and len(steps) > 1 and (outer := norm_name(steps[-2])) in _NUMBERED_NORMS:
        return _NORM_ROLES[outer]
    for length in (3, 2):
        outer = norm_name("_".join(steps[-length:])) if len(steps) >= length else ""
        if outer in _NORM_ROLES and outer not in _NUMBERED_NORMS:
            return _NORM_ROLES[outer]
    if own == "final_norm" and not around & _STACKS:
        return "norm.mlp"
    if own in _NUMBERED_NORMS:
        return _numbered_norm_role(own, names, around)
    return _NORM_ROLES.get(own, "") or (_plain_norm_role(steps, around) if own == "norm" else "")


def _numbered_norm_role(own: str, names: set[str], around: frozenset[str]) -> str:
    """Numbered norms say which sublayer they serve only where there are sublayers.

    The second of three serves a cross attention if there is one.
    """
    if not any(_context((name,)) for name in around):
        return ""
    if own == "norm_3":
        return "norm.mlp.pre" if "norm_2" in names else ""
    crossed = own == "norm_2" and "norm_3" in names and around & _CROSS
    return "norm.cross" if crossed else _NORM_ROLES[own]


def _plain_norm_role(steps: tuple[str, ...], around: frozenset[str]) -> str:
    """A norm that is just called a norm serves the sublayer it stands beside or in."""
    if around & _STACKS:
        return "norm.final"
    if len(steps) > 1 and "embedding" in words(steps[-2]):
        return "norm.embed"
    beside = {_context((name,)) for name in around} - {""}
    if beside == {"attn"} and any({"cross", "encoder"} & set(words(name)) or "enc" in name for name in around):
        return "norm.cross"
    if "intermediate" in around:
        return "norm.mlp"  # as in BERT, where the attention brings a norm of its own
    serves = beside.pop() if len(beside) == 1 else _context(steps[:-1])
    return f"norm.{serves}" if serves else ""
