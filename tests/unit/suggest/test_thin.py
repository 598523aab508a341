"""Large dumps read without what others stand for: the same draft as of the whole, or the whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from suggest import read_thin, side_by_side
from suggest.errors import ReadError
from suggest.knowledge import Knowledge
from suggest.read import read_pair
from suggest.repeats import NONE, Repeats, counterparts
from suggest.thin import rows_of

LAYERS, EXPERTS = 24, 32
Modules = Iterator[tuple[str, str, tuple[int, ...]]]
Numbers = dict[str, float]


def megatron(layers: int = LAYERS, experts: int = EXPERTS, *, grouped: bool = False) -> Modules:
    yield "embedding", "VocabParallelEmbedding", (1000, 64)
    for layer in range(layers):
        home = f"decoder.layers.{layer}"
        yield f"{home}.input_layernorm", "RMSNorm", (64,)
        yield f"{home}.self_attention.linear_qkv", "ColumnParallelLinear", (192, 64)
        yield f"{home}.self_attention.linear_proj", "RowParallelLinear", (64, 64)
        yield f"{home}.self_attention", "SelfAttention", ()
        yield f"{home}.pre_mlp_layernorm", "RMSNorm", (64,)
        yield f"{home}.mlp.router", "TopKRouter", (16, 64)
        if grouped:
            yield f"{home}.mlp.experts.linear_fc2", "TEGroupedLinear", (64, 32)
            yield f"{home}.mlp.experts", "TEGroupedMLP", ()
        for expert in range(0 if grouped else experts):
            yield f"{home}.mlp.experts.local_experts.{expert}.linear_fc1", "ColumnParallelLinear", (32, 64)
            yield f"{home}.mlp.experts.local_experts.{expert}.linear_fc2", "RowParallelLinear", (64, 32)
            yield f"{home}.mlp.experts.local_experts.{expert}", "MLP", ()
        yield f"{home}.mlp", "MoELayer", ()
        yield home, "TransformerLayer", ()
    yield "decoder.final_layernorm", "RMSNorm", (64,)
    yield "output_layer", "ColumnParallelLinear", (1000, 64)


def transformers(layers: int = LAYERS, experts: int = EXPERTS, first: int = 0) -> Modules:
    yield "model.embed_tokens", "Embedding", (1000, 64)
    for layer in range(first, first + layers):
        home = f"model.layers.{layer}"
        yield f"{home}.input_layernorm", "LlamaRMSNorm", (64,)
        for letter in "qkvo":
            yield f"{home}.self_attn.{letter}_proj", "Linear", (64, 64)
        yield f"{home}.self_attn", "LlamaAttention", ()
        yield f"{home}.post_attention_layernorm", "LlamaRMSNorm", (64,)
        yield f"{home}.mlp.gate", "TopkRouter", (16, 64)
        for expert in range(experts):
            yield f"{home}.mlp.experts.{expert}.up_proj", "Linear", (32, 64)
            yield f"{home}.mlp.experts.{expert}.act_fn", "SiLU", ()
            yield f"{home}.mlp.experts.{expert}.down_proj", "Linear", (64, 32)
            yield f"{home}.mlp.experts.{expert}", "MLP", ()
        yield f"{home}.mlp", "SparseMoeBlock", ()
        yield home, "DecoderLayer", ()
    yield "model.norm", "LlamaRMSNorm", (64,)
    yield "model", "LlamaModel", ()
    yield "lm_head", "Linear", (1000, 64)


def tensor(shape: tuple[int, ...], numbers: Numbers) -> dict[str, Any]:
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": list(shape), **numbers}


def dumped(home: Path, modules: Modules, *, drift_at: str | None = None) -> str:
    """A dump; if ``drift_at`` is given, with statistics, which differ from there on."""
    data: dict[str, Any] = {}
    construct: dict[str, None] = {}
    shift = 0.0
    for place, (path, cls, shape) in enumerate(modules):
        shift += 5.0 if path == drift_at else 0.0
        depth = float(sum(map(ord, path.rpartition(".")[2])) % 7 + path.count(".") + place % 1)
        numbers = {"Max": depth + shift, "Min": -1.0, "Mean": 0.5 + shift, "Norm": 9.0 + depth}
        out = [tensor((2, 64), numbers)] if drift_at is not None else []
        parameters = {"weight": tensor(shape, {})} if shape else {}
        name = f"Module.{path}.{cls}.forward.0"
        data[name] = {"input_args": [], "input_kwargs": {}, "output": out, "parameters": parameters}
        construct[name] = None
    home.mkdir(parents=True)
    head = {"task": "statistics", "level": "L0", "framework": "pytorch"}
    (home / "dump.json").write_text(json.dumps({**head, "data": data}, indent=1))
    (home / "construct.json").write_text(json.dumps(construct, indent=1))
    (home / "stack.json").write_text("{}")
    return str(home)


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dumps of a size that a test can write are thinned too."""
    monkeypatch.setattr(read_thin, "_LEAST", 0)
    monkeypatch.setattr(read_thin, "_FEWEST", 0)


