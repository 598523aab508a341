"""The matcher's parts one by one: trees, names, genera, roles, folding, assignment, sequences, views."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matcher import Module, Tree, align
from matcher.assign import assign
from matcher.fold import fold
from matcher.genus import genus_of, main_shape
from matcher.likeness import role_likeness
from matcher.names import is_known, likeness, plain, words
from matcher.roles import norm_name, roles_of
from matcher.sequence import align_sequences, uncrossed
from matcher.shapes import shape_relation
from matcher.traits import traits_of
from matcher.views import is_chunked, plain_view, with_series


def test_a_tree_is_in_preorder_and_adds_missing_steps() -> None:
    tree = Tree.build([Module("a.0.b", "X"), Module("a", "L", called=False), Module("c", "C"), Module("a.1", "Y")])
    assert tree.paths == ("", "a", "a.0", "a.0.b", "a.1", "c")
    assert tree.parents == (-1, 0, 1, 2, 1, 0)
    assert tree.ends == (6, 5, 4, 4, 5, 6)
    assert tree.called == (False, False, False, True, True, True)
    assert tree.id_of()["a.1"] == 4
    assert tree.called_count() == 3


def test_words_undo_case_abbreviations_and_numbers() -> None:
    assert words("self_attn") == ("self", "attention")
    assert words("PostFFNLayerNorm2") == ("post", "mlp", "layer", "norm", "2")
    assert words("w1") == ("w1",)
    assert plain("LayerNorm1") == "layer_norm_1"


def test_likeness_is_symmetric_bounded_and_whole_for_equal_words() -> None:
    assert likeness("attn", "attn") == 1.0
    assert likeness("self_attn", "self_attention") == pytest.approx(0.97)
    assert 0.0 <= likeness("q_proj", "zork") == likeness("zork", "q_proj") < 0.3
    assert likeness("_", "__") < 1.0


def test_meaningless_names_are_known_to_be_so() -> None:
    assert is_known("linear_fc1")
    assert not is_known("q7z")


@pytest.mark.parametrize(
    ("cls", "name", "shape", "leaf", "genus"),
    [
        ("Qwen2RMSNorm", "norm", (), True, "norm"),
        ("TELayerNormColumnParallelLinear", "linear_qkv", (), True, "linear"),
        ("ModuleList", "layers", (), False, "list"),
        ("T5DenseGatedActDense", "DenseReluDense", (), False, "linear"),
        ("K7x", "q3z", (8, 4), True, "matrix"),
        ("K7x", "q3z", (8,), True, "norm"),
        ("K7x", "q3z", (8, 4, 3, 3), True, "convolution"),
        ("K7x", "q3z", (1,), True, ""),
        ("", "weight", (), True, "parameter"),
        ("Layer", "thing", (), True, ""),
        ("", "", (), False, ""),
    ],
)
def test_genus(cls: str, name: str, shape: tuple[int, ...], leaf: bool, genus: str) -> None:
    assert genus_of(cls, name, (("weight", shape),) if shape else (), leaf=leaf) == genus


def test_the_main_shape_is_the_largest_without_ones() -> None:
    assert main_shape((("bias", (8,)), ("weight", (8, 1, 3)))) == (8, 3)
    assert main_shape(()) == ()


def role(path: str, genus: str = "linear", around: str = "", rank: tuple[int, int] = (0, 0)) -> list[str]:
    found = roles_of(tuple(path.split(".")), genus, frozenset(around.split()), rank)
    return [name for name, weight in found if weight == 1.0]


def test_a_name_is_read_in_context() -> None:
    assert role("attention.output.dense") == ["attn.out"]
    assert role("output.dense") == ["mlp.down"]
    assert role("attn.c_proj") == ["attn.out"]
    assert role("mlp.c_proj") == ["mlp.down"]
    assert role("mlp.gate", around="gate experts") == ["moe.router"]
    assert role("ffn.w_1", around="w_1 w_2 w_3") == ["mlp.gate"]
    assert role("net", rank=(2, 2)) == ["mlp.down"]
    assert role("dropout", "dropout") == []


@pytest.mark.parametrize(
    ("path", "around", "expected"),
    [
        ("layer.post_attention_layernorm", "input_layernorm mlp", ["norm.mlp.pre"]),
        ("layer.post_attention_layernorm", "pre_feedforward_layernorm", ["norm.attn.post"]),
        ("attention.output.LayerNorm", "dense", ["norm.attn"]),
        ("layer.final_layer_norm", "self_attn fc1", ["norm.mlp"]),
        ("decoder.final_layernorm", "layers", ["norm.final"]),
        ("layer.norm3", "self_attn multihead_attn norm2 norm3", ["norm.mlp.pre"]),
        ("layer.norm2", "self_attn multihead_attn norm2 norm3", ["norm.cross"]),
        ("layer.norm3", "self_attn norm3", []),
        ("stem.norm1", "conv1 norm1", []),
        ("model.norm", "layers norm", ["norm.final"]),
        ("embeddings.norm", "word_embeddings", ["norm.embed"]),
        ("patch_embedder.normalization", "convolution normalization", ["norm.embed"]),
        ("layer.1.layer_norm", "EncDecAttention layer_norm", ["norm.cross"]),
        ("layer.0.layer_norm", "SelfAttention layer_norm", ["norm.attn"]),
        ("ffn.norm", "a b", ["norm.mlp.pre"]),
        ("layer.LayerNorm", "attention intermediate output LayerNorm", ["norm.mlp"]),
        ("block.norm1.norm", "silu linear norm", ["norm.attn.pre"]),
        ("block.norm2_context", "attn norm1 norm2 norm2_context", ["norm.mlp.pre~context"]),
        ("thing.norm", "a b", []),
        ("thing.zork", "a b", []),
    ],
)
def test_a_norm_says_which_sublayer_it_serves(path: str, around: str, expected: list[str]) -> None:
    names = " ".join(map(plain, around.split()))
    steps = ".".join(plain(step) for step in path.split(".") if not step.isdigit())
    assert role(steps, "norm", names) == expected


def test_norm_names_are_one_whatever_the_spelling() -> None:
    assert {norm_name(name) for name in ("post_ffn_layernorm", "post_feed_forward_layer_norm")} == {"post_mlp_norm"}


def test_bare_parameters_play_their_modules_role() -> None:
    assert role("layer.input_layernorm.weight", "parameter") == ["norm.attn.pre@weight"]
    assert role("attn.linear_qkv.layer_norm_bias", "parameter") == ["norm.attn.pre@bias"]
    assert role_likeness((("attn.q@weight", 1.0),), (("attn.q@bias", 1.0),)) == 0.0


def test_roles_agree_by_kinship() -> None:
    assert role_likeness((), (("attn.q", 1.0),)) is None
    assert role_likeness((("mlp.fc1", 1.0),), (("mlp.up", 1.0),)) == 0.75
    assert role_likeness((("norm.attn.pre", 1.0),), (("norm.attn", 1.0),)) == 0.95
    assert role_likeness((("norm.attn.pre", 1.0),), (("norm.attn.post", 1.0),)) == 0.45
    assert role_likeness((("norm.q", 1.0),), (("norm.q_down", 1.0),)) == 0.9
    assert role_likeness((("norm.attn.post", 1.0),), (("norm.mlp.pre", 1.0),)) == 0.3
    assert role_likeness((("norm.embed", 1.0),), (("norm.final", 1.0),)) == 0.05


@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        ((4, 8), (8, 4), "transposed"),
        ((4, 8), (4, 8), "equal"),
        ((3, 8, 3, 3), (8, 3, 3, 3), "differs"),
        ((3, 8, 3), (8, 3, 5), "clash"),
        ((24, 8), (8, 8), "compatible"),
        ((1000, 8), (1008, 8), "compatible"),
        ((4, 8), (5, 9), "clash"),
        ((8,), (9,), "clash"),
    ],
)
def test_shapes_compare(one: tuple[int, ...], other: tuple[int, ...], relation: str) -> None:
    assert shape_relation(one, other) == relation


def test_equal_subtrees_are_one_kind() -> None:
    tree = Tree.build(Module(f"layers.{n}.{leaf}", "Linear") for n in range(5) for leaf in ("a", "b"))
    folded = fold(tree, traits_of(tree))
    assert len(folded) == 5  # a, b, a layer, the list, the root
    assert {folded.kind[node] for node in tree.children[1]} == {folded.kind[2]}


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 4), st.integers(0, 4), st.data())
def test_assignment_is_the_best_of_all(rows: int, columns: int, data: st.DataObject) -> None:
    value = st.integers(-3, 9).map(float)
    matrix = [[data.draw(value) for _ in range(columns)] for _ in range(rows)]
    total, links = assign(matrix)
    size = max(rows, columns)
    padded = [[max(matrix[r][c], 0.0) if r < rows and c < columns else 0.0 for c in range(size)] for r in range(size)]
    best = max((sum(padded[r][c] for r, c in enumerate(order)) for order in permutations(range(size))), default=0.0)
    assert total == pytest.approx(best)
    assert total == pytest.approx(sum(matrix[r][c] for r, c in links))
    assert len({r for r, _ in links}) == len({c for _, c in links}) == len(links)


def test_sequences_keep_their_order_unless_crossing_pays() -> None:
    assert align_sequences([[1.0, 1.0], [1.0, 1.0]], (0, 0), (0, 0)) == (2.0, ((0, 0), (1, 1)))
    assert align_sequences([[0.0, 2.0, 1.0], [1.0, 0.0, 0.5]], (0, 1), (0, 1, 2))[1] == ((0, 1), (1, 2))
    assert align_sequences([[-1.0, 5.0], [5.0, -1.0]], (0, 1), (0, 1)) == (10.0, ((0, 1), (1, 0)))
    assert align_sequences([[-1.0], [-1.0]], (0, 0), (0,)) == (0.0, ())
    assert align_sequences([[1.0, 1.0, 1.0]], (0,), (0, 0, 0)) == (1.0, ((0, 0),))


def test_equal_kinds_are_never_crossed() -> None:
    assert uncrossed(((0, 1), (1, 0), (2, 2)), ("a", "a", "b"), ("x", "x", "y")) == ((0, 0), (1, 1), (2, 2))
    assert uncrossed(((0, 1), (1, 0)), ("a", "b"), ("x", "x")) == ((0, 1), (1, 0))


def test_a_series_becomes_a_list_only_if_it_is_one() -> None:
    tree = Tree.build(
        [Module("layer_0.a", "A"), Module("layer_1.a", "A"), Module("attn1.a", "A"), Module("attn2.a", "A")]
    )
    view = with_series(plain_view(tree))
    assert view.tree.paths[:4] == ("", "layer", "layer.0", "layer.0.a")
    assert view.real[1] == -1
    assert "attn1" in view.tree.paths
    taken = Tree.build([Module("layer.x", "A"), Module("layer_0.a", "A"), Module("layer_1.a", "A")])
    assert with_series(plain_view(taken)).tree is taken


def test_a_list_of_different_models_is_no_list_of_chunks() -> None:
    assert not is_chunked(Tree.build([Module("0.a", "A"), Module("1.b", "B")]))
    assert not is_chunked(Tree.build([Module("a.b", "A"), Module("c.b", "B")]))


def test_the_only_ones_of_their_kind_may_stand_in_layers_that_are_not_partners() -> None:
    def side(merger: str) -> Tree:
        weight = (("weight", (8, 8)),)
        blocks = [Module(f"blocks.{n}.{fc}", "Linear", params=weight) for n in range(3) for fc in "stuvwxyz"]
        return Tree.build([*blocks, Module(merger, "PatchMerger", params=(("weight", (16, 8)),))])

    for place in ("merger", "blocks.2.merger"):
        alignment = align(side("blocks.1.merger"), side(place))
        found = {alignment.npu.paths[p.npu]: alignment.bench.paths[p.bench] for p in alignment.pairs}
        assert found["blocks.1.merger"] == place
        assert found["blocks.1.z"] == "blocks.1.z"


def test_a_second_stream_of_a_block_is_told_apart() -> None:
    assert role("block.ff_context", "mlp") == ["mlp~context"]
    assert role_likeness((("mlp~context", 1.0),), (("mlp~context", 1.0),)) == 1.0
    assert role_likeness((("mlp.fc1~context", 1.0),), (("mlp.up~context", 1.0),)) == 0.75
    assert role_likeness((("mlp~context", 1.0),), (("mlp", 1.0),)) == 0.35
    assert role_likeness((("mlp@weight", 1.0),), (("mlp@bias", 1.0),)) == 0.0
