"""What an operator does, whatever a framework calls it, and which operators of two modules correspond.

Names come from msprobe's API entries (PyTorch, torch_npu, MindSpore): ``npu_rms_norm`` and ``rms_norm`` are one *kind*,
``__radd__`` and ``add_`` another. `paired` takes the operators of two corresponding modules in order of execution.
Limits: a fused operator (attention, gelu, rotation) and the several that compute the same have no common kind, since
one entry cannot be matched with several; arguments are not looked at.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

_FAMILIES = (
    "scaled_dot_product_attention fusion_attention flash_attention flash_attention_score flash_attn_func",
    "rms_norm fused_rms_norm rmsnorm",
    "layer_norm native_layer_norm fused_layer_norm layernorm",
    "group_norm native_group_norm",
    "batch_norm native_batch_norm",
    "linear addmm dense linear_with_frozen_weight",
    "matmul bmm baddbmm batch_matmul batmatmul mm",
    "grouped_matmul grouped_mm gmm grouped_gemm",
    "embedding gather index_select embedding_lookup",
    "gelu fast_gelu quick_gelu gelu_mul",
    "silu swish",
    "swiglu swi_glu",
    "rotary_mul rotary_embedding apply_rotary_pos_emb rotary_position_embedding",
    "softmax softmax_v2",
    "scaled_masked_softmax scaled_upper_triang_masked_softmax fused_softmax",
    "dropout fused_dropout native_dropout dropout_do_mask",
    "add",
    "mul multiply",
    "sub subtract rsub",
    "div true_divide truediv divide real_div",
    "pow square",
    "neg negative",
    "and logical_and bitwise_and",
    "or logical_or bitwise_or",
    "invert logical_not bitwise_not",
    "eq equal",
    "ne not_equal",
    "lt less",
    "le less_equal",
    "gt greater",
    "ge greater_equal",
    "masked_fill masked_scatter",
    "cat concat concatenate",
    "stack",
    "transpose swapaxes permute t",
    "reshape view",
    "split chunk tensor_split",
    "getitem select index",
    "to type cast float half bfloat16",
    "expand broadcast_to expand_as",
    "conv1d conv2d conv3d",
    "cross_entropy softmax_cross_entropy_with_logits cross_entropy_loss",
    "all_gather all_gather_into_tensor all_gather_base",
    "reduce_scatter reduce_scatter_tensor reduce_scatter_base",
    "topk top_k",
)
_KIND = {name: family.split(" ", 1)[0] for family in _FAMILIES for name in family.split()}
_ACTIVATIONS = frozenset(
    {"gelu", "silu", "swiglu", "relu", "relu6", "sigmoid", "tanh", "mish", "softplus", "elu", "leaky_relu", "hardswish"}
)
_DRESS = re.compile(r"^(?:npu_|ascend_|aclnn_?|mint_|_+)+|_+(?:v\d+)?$|_v\d+_?$")
_IN_PLACE = re.compile(r"^__[ir](?=(?:add|mul|sub|truediv|div|pow|and|or|matmul)__$)")


@dataclass(frozen=True, slots=True)
class Operator:
    """An API of a module: its name, how many calls it has, and its own id for whoever asks."""

    ident: int
    name: str
    calls: int


@lru_cache(maxsize=1 << 12)
def kind_of(name: str) -> str:
    """The kind of an operator; an unknown one is its own."""
    plain = _IN_PLACE.sub("__", name)
    plain = _DRESS.sub("", plain) or name
    return _KIND.get(plain, plain)


def is_activation(name: str) -> bool:
    """Whether an operator is an activation function."""
    return kind_of(name) in _ACTIVATIONS


def paired(left: Sequence[Operator], right: Sequence[Operator], *, strict: bool = False) -> tuple[tuple[int, int], ...]:
    """Pairs of ids of operators that correspond: of one name first, then of one kind, in order.

    Operators of one kind but different names must be called equally often, since calls are matched by their number.
    ``strict`` pairs only kinds of which either side has as many operators: for those that stand in other modules.
    """
    found: list[tuple[int, int]] = []
    gone: set[tuple[bool, int]] = set()
    for key in (_name_and_calls, _name, _kind_and_calls):
        ours = _by(key, [op for op in left if (False, op.ident) not in gone])
        theirs = _by(key, [op for op in right if (True, op.ident) not in gone])
        for what, ones in ours.items():
            others = theirs.get(what, [])
            if strict and len(ones) != len(others):
                continue
            for one, other in zip(ones, others, strict=False):
                found.append((one.ident, other.ident))
                gone |= {(False, one.ident), (True, other.ident)}
    return tuple(sorted(found))


def _name_and_calls(operator: Operator) -> tuple[str, int]:
    return operator.name, operator.calls


def _name(operator: Operator) -> tuple[str, int]:
    return operator.name, 0


def _kind_and_calls(operator: Operator) -> tuple[str, int]:
    return kind_of(operator.name), operator.calls


def _by(
    key: Callable[[Operator], tuple[str, int]], operators: Sequence[Operator]
) -> dict[tuple[str, int], list[Operator]]:
    groups: dict[tuple[str, int], list[Operator]] = defaultdict(list)
    for operator in operators:
        groups[key(operator)].append(operator)
    return groups
