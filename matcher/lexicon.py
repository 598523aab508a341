"""The field's naming habits, as data: which names play which role in a network.

A *role* is what a module does in its block (``attn.q``, ``mlp.down``, ``norm.mlp.pre``, ``embed.token``). One name may
play several (``c_proj`` ends an attention and an MLP alike); context decides (`matcher.roles`). `KIN` says how far two
different roles still agree: a fused ``mlp.fc1`` goes with ``mlp.up``, as in msprobe's own templates.

Source: names in the public code of transformers, Megatron-LM, MindSpeed, MindFormers, litgpt, torchtune, timm, fairseq,
diffusers and their checkpoint converters. The lexicon helps and is never needed: where a name is unknown, words,
shapes, order and structure decide.
"""

from __future__ import annotations

# Names as matcher.names.plain writes them; a trailing number is only kept where it tells the role.
ROLE_NAMES: dict[str, str] = {
    "attn.q": "q add_q_proj add_q wq q_proj to_q query q_lin linear_q q_linear query_proj "
    "linear_q_proj q_layer query_layer proj_q "
    "linear_query q_attn",
    "attn.k": "k add_k_proj add_k wk k_proj to_k key k_lin linear_k k_linear key_proj linear_k_proj "
    "k_layer key_layer proj_k linear_key",
    "attn.v": "v add_v_proj add_v wv v_proj to_v value v_lin linear_v v_linear value_proj "
    "linear_v_proj v_layer value_layer proj_v "
    "linear_value",
    "attn.kv": "kv wkv kv_proj to_kv linear_kv key_value",
    "attn.qkv": "att_proj qkv wqkv qkv_proj to_qkv linear_qkv query_key_value c_attn in_proj w_pack qkv_layer "
    "attn_qkv qkv_linear "
    "qkv_lin proj_qkv",
    "attn.out": "o to_add_out wo o_proj out_proj to_out linear_proj c_proj proj dense out_lin out linear_out "
    "proj_out output_proj "
    "output_linear attn_out projection attention_output_dense linear_o attn_proj o_lin attn_out_proj proj_attn",
    "attn.q_down": "q_a_proj linear_q_down_proj wq_a q_down_proj q_a_proj_with_mqa",
    "attn.q_up": "q_b_proj linear_q_up_proj wq_b q_up_proj linear_qb",
    "attn.kv_down": "kv_a_proj_with_mqa linear_kv_down_proj wkv_a kv_a_proj kv_down_proj kv_proj_with_mqa",
    "attn.kv_up": "kv_b_proj linear_kv_up_proj wkv_b kv_up_proj linear_kvb kv_b_proj_with_mqa",
    "attn.core": "core_attention attn_core inner_attention dot_product_attention core_attn flash_attention sdpa",
    "mlp.gate": "gate_proj w_1 fc_1_gate wi_0 gate linear_gate w_gate gate_linear dense_gate linear_fc_1_gate fc_1_g",
    "mlp.up": "up_proj w_3 wi_1 up linear_up w_up up_linear linear_fc_1_up fc_1_x dense_up",
    "mlp.down": "ff_out net down_proj w_2 linear_fc_2 dense_4_h_to_h c_proj fc_2 wo proj output_dense "
    "lin_2 fc_out linear_2 down "
    "w_down linear_down pwconv_2 projection ff_2 dense_out layer_2 mlp_2 out_proj",
    "mlp.fc1": "ff_proj net_proj linear_fc_1 fc_1 c_fc dense_h_to_4_h intermediate_dense lin_1 wi fc_in "
    "linear_1 mapping pwconv_1 fc "
    "in_proj ff_1 dense_in layer_1 gate_up_proj up_gate w_in w_12 fc_1_fused gate_and_up_proj up_proj "
    "w_1 merged_gate_up "
    "w_gate_up w_13 mlp_0",
    "moe.router": "router gate topk_router gate_wg wg router_classifier gating moe_gate gate_linear switch",
    "moe.experts": "experts local_experts expert_list",
    "moe.shared": "shared_experts shared_expert shared_mlp",
    "moe.shared_gate": "shared_expert_gate shared_experts_gate shared_gate gate_weight",
    "embed.token": "embed_tokens wte word_embeddings word_embedding tok_embeddings tok_embedding token_embedding "
    "token_embeddings tok_emb embed_in shared embedding word_embed token_embed tok_embed wordembedding embed "
    "decoder_embed_tokens",
    "embed.pos": "wpe position_embeddings position_embedding embed_positions pos_embed pos_embedding pos_emb "
    "positional_embedding position_embed pos_embeddings positional_embeddings embed_position",
    "embed.type": "token_type_embeddings tokentype_embeddings token_type_embedding segment_embeddings "
    "segment_embedding "
    "token_type_embed",
    "embed.patch": "patch_embed patch_embeddings patch_embedding patch_embed_proj conv_proj patchify",
    "rotary": "rotary_pos_emb rotary_emb rotary_embedding rope rotary_position_embedding rotary apply_rotary_emb "
    "pos_embeddings freqs_mgr rotary_pos_emb_layer",
    "head": "ff_out final_layer_linear lm_head output_layer output embed_out head classifier fc proj_out aux "
    "score vocab_head heads",
    "attn": "txt_attn img_attn self_attn self_attention attn attention att attn_1 sa self mha "
    "multi_head_attention attentions mixer "
    "layer_self_attention",
    "attn.cross": "cross_attn cross_attention encoder_attn encdec_attention enc_dec_attention attn_2 inter_attention "
    "encoder_attention multihead_attn crossattention cross_attend ca",
    "mlp": "mlp ff_context mlp_context txt_mlp img_mlp feed_forward ffn ff feedforward "
    "block_sparse_moe moe dense_relu_dense mlp_block "
    "sparse_moe feed_forward_net",
    "layers": "layers h blocks layer resblocks block trf_blocks encoder_layers resnets transformer_layers stages blk "
    "layer_list",
    "stack": "decoder encoder transformer trunk body",
    "model": "model transformer backbone gpt_neox bert language_model text_model text_decoder base_model",
    "vision": "visual vision_model image_encoder vision_tower vision_encoder vit img_encoder",
    "text": "language_model text_model text_decoder model text_encoder llm transformer",
    "merger": "merger projector multi_modal_projector mm_projector connector aligner",
    "conv.dw": "conv_dw dwconv depthwise_conv conv_depthwise depthwise dw_conv",
    "scale.attn": "ls_1 layer_scale_1 gamma_1 layerscale_1",
    "scale.mlp": "ls_2 layer_scale_2 gamma_2 layerscale_2",
    "shortcut": "downsample shortcut nin_shortcut conv_shortcut skip_connection conv_skip skip identity_conv",
    "down": "downsample downsamplers downsampling_layer down_sample op",
    "up": "upsample upsamplers up_sample",
    "modulation": "ada_ln_modulation mod_lin modulation_lin mod_linear modulation img_mod txt_mod norm_linear "
    "norm_1_linear norm_1_context_linear norm_out_linear img_mod_lin txt_mod_lin img_mod_linear txt_mod_linear",
    "pooler": "pooler pooling global_pool avgpool pool",
}

