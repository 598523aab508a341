"""One network of any size in two code bases, for the benchmarks to dump.

The NPU side is written as Megatron-core does it, the bench side as transformers does. Networks are dense, or a mixture
of experts after the first layers, as DeepSeek-V3 is (61 layers, the first 3 dense, 256 experts).
"""

from __future__ import annotations

from dataclasses import dataclass

HIDDEN = 7168
_WORDS = 129_280

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A module: its name, class, weight's shape (() for none), what is in it, and the operators that it calls.

    A list, which nobody calls, has no class.
    """

    name: str
    cls: str
    shape: Shape = ()
    below: tuple[Block, ...] = ()
    operators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Net:
    """How large a network is: of its layers the first few are dense, all others have experts, if there are any."""

    layers: int
    experts: int = 0
    dense: int = 3


DEEPSEEK = Net(layers=61, experts=256)


def megatron(net: Net) -> Block:
    """The NPU side."""
    layers = tuple(_megatron_layer(str(layer), net.experts if layer >= net.dense else 0) for layer in range(net.layers))
    norm = Block("final_layernorm", "RMSNorm", (HIDDEN,), operators=("NPU.npu_rms_norm",))
    words = Block("word_embeddings", "VocabParallelEmbedding", (_WORDS, HIDDEN), operators=("Functional.embedding",))
    embedding = Block("embedding", "LanguageModelEmbedding", below=(words, Block("embedding_dropout", "Dropout")))
    decoder = Block("decoder", "TransformerBlock", below=(Block("layers", "", below=layers), norm))
    head = Block("output_layer", "ColumnParallelLinear", (_WORDS, HIDDEN), operators=("Torch.matmul",))
    return Block("", "", below=(Block("module", "GPTModel", below=(embedding, decoder, head)),))


def _megatron_layer(name: str, experts: int) -> Block:
    norms = [
        Block(f"{place}_layernorm", "RMSNorm", (HIDDEN,), operators=("NPU.npu_rms_norm",))
        for place in ("input", "pre_mlp")
    ]
    attention = Block(
        "self_attention",
        "SelfAttention",
        below=(
            _column("linear_qkv", 3 * HIDDEN),
            Block("core_attention", "DotProductAttention", operators=("NPU.npu_fusion_attention",)),
            _row("linear_proj", HIDDEN),
        ),
        operators=("NPU.npu_rotary_mul", "NPU.npu_rotary_mul"),
    )
    if experts:
        mlps = tuple(_megatron_mlp(str(expert), "MLP", 2048) for expert in range(experts))
        inside = (
            Block("router", "TopKRouter", (experts, HIDDEN), operators=("Functional.linear", "Torch.topk")),
            Block("experts", "SequentialMLP", below=(Block("local_experts", "", below=mlps),)),
            _megatron_mlp("shared_experts", "SharedExpertMLP", 2048),
        )
        mlp = Block("mlp", "MoELayer", below=inside, operators=("Tensor.__add__",))
    else:
        mlp = _megatron_mlp("mlp", "MLP", 18_432)
    return Block(
        name, "TransformerLayer", below=(norms[0], attention, norms[1], mlp), operators=("Tensor.__add__",) * 2
    )


def _megatron_mlp(name: str, cls: str, width: int) -> Block:
    return Block(
        name, cls, below=(_column("linear_fc1", 2 * width), _row("linear_fc2", width)), operators=("NPU.npu_swiglu",)
    )


def _column(name: str, width: int) -> Block:
    return Block(name, "ColumnParallelLinear", (width, HIDDEN), operators=("Torch.matmul",))


def _row(name: str, width: int) -> Block:
    return Block(name, "RowParallelLinear", (HIDDEN, width), operators=("Torch.matmul",))


def transformers(net: Net) -> Block:
    """The bench side."""
    layers = tuple(_hf_layer(str(layer), net.experts if layer >= net.dense else 0) for layer in range(net.layers))
    words = Block("embed_tokens", "Embedding", (_WORDS, HIDDEN), operators=("Functional.embedding",))
    rotary = Block("rotary_emb", "DeepseekV3RotaryEmbedding", operators=("Tensor.cos", "Tensor.sin"))
    model = Block("model", "DeepseekV3Model", below=(words, rotary, Block("layers", "", below=layers), _norm("norm")))
    return Block("", "", below=(model, _linear("lm_head", _WORDS, HIDDEN)))


def _hf_layer(name: str, experts: int) -> Block:
    projections = tuple(_linear(f"{letter}_proj", HIDDEN, HIDDEN) for letter in "qkvo")
    attention = Block(
        "self_attn",
        "DeepseekV3Attention",
        below=projections,
        operators=("Tensor.__mul__", "Tensor.__add__") * 2 + ("Functional.scaled_dot_product_attention",),
    )
    if experts:
        mlps = tuple(_hf_mlp(str(expert), 2048) for expert in range(experts))
        router = Block("gate", "DeepseekV3TopkRouter", (experts, HIDDEN), operators=("Functional.linear", "Torch.topk"))
        inside = (router, Block("experts", "", below=mlps), _hf_mlp("shared_experts", 2048))
        mlp = Block("mlp", "DeepseekV3MoE", below=inside, operators=("Tensor.__add__",))
    else:
        mlp = _hf_mlp("mlp", 18_432)
    below = (_norm("input_layernorm"), attention, _norm("post_attention_layernorm"), mlp)
    return Block(name, "DeepseekV3DecoderLayer", below=below, operators=("Tensor.__add__",) * 2)


def _hf_mlp(name: str, width: int) -> Block:
    below = (
        _linear("gate_proj", width, HIDDEN),
        Block("act_fn", "SiLUActivation", operators=("Functional.silu",)),
        _linear("up_proj", width, HIDDEN),
        _linear("down_proj", HIDDEN, width),
    )
    return Block(name, "DeepseekV3MLP", below=below, operators=("Tensor.__mul__",))


def _linear(name: str, out: int, into: int) -> Block:
    return Block(name, "Linear", (out, into), operators=("Functional.linear",))


def _norm(name: str) -> Block:
    operators = ("Tensor.pow", "Tensor.mean", "Torch.rsqrt", "Tensor.__mul__")
    return Block(name, "DeepseekV3RMSNorm", (HIDDEN,), operators=operators)


def nodes(block: Block) -> int:
    """How many modules are in a network, lists included."""
    return 1 + sum(map(nodes, block.below))