def drafts(npu: str, bench: str, *, both: bool = False, style: str = "yaml") -> tuple[str, bool]:
    """The text of the draft without its confidences, and whether it is one of what stays."""
    found, text = Knowledge(None, ()).drafts(npu, bench, style, comments=True, both=both)
    unsure = re.sub(r"# \d\.\d\d", "#", re.sub(r" +#", " #", text))  # the share of matched neighbours counts in it
    return unsure, all(one.npu.repeats and one.bench.repeats for one in found)


def whole(npu: str, bench: str, monkeypatch: pytest.MonkeyPatch) -> str:
    with monkeypatch.context() as patched:
        patched.setattr(read_thin, "_FEWEST", 1 << 60)
        text, thin_ = drafts(npu, bench)
    assert not thin_
    return text


def test_a_thin_draft_says_what_that_of_the_whole_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npu, bench = dumped(tmp_path / "npu", megatron()), dumped(tmp_path / "gpu", transformers())
    text, is_thin = drafts(npu, bench)
    assert is_thin
    assert text == whole(npu, bench, monkeypatch)
    assert "model.layers.0-23.mlp.experts.0-31.act_fn (768)" in text
    left, right = read_pair(npu, bench, thin=True)
    assert len(left.tree) < 1200 < left.repeats.count(left.tree.paths)
    assert len(right.tree) < 1400 < right.repeats.count(right.tree.paths)


def test_the_numbers_of_everything_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npu = dumped(tmp_path / "npu", megatron(), drift_at="decoder.layers.18.mlp.experts.local_experts.19.linear_fc1")
    bench = dumped(tmp_path / "gpu", transformers(), drift_at="model.layers.18.mlp.experts.19.up_proj")
    same, is_thin = drafts(npu, bench)
    assert is_thin
    assert same == whole(npu, bench, monkeypatch)
    bench = dumped(tmp_path / "other", transformers(), drift_at="")
    text, is_thin = drafts(npu, bench)
    assert is_thin
    assert text == whole(npu, bench, monkeypatch)
    assert "results agree within" in text


def test_experts_that_one_side_groups_are_all_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, sides in (
        ("one", (megatron(grouped=True), transformers())),
        ("two", (transformers(), megatron(grouped=True))),
    ):
        npu, bench = (dumped(tmp_path / name / side, one) for side, one in zip(("npu", "gpu"), sides, strict=True))
        text, is_thin = drafts(npu, bench)
        assert is_thin
        assert text == whole(npu, bench, monkeypatch)
        assert "covers 32 x down_proj" in text


def test_the_reverse_draft_is_thin_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npu, bench = dumped(tmp_path / "npu", megatron()), dumped(tmp_path / "gpu", transformers())
    text, is_thin = drafts(npu, bench, both=True)
    assert is_thin
    assert text == whole(npu, bench, monkeypatch)


def test_rules_that_tell_layers_apart_take_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npu = dumped(tmp_path / "npu", megatron(60, 2))
    bench = dumped(tmp_path / "gpu", transformers(60, 2, first=1))
    assert all(one.repeats for one in read_pair(npu, bench, thin=True))
    text, is_thin = drafts(npu, bench)
    assert not is_thin
    assert text == whole(npu, bench, monkeypatch)
    assert '"decoder.layers.7": "model.layers.8"' in text
    npu = dumped(tmp_path / "measured" / "npu", megatron(60, 2), drift_at="")
    bench = dumped(tmp_path / "measured" / "gpu", transformers(60, 2, first=1), drift_at="")
    assert drafts(npu, bench) == (whole(npu, bench, monkeypatch), False)


def test_formats_that_name_every_module_take_the_whole(tmp_path: Path) -> None:
    npu, bench = dumped(tmp_path / "npu", megatron()), dumped(tmp_path / "gpu", transformers())
    text, is_thin = drafts(npu, bench, style="pairs")
    assert not is_thin
    assert "decoder.layers.9.mlp.experts.local_experts.9.linear_fc2" in text


def test_both_are_read_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npu, bench = dumped(tmp_path / "npu", megatron()), dumped(tmp_path / "gpu", transformers())
    alone = drafts(npu, bench)
    monkeypatch.setattr(side_by_side, "LEAST_FOR_LITTLE", 0)
    monkeypatch.setattr(side_by_side, "cores", lambda: 2)
    monkeypatch.setattr(side_by_side, "_may_fork", lambda: True)
    assert drafts(npu, bench) == alone
    (Path(npu) / "construct.json").write_text('{"Module.a.B.forward.0": 7}')
    with pytest.raises(ReadError, match="neither the name of a parent nor null"):
        read_pair(npu, bench, thin=True)