# Norms: (sublayer it serves, side of it it stands on), "" leaves the side open; names as matcher.roles.norm_name
# writes them: abbreviations undone, every kind of norm just "norm".
NORM_NAMES: dict[tuple[str, str], str] = {
    ("attn", "pre"): "input_norm norm_1 attention_norm norm_before sa_norm pre_attention_norm norm_attention "
    "operator_norm pre_self_attention_norm pre_sa_norm",
    ("attn", ""): "self_attention_norm attention_output_norm self_attention_output_norm sa_output_norm",
    ("attn", "post"): "post_attention_norm post_self_attention_norm attention_post_norm norm_post_attention",
    ("mlp", "pre"): "pre_mlp_norm mlp_norm norm_2 norm_after norm_mlp pre_ffw_norm",
    ("mlp", ""): "output_norm full_layer_norm mlp_output_norm",
    ("mlp", "post"): "post_mlp_norm mlp_post_norm post_ffw_norm norm_post_mlp",
    ("cross", ""): "encoder_attention_norm pre_cross_attention_norm cross_attention_norm norm_cross_attention "
    "post_inter_attention_norm inter_attention_norm norm_cross ca_norm crossattention_norm "
    "encoder_decoder_attention_norm",
    (
        "final",
        "",
    ): "norm_f final_norm norm_final norm_out norm_post post_norm conv_norm_out convolution_norm_out out_norm "
    "last_norm encoder_norm decoder_norm mlp_final_norm",
    ("embed", ""): "word_embedding_norm embedding_norm norm_embedding norm_pre pre_norm embedding_norm",
    ("q", ""): "q_norm norm_q",
    ("k", ""): "k_norm norm_k",
    ("q_down", ""): "q_a_norm",
    ("kv_down", ""): "kv_a_norm kv_norm lkv_norm",
    ("router", ""): "router_norm",
}

