"""One small model pair for every kind of difficulty that real ports have."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from matcher import Alignment, Module, Tree, align

H, F = 64, 256  # hidden and feed-forward size


def tree(modules: Mapping[str, str], shapes: Mapping[str, tuple[int, ...]] | None = None) -> Tree:
    """Modules by path with their classes; a weight shape for those whose path ends in a key of ``shapes``."""
    known = shapes or {}
    return Tree.build(
        Module(
            path,
            cls,
            called=not cls.endswith(("List", "Dict")),
            params=next(((("weight", shape),) for end, shape in known.items() if path.endswith(end)), ()),
        )
        for path, cls in modules.items()
    )


def matched(alignment: Alignment) -> dict[str, str]:
    return {alignment.npu.paths[pair.npu]: alignment.bench.paths[pair.bench] for pair in alignment.pairs}


def megatron(prefix: str, layers: int, *, head: bool = True, embedding: bool = True) -> dict[str, str]:
    """A Megatron-core decoder."""
    found = {f"{prefix}embedding": "LanguageModelEmbedding", f"{prefix}embedding.word_embeddings": "VocabEmbedding"}
    found = found if embedding else {}
    found[f"{prefix}decoder"] = "TransformerBlock"
    found[f"{prefix}decoder.layers"] = "ModuleList"
    for n in range(layers):
        at = f"{prefix}decoder.layers.{n}"
        found |= {
            at: "TransformerLayer",
            f"{at}.input_layernorm": "RMSNorm",
            f"{at}.self_attention": "SelfAttention",
            f"{at}.self_attention.linear_proj": "RowParallelLinear",
            f"{at}.self_attention.linear_qkv": "ColumnParallelLinear",
            f"{at}.cross_attn_bda": "IdentityFuncOp",
            f"{at}.pre_mlp_layernorm": "RMSNorm",
            f"{at}.mlp": "MLP",
            f"{at}.mlp.linear_fc1": "ColumnParallelLinear",
            f"{at}.mlp.linear_fc2": "RowParallelLinear",
        }
    if head:
        found |= {f"{prefix}decoder.final_layernorm": "RMSNorm", f"{prefix}output_layer": "ColumnParallelLinear"}
    return found


def transformers(prefix: str, layers: int) -> dict[str, str]:
    """A decoder of Hugging Face transformers."""
    found = {
        f"{prefix}model": "Model",
        f"{prefix}model.embed_tokens": "Embedding",
        f"{prefix}model.layers": "ModuleList",
    }
    for n in range(layers):
        at = f"{prefix}model.layers.{n}"
        found |= {
            at: "LlamaDecoderLayer",
            f"{at}.self_attn": "LlamaAttention",
            **{f"{at}.self_attn.{name}_proj": "Linear" for name in "qkvo"},
            f"{at}.mlp": "LlamaMLP",
            **{f"{at}.mlp.{name}_proj": "Linear" for name in ("gate", "up", "down")},
            f"{at}.mlp.act_fn": "SiLU",
            f"{at}.input_layernorm": "LlamaRMSNorm",
            f"{at}.post_attention_layernorm": "LlamaRMSNorm",
        }
    return found | {f"{prefix}model.norm": "LlamaRMSNorm", f"{prefix}lm_head": "Linear"}


@pytest.mark.parametrize(
    "wrapper", ["module.", "0.module.", "_orig_mod.", "_fsdp_wrapped_module.", "base_model.model.", "module.module."]
)
def test_wrappers_in_front_of_a_model_are_seen_through(wrapper: str) -> None:
    steps = wrapper.rstrip(".").split(".")
    outer = {".".join(steps[: n + 1]): "Wrapper" for n in range(len(steps))}
    found = matched(align(tree(outer | megatron(wrapper, 2)), tree(transformers("", 2))))
    assert found[f"{wrapper}decoder.layers.1.mlp.linear_fc2"] == "model.layers.1.mlp.down_proj"
    assert found[f"{wrapper}output_layer"] == "lm_head"
    assert found[f"{wrapper}embedding.word_embeddings"] == "model.embed_tokens"


def test_wrappers_inside_a_path_are_seen_through() -> None:
    plain = transformers("", 1)
    wrapped = {path.replace("layers.0.", "layers.0._fsdp_wrapped_module."): cls for path, cls in plain.items()}
    wrapped["model.layers.0._fsdp_wrapped_module"] = "FullyShardedDataParallel"
    found = matched(align(tree(wrapped), tree(plain)))
    assert found["model.layers.0._fsdp_wrapped_module.self_attn.q_proj"] == "model.layers.0.self_attn.q_proj"


def test_norms_first_here_and_last_there_still_find_each_other() -> None:
    found = matched(align(tree(megatron("", 2)), tree(transformers("", 2))))
    assert found["decoder.layers.0.input_layernorm"] == "model.layers.0.input_layernorm"
    assert found["decoder.layers.0.pre_mlp_layernorm"] == "model.layers.0.post_attention_layernorm"
    assert found["decoder.final_layernorm"] == "model.norm"


def test_placeholders_are_left_alone_even_where_the_path_exists() -> None:
    bench = {"a": "Block", "a.norm": "LayerNorm", "a.fc": "Linear"}
    assert "a.norm" not in matched(align(tree(bench | {"a.norm": "IdentityOp"}), tree(bench)))


def test_a_fused_gate_and_up_projection_takes_the_up_projection_and_lists_the_group() -> None:
    alignment = align(tree(megatron("", 1)), tree(transformers("", 1)))
    pair = next(p for p in alignment.pairs if alignment.npu.names[p.npu] == "linear_fc1")
    assert alignment.bench.names[pair.bench] == "up_proj"
    assert [alignment.bench.names[node] for node in pair.group] == ["gate_proj", "up_proj"]
    assert pair.split_side == "bench"


def test_a_fused_query_key_value_gets_no_partner_but_is_listed() -> None:
    alignment = align(tree(megatron("", 1)), tree(transformers("", 1)))
    assert "decoder.layers.0.self_attention.linear_qkv" not in matched(alignment)
    (group,) = alignment.groups
    assert [alignment.bench.names[node] for node in group.bench] == ["q_proj", "k_proj", "v_proj"]


def test_the_split_side_may_be_the_npu_side() -> None:
    alignment = align(tree(transformers("", 1)), tree(megatron("", 1)))
    (group,) = alignment.groups
    assert [alignment.npu.names[node] for node in group.npu] == ["q_proj", "k_proj", "v_proj"]
    pair = next(p for p in alignment.pairs if alignment.npu.names[p.npu] == "up_proj")
    assert (pair.split_side, len(pair.group)) == ("npu", 2)


def experts(at: str, count: int) -> dict[str, str]:
    """Experts one by one, as transformers has them."""
    found = {at: "MoE", f"{at}.gate": "Linear", f"{at}.experts": "ModuleList"}
    for n in range(count):
        found[f"{at}.experts.{n}"] = "ExpertMLP"
        found |= {f"{at}.experts.{n}.{name}_proj": "Linear" for name in ("gate", "up", "down")}
    return found


GROUPED = {
    "mlp": "MoELayer",
    "mlp.router": "TopKRouter",
    "mlp.experts": "TEGroupedMLP",
    "mlp.experts.linear_fc1": "TEColumnParallelGroupedLinear",
    "mlp.experts.linear_fc2": "TERowParallelGroupedLinear",
}


@pytest.mark.parametrize("grouped_side", ["npu", "bench"])
def test_grouped_experts_get_no_partner_among_single_ones_but_the_group_is_listed(grouped_side: str) -> None:
    grouped, single = tree(GROUPED), tree(experts("mlp", 3))
    alignment = align(grouped, single) if grouped_side == "npu" else align(single, grouped)
    assert set(matched(alignment)) == {"mlp", "mlp.router" if grouped_side == "npu" else "mlp.gate"}
    listed = {
        (alignment.npu.names[group.npu[0]], len(group.npu), alignment.bench.names[group.bench[0]], len(group.bench))
        for group in alignment.groups
    }
    if grouped_side == "npu":
        assert listed == {("linear_fc1", 1, "gate_proj", 6), ("linear_fc2", 1, "down_proj", 3)}
    else:
        assert listed == {("gate_proj", 6, "linear_fc1", 1), ("down_proj", 3, "linear_fc2", 1)}


def test_grouped_experts_without_single_ones_on_the_other_side_are_listed_nowhere() -> None:
    dense = {"mlp": "MLP", "mlp.gate": "Linear"}
    alignment = align(tree(GROUPED), tree(dense))
    assert "mlp.experts.linear_fc1" not in matched(alignment)
    assert alignment.groups == ()


def test_shared_experts_are_an_mlp_like_any_other() -> None:
    fused = {
        "shared_experts": "SharedExpertMLP",
        "shared_experts.linear_fc1": "Linear",
        "shared_experts.linear_fc2": "Linear",
    }
    split = {"shared_experts": "MLP"} | {f"shared_experts.{name}_proj": "Linear" for name in ("gate", "up", "down")}
    alignment = align(tree(fused), tree(split))
    pair = next(p for p in alignment.pairs if alignment.npu.names[p.npu] == "linear_fc1")
    assert alignment.bench.names[pair.bench] == "up_proj"
    assert [alignment.bench.names[node] for node in pair.group] == ["gate_proj", "up_proj"]


def test_experts_are_laid_one_to_one_and_a_shard_of_them_says_that_its_place_is_a_guess() -> None:
    one, other = tree(experts("mlp", 2)), tree(experts("mlp", 4))
    assert matched(align(other, other))["mlp.experts.3.up_proj"] == "mlp.experts.3.up_proj"
    alignment = align(one, other)
    assert matched(alignment)["mlp.experts.1.up_proj"] == "mlp.experts.1.up_proj"
    assert {pair.note.split(":")[0] for pair in alignment.pairs if pair.note} == {"offset is a guess"}


def test_a_tied_head_that_one_side_does_not_have_disturbs_nothing() -> None:
    without = {path: cls for path, cls in transformers("", 2).items() if path != "lm_head"}
    found = matched(align(tree(megatron("", 2)), tree(without)))
    assert "output_layer" not in found
    assert found["embedding.word_embeddings"] == "model.embed_tokens"
    assert found["decoder.final_layernorm"] == "model.norm"


def stages(*, first: bool) -> dict[str, str]:
    """A hierarchical network whose downsampling ends a stage, or begins the next (with a placeholder in the first)."""
    found = {"layers": "ModuleList"}
    for n in range(4):
        here = n > 0 if first else n < 3
        down = {f"layers.{n}.down": "Merging", f"layers.{n}.down.norm": "Norm", f"layers.{n}.down.reduce": "Linear"}
        down = down if here else {f"layers.{n}.down": "Identity"} if first else {}
        blocks = {f"layers.{n}.blocks": "ModuleList"}
        for m in range((2, 2, 6, 2)[n]):
            at = f"layers.{n}.blocks.{m}"
            blocks |= {at: "Block", f"{at}.norm": "Norm", f"{at}.fc1": "Linear", f"{at}.fc2": "Linear"}
        found |= {f"layers.{n}": "Stage"} | (down | blocks if first else blocks | down)
    return found


def test_a_downsampling_may_end_a_stage_here_and_begin_the_next_there() -> None:
    found = matched(align(tree(stages(first=False)), tree(stages(first=True))))
    assert {a: b for a, b in found.items() if "reduce" in a} == {
        f"layers.{n}.down.reduce": f"layers.{n + 1}.down.reduce" for n in range(3)
    }
    assert all(found[f"layers.{n}.blocks.1"] == f"layers.{n}.blocks.1" for n in range(4))


def test_opaque_names_are_read_by_their_neighbours() -> None:
    meta = {"ffn": "FeedForward", "ffn.w1": "Linear", "ffn.w2": "Linear", "ffn.w3": "Linear"}
    lit = {"mlp": "LLaMAMLP", "mlp.fc_1": "Linear", "mlp.fc_2": "Linear", "mlp.proj": "Linear"}
    assert matched(align(tree(meta), tree(lit))) == {
        "ffn": "mlp",
        "ffn.w1": "mlp.fc_1",
        "ffn.w2": "mlp.proj",
        "ffn.w3": "mlp.fc_2",
    }


def test_numbered_halves_of_an_mlp_are_its_first_and_second_linear() -> None:
    here = {"mlp": "Sequential", "mlp.0": "Linear", "mlp.1": "GELU", "mlp.2": "Linear"}
    there = {"mlp": "Mlp", "mlp.fc1": "Linear", "mlp.act": "GELU", "mlp.fc2": "Linear"}
    found = matched(align(tree(here), tree(there)))
    assert (found["mlp.0"], found["mlp.2"]) == ("mlp.fc1", "mlp.fc2")


def test_four_norms_to_a_layer_cross_nothing() -> None:
    def layer(norms: list[str]) -> dict[str, str]:
        found = {"l": "Layer", "l.attn": "Attention", "l.attn.o_proj": "Linear", "l.mlp": "MLP"}
        return found | {"l.mlp.down_proj": "Linear"} | {f"l.{norm}": "RMSNorm" for norm in norms}

    ours = ["input_layernorm", "pre_mlp_layernorm", "post_attn_norm", "post_mlp_layernorm"]
    theirs = ["input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"]
    found = matched(align(tree(layer(ours)), tree(layer(theirs))))
    assert [found[f"l.{norm}"] for norm in ours] == [f"l.{theirs[n]}" for n in (0, 2, 1, 3)]


def mixed_layers(kinds: str) -> dict[str, str]:
    """A list of layers with a dense MLP ("d") or with experts ("m")."""
    found = {"layers": "ModuleList"}
    for n, kind in enumerate(kinds):
        at = f"layers.{n}"
        found |= {at: "Layer", f"{at}.norm": "RMSNorm", f"{at}.mlp": "MoE" if kind == "m" else "MLP"}
        if kind == "d":
            found[f"{at}.mlp.fc1"] = "Linear"
            continue
        found |= {f"{at}.mlp.router": "Router", f"{at}.mlp.experts": "ModuleList"}
        for e in range(3):
            found |= {f"{at}.mlp.experts.{e}": "MLP", f"{at}.mlp.experts.{e}.fc1": "Linear"}
    return found


def test_dense_and_expert_layers_of_one_list_find_their_like() -> None:
    found = matched(align(tree(mixed_layers("ddmm")), tree(mixed_layers("dmm"))))
    assert found["layers.2"] == "layers.1"
    assert found["layers.3.mlp.experts.2.fc1"] == "layers.2.mlp.experts.2.fc1"


def test_the_last_pipeline_stage_is_laid_against_the_last_layers() -> None:
    found = matched(align(tree(megatron("", 2, embedding=False)), tree(transformers("", 6))))
    assert found["decoder.layers.0"] == "model.layers.4"
    assert found["decoder.layers.1.mlp.linear_fc2"] == "model.layers.5.mlp.down_proj"


def test_the_first_pipeline_stage_is_laid_against_the_first_layers() -> None:
    alignment = align(tree(megatron("", 2, head=False)), tree(transformers("", 6)))
    assert matched(alignment)["decoder.layers.1"] == "model.layers.1"
    assert all(not pair.note for pair in alignment.pairs)


def test_the_whole_model_may_be_on_the_npu_side() -> None:
    found = matched(align(tree(transformers("", 6)), tree(megatron("", 2, embedding=False))))
    assert found["model.layers.5"] == "decoder.layers.1"
    assert "model.layers.0" not in found


def test_a_middle_stage_says_that_its_place_is_a_guess() -> None:
    alignment = align(tree(megatron("", 2, embedding=False, head=False)), tree(transformers("", 6)))
    notes = {alignment.npu.paths[pair.npu]: pair.note for pair in alignment.pairs if pair.note}
    assert set(notes) == {"decoder.layers.0", "decoder.layers.1"}
    assert all("offset is a guess" in note for note in notes.values())
    assert all(pair.confidence <= 0.5 for pair in alignment.pairs if "layers." in alignment.npu.paths[pair.npu])


def test_interleaved_chunks_are_one_model() -> None:
    chunks = {"0": "DDP", "1": "DDP"} | megatron("0.", 2, head=False) | megatron("1.", 2, embedding=False)
    found = matched(align(tree(chunks), tree(transformers("", 4))))
    assert found["0.decoder.layers.1"] == "model.layers.1"
    assert found["1.decoder.layers.0"] == "model.layers.2"
    assert found["1.output_layer"] == "lm_head"
    back = matched(align(tree(transformers("", 4)), tree(chunks)))
    assert back["model.layers.3"] == "1.decoder.layers.1"


def test_blocks_numbered_in_their_names_are_a_list() -> None:
    here = {"encoder": "Encoder"}
    there = {"blocks": "Sequential"}
    for n in range(3):
        here |= {f"encoder.encoder_layer_{n}": "EncoderBlock", f"encoder.encoder_layer_{n}.ln_1": "LayerNorm"}
        here |= {f"encoder.encoder_layer_{n}.fc": "Linear"}
        there |= {f"blocks.{n}": "Block", f"blocks.{n}.norm1": "LayerNorm", f"blocks.{n}.proj": "Linear"}
    found = matched(align(tree(here), tree(there)))
    assert found["encoder.encoder_layer_2"] == "blocks.2"
    assert found["encoder.encoder_layer_1.ln_1"] == "blocks.1.norm1"


def test_stages_of_blocks_here_are_one_list_there() -> None:
    here, there = {"stages": "ModuleList"}, {"layers": "ModuleList"}
    for n in range(6):
        at = f"stages.{n // 2}.{n % 2}"
        here |= {f"stages.{n // 2}": "Sequential", at: "Block", f"{at}.conv": "Conv2d", f"{at}.bn": "BatchNorm2d"}
        there |= {f"layers.{n}": "Layer", f"layers.{n}.conv": "Conv2d", f"layers.{n}.bn": "BatchNorm2d"}
    for one, other in ((here, there), (there, here)):
        found = matched(align(tree(one), tree(other)))
        convs = [[path for path in side if path.endswith("conv")] for side in (one, other)]
        assert [found[path] for path in convs[0]] == convs[1]


def test_a_reversed_list_is_told_by_its_shapes() -> None:
    shapes = {f"{n}.conv": (8 * (n + 1), 8, 3, 3) for n in range(3)}
    back = {f"{n}.conv": (8 * (3 - n), 8, 3, 3) for n in range(3)}
    up = {"up": "ModuleList"} | {f"up.{n}": "Up" for n in range(3)} | {f"up.{n}.conv": "Conv2d" for n in range(3)}
    found = matched(align(tree(up, shapes), tree(up, back)))
    assert found == {"up": "up"} | {f"up.{n}{end}": f"up.{2 - n}{end}" for n in range(3) for end in ("", ".conv")}


def test_what_moved_out_of_its_parent_is_found_across_levels() -> None:
    here = {"model": "Model", "model.body": "Body", "model.body.fc": "Linear", "model.lm_head": "Linear"}
    there = {"model": "Model", "model.body": "Body", "model.body.fc": "Linear", "lm_head": "Linear"}
    found = matched(align(tree(here), tree(there)))
    assert found["model.lm_head"] == "lm_head"
    assert found["model.body.fc"] == "model.body.fc"


def test_meaningless_names_leave_shape_order_and_structure() -> None:
    shapes = {"a": (H, H), "b": (F, H), "c": (H, F)}
    here = {"x9k": "K1", "x9k.zza": "K2", "x9k.zzb": "K2", "x9k.zzc": "K2"}
    there = {"mlp": "Block", "mlp.oa": "Linear", "mlp.ob": "Linear", "mlp.oc": "Linear"}
    found = matched(align(tree(here, shapes), tree(there, shapes)))
    assert found == {"x9k": "mlp", "x9k.zza": "mlp.oa", "x9k.zzb": "mlp.ob", "x9k.zzc": "mlp.oc"}


def test_a_tree_aligned_with_itself_is_identity() -> None:
    one = tree(transformers("", 3))
    alignment = align(one, one)
    assert all(pair.npu == pair.bench for pair in alignment.pairs)
    assert len(alignment.pairs) >= one.called_count()


def test_swapping_the_sides_transposes_the_pairs() -> None:
    here, there = tree(megatron("", 2)), tree(transformers("", 2))
    assert {b: a for a, b in matched(align(there, here)).items()} == matched(align(here, there))


def test_an_unrelated_leaf_disturbs_nothing() -> None:
    here, there = megatron("", 2), transformers("", 2)
    plain = matched(align(tree(here), tree(there)))
    more = matched(align(tree(here | {"decoder.layers.0.mlp.zork": "Fnord"}), tree(there)))
    assert more == plain


def test_very_deep_trees_do_not_exhaust_the_stack() -> None:
    deep = {".".join(["a"] * n): "A" for n in range(1, 140)}
    assert len(matched(align(tree(deep), tree(deep)))) == 139


def test_nothing_in_common_pairs_nothing() -> None:
    assert matched(align(tree({"zork": "Conv2d"}), tree({"blub": "LayerNorm"}))) == {}
    assert matched(align(tree({}), tree({}))) == {}


def test_what_moved_to_another_part_of_its_layer_stays_in_its_layer() -> None:
    def network(home: str) -> Tree:
        found = {"layers": "ModuleList"}
        for n in range(2):
            found |= {f"layers.{n}": "Layer", f"layers.{n}.attn": "Attention", f"layers.{n}.mlp": "MLP"}
            found |= {f"layers.{n}.attn.{name}": "Linear" for name in ("q_proj", "k_proj", "v_proj", "o_proj")}
            found |= {f"layers.{n}.mlp.{name}": "Linear" for name in ("up_proj", "down_proj")}
            found[f"layers.{n}.{home}.extra_norm"] = "RMSNorm"
        return tree(found)

    found = matched(align(network("attn"), network("mlp")))
    assert [found[f"layers.{n}.attn.extra_norm"] for n in range(2)] == [f"layers.{n}.mlp.extra_norm" for n in range(2)]