def test_files_are_thinned_as_directories_are(tmp_path: Path) -> None:
    npu, bench = dumped(tmp_path / "npu" / "step0" / "rank0", megatron()), dumped(tmp_path / "gpu", transformers())
    assert all(one.repeats for one in read_pair(str(tmp_path / "npu"), f"{bench}/dump.json", thin=True))
    assert all(one.repeats for one in read_pair(f"{npu}/dump.json", bench, thin=True))


def renamed(home: str, old: str, new: str) -> None:
    for place in (Path(home) / "dump.json", Path(home) / "construct.json"):
        place.write_text(place.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Module.embedding.VocabParallelEmbedding.forward.0", "Functional.embedding.0.forward"),
        ('"L0"', '"mix"'),
        (".TransformerLayer.", ".ParallelTransformer."),
        ("Module.embedding.", "Module.embed\\nding."),
        ('Linear.forward.0": null', 'Linear.forward.0": "Module.x"'),
    ],
)
def test_what_cannot_be_thinned_is_read_whole(tmp_path: Path, old: str, new: str) -> None:
    npu, bench = dumped(tmp_path / "npu", megatron()), dumped(tmp_path / "gpu", transformers())
    renamed(npu, old, new)
    for sides in ((npu, bench), (bench, npu)):
        thin_, plain = read_pair(*sides, thin=True), read_pair(*sides)
        assert [one.tree for one in thin_] == [one.tree for one in plain]
        assert [one.notes for one in thin_] == [one.notes for one in plain]


def test_several_ranks_other_files_and_structure_are_read_whole(tmp_path: Path) -> None:
    npu, bench = dumped(tmp_path / "npu", megatron()), dumped(tmp_path / "gpu", transformers())
    dumped(tmp_path / "ranks" / "rank0", megatron())
    dumped(tmp_path / "ranks" / "rank1", megatron(layers=5))
    (tmp_path / "npu.json").write_text((Path(npu) / "dump.json").read_text())
    (tmp_path / "lone").mkdir()
    (tmp_path / "lone" / "dump.json").write_text((Path(npu) / "dump.json").read_text())
    (tmp_path / "calls").mkdir()
    (tmp_path / "calls" / "construct.json").write_text((Path(npu) / "construct.json").read_text())
    for other in ("ranks", "npu.json", "lone/dump.json", "calls", "calls/construct.json"):
        assert not any(one.repeats for one in read_pair(str(tmp_path / other), bench, thin=True)), other
    assert read_thin.read_thin(str(tmp_path / "nowhere"), bench) is None
    assert read_thin.read_thin(str(tmp_path), bench) is None


def test_little_that_is_equal_is_not_left_out(tmp_path: Path) -> None:
    npu, bench = dumped(tmp_path / "npu", megatron(5, 2)), dumped(tmp_path / "gpu", transformers(5, 2))
    assert not any(one.repeats for one in read_pair(npu, bench, thin=True))


def test_small_dumps_are_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npu, bench = dumped(tmp_path / "npu", megatron()), dumped(tmp_path / "gpu", transformers())
    monkeypatch.setattr(read_thin, "_LEAST", 1 << 40)
    assert read_thin.read_thin(npu, bench) is None


def test_lists_within_lists_and_items_without_a_call_are_seen() -> None:
    names = [f"Module.{a}.{b}.x.Linear.forward.0" for a in range(9) for b in range(9)]
    found = rows_of(names, {})
    assert found is not None
    assert found.seams == {*range(13), -1, 0, 8, 9}
    assert set(found.top.lists()) == {"Module"}
    assert set(found.top.lists()["Module"][3][0].lists()[""]) == set(range(9))


def test_counterparts_that_mean_nothing_are_no_error() -> None:
    """Rules may tell layers apart; the draft is thrown away then, but only after the results have been compared."""
    repeats = Repeats({"l.2": (7,)})
    assert list(counterparts(["l.2", "l.7", "x"], {"l.2": "m.2.2"}, repeats, NONE)) == ["m.2.2", "m.7.2", None]


def test_a_list_that_is_the_model_itself_stands_for_others_too() -> None:
    repeats = Repeats({"2": (7,), "2.experts.1": (5,)})
    paths = ["2", "7", "7.mlp", "2.experts.5", "7.experts.5"]
    assert list(repeats.standing(paths)) == ["2", "2", "2.mlp", "2.experts.1", "2.experts.1"]
    assert list(counterparts(["7.mlp"], {"2.mlp": "2.ffn"}, repeats, repeats)) == ["7.ffn"]