# How far two different roles agree, in [0, 1]; unlisted pairs agree not at all, equal ones fully.
KIN: dict[frozenset[str], float] = {
    frozenset({"mlp.fc1", "mlp.up"}): 0.75,
    frozenset({"mlp.fc1", "mlp.gate"}): 0.55,
    frozenset({"attn.q", "attn.q_up"}): 0.4,
    frozenset({"mlp", "moe.shared"}): 0.3,
    frozenset({"vision", "model"}): 0.2,
    frozenset({"text", "model"}): 0.8,
    frozenset({"stack", "model"}): 0.5,
    frozenset({"down", "shortcut"}): 0.5,
    frozenset({"attn.q_up", "attn.q"}): 0.4,
}

# Siblings that give each other their roles; the first set that is complete decides.
SIBLINGS: tuple[dict[str, str], ...] = (
    {"fc_1": "mlp.gate", "fc_2": "mlp.up", "proj": "mlp.down"},
    {"w_1": "mlp.gate", "w_2": "mlp.down", "w_3": "mlp.up"},
    {"wi_0": "mlp.gate", "wi_1": "mlp.up", "wo": "mlp.down"},
    {"w_1": "mlp.fc1", "w_2": "mlp.down"},
    {"gate_proj": "mlp.gate", "up_proj": "mlp.up", "down_proj": "mlp.down"},
    {"up_proj": "mlp.fc1", "down_proj": "mlp.down"},
    {"dense_1": "attn.q", "dense_2": "attn.k", "dense_3": "attn.v"},
    {"dense_1": "mlp.fc1", "dense_2": "mlp.down"},
    {"fc_1": "mlp.fc1", "fc_2": "mlp.down"},
    {"linear_1": "mlp.fc1", "linear_2": "mlp.down"},
    {"wi": "mlp.fc1", "wo": "mlp.down"},
)

# Names of bare parameters: (which one of its module it is, whether it belongs to a norm inside a fused linear).
PARAMETERS: dict[str, tuple[str, bool]] = {
    "weight": ("weight", False),
    "kernel": ("weight", False),
    "gamma": ("weight", False),
    "scale": ("weight", False),
    "embedding_table": ("weight", False),
    "embedding_weight": ("weight", False),
    "bias": ("bias", False),
    "beta": ("bias", False),
    "layer_norm_weight": ("weight", True),
    "layer_norm_bias": ("bias", True),
    "running_mean": ("running_mean", False),
    "running_var": ("running_var", False),
    "moving_mean": ("running_mean", False),
    "moving_variance": ("running_var", False),
    "num_batches_tracked": ("num_batches_tracked", False),
}
