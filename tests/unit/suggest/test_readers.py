"""Readers on real and on odd input."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from benchmarks.corpus import PAIRS
from suggest.entries import entries_of, module_entries
from suggest.errors import LayermapError, ReadError
from suggest.parameters import by_parameter
from suggest.read import read
from suggest.read_keys import read_keys
from suggest.read_text import CONTAINERS, read_text
from suggest.shapes import params_of

HIDDEN = {"timm-convnext-hf/left", "timm-resnet50-hf/left"}  # a class whose repr hides its children


@pytest.mark.parametrize("folder", sorted(PAIRS.iterdir()), ids=lambda folder: folder.name)
def test_printed_models_are_read_module_by_module(folder: Path) -> None:
    for side in ("left", "right"):
        if f"{folder.name}/{side}" in HIDDEN:
            continue
        modules = json.loads((folder / f"{side}.modules.json").read_text())
        tree = read_text((folder / f"{side}.txt").read_text(), side).tree
        assert list(zip(tree.paths, tree.classes, strict=True)) == [(m["path"], m["class"]) for m in modules]
        known = {m["path"]: {name: tuple(shape) for name, shape in (m.get("params") or {}).items()} for m in modules}
        for path, params in zip(tree.paths, tree.params, strict=True):
            for name, shape in params:
                assert known[path].get(name, shape) == shape, path


@pytest.mark.parametrize(
    ("cls", "text", "params"),
    [
        ("Linear", "in_features=8, out_features=4, bias=True", {"weight": (4, 8), "bias": (4,)}),
        ("RowParallelLinear", "in_features=8, out_features=4, bias=False, TP=1", {"weight": (4, 8)}),
        ("Conv2d", "3, 8, kernel_size=(2, 3), stride=(1, 1), groups=1", {"weight": (8, 3, 2, 3), "bias": (8,)}),
        ("ConvTranspose2d", "3, 8, kernel_size=(2, 2), bias=False", {"weight": (3, 8, 2, 2)}),
        ("Conv2d", "input_channels=3, output_channels=8, kernel_size=(1, 1), has_bias=False", {"weight": (8, 3, 1, 1)}),
        ("Conv2d", "3", {}),
        ("Conv1D", "nf=8, nx=4", {"weight": (4, 8), "bias": (8,)}),
        ("Embedding", "10, 4, padding_idx=0", {"weight": (10, 4)}),
        ("LayerNorm", "(8,), eps=1e-05, elementwise_affine=True", {"weight": (8,), "bias": (8,)}),
        ("LayerNorm", "(8,), elementwise_affine=False", {}),
        ("GroupNorm", "4, 8, eps=1e-05, affine=True", {"weight": (8,), "bias": (8,)}),
        ("Qwen2RMSNorm", "(8,), eps=1e-06", {"weight": (8,)}),
        ("Qwen2RMSNorm", "(0,), eps=1e-06", {}),
        ("RMSNorm", "eps", {}),
        ("GELU", "approximate='none'", {}),
        ("SelectAdaptivePool2d", "pool_type=avg, flatten=Flatten(start_dim=1, end_dim=-1)", {}),
        ("Thing", "(((", {}),
    ],
)
def test_shapes_are_read_off_a_repr(cls: str, text: str, params: dict[str, tuple[int, ...]]) -> None:
    assert dict(params_of(cls, text)) == params


def test_a_list_of_models_numbers_its_elements_and_calls_none_of_them() -> None:
    tree = read_text("[A(\n  (x): B()\n), A(\n  (x): B()\n)]\n", "t").tree
    assert tree.paths == ("", "0", "0.x", "1", "1.x")
    assert tree.called == (False, False, True, False, True)


def test_extra_lines_of_a_repr_belong_to_the_module() -> None:
    tree = read_text("A(\n  (x): B(\n    1, 2,\n    (y): C()\n  )\n)\n", "t").tree
    assert tree.paths == ("", "x", "x.y")


def test_one_line_models_are_models() -> None:
    assert read_text("Linear(in_features=2, out_features=3, bias=False)", "t").tree.params == ((("weight", (3, 2)),),)


@pytest.mark.parametrize("text", ["A(\n  (x): B(\n  )\n)\n)\n", "A(\n  (0-2): 2 x B()\n)\n"])
def test_odd_text_is_an_error_with_its_line(text: str) -> None:
    with pytest.raises(ReadError, match=r"^t:[0-9]+: "):
        read_text(text, "t")


def test_lists_are_containers() -> None:
    assert "ModuleList" in CONTAINERS


@pytest.mark.parametrize(
    ("name", "modules", "entries"),
    [
        ("by_version/1.3.0/left", 45, 433),
        ("by_version/8.3.3/right", 48, None),
        ("structure", 45, 312),
        ("mindspore_gpt", 31, 206),
        ("megatron_microstep", 33, None),
        ("gpt__legacy_core/left", 45, 258),
        ("gpt__legacy_core/left/step0", 45, 258),
        ("gpt__legacy_core/left/step0/rank0", 45, 258),
        ("gpt__legacy_core/left/step0/rank0/dump.json", 45, 258),
        ("gpt__legacy_core/left/step0/rank0/construct.json", 45, 258),
    ],
)
def test_dumps_of_every_version_are_read(data: Path, name: str, modules: int, entries: int | None) -> None:
    source = read(str(data / "dumps" / name))
    assert source.kind == "msprobe dump"
    assert source.tree.called_count() == modules
    assert entries is None or len(source.entries) == entries


def test_a_structure_dump_says_that_msprobe_applies_no_mapping(data: Path) -> None:
    assert "msprobe applies no mapping" in read(str(data / "dumps" / "structure")).notes[0]


def test_a_dump_without_its_siblings_says_what_msprobe_does(data: Path, tmp_path: Path) -> None:
    dump = data / "dumps" / "gpt__legacy_core" / "left" / "step0" / "rank0" / "dump.json"
    (tmp_path / "dump.json").write_text(dump.read_text())
    source = read(str(tmp_path))
    assert source.notes == ("construct.json is missing beside dump.json: msprobe applies no mapping to this dump",)
    assert len(source.entries) < 258  # APIs have no place without construct.json


def test_several_ranks_are_noted(data: Path, tmp_path: Path) -> None:
    dump = data / "dumps" / "gpt__legacy_core" / "left" / "step0" / "rank0" / "dump.json"
    for rank in ("rank0", "rank10", "rank2"):
        (tmp_path / "step0" / rank).mkdir(parents=True)
        (tmp_path / "step0" / rank / "dump.json").write_text(dump.read_text())
    same = "; 2 recorded the same calls and are read once"
    assert read(str(tmp_path)).notes[0] == f"read step0/rank0 of 3 dumps below {tmp_path.name}{same}"


def test_a_name_too_short_for_msprobe_is_noted(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text(
        '{"data": {"a.b": {}, "Module.x.A.forward.0": {"parameters": {"w": [{"shape": [2]}]}}}}'
    )
    source = read(str(tmp_path / "d.json"))
    assert "'a.b' has too few parts" in source.notes[0]
    assert source.tree.params[1] == (("w", (2,)),)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("dump.json", '{"data": [1]}', "JSON of an unknown kind"),
        ("dump.json", '{"task": "x", "data": {"Torch.add.0.forward": {}}}', "no module among the recorded entries"),
        ("construct.json", '{"Module.x.A.forward.0": [1, 2, 3]}', "forward.0: neither the name of a parent nor null"),
        ("x.json", "{" * 9, "not valid JSON"),
        ("x.json", '{"a": ' * 20000, "nested too deeply|not valid JSON"),
    ],
)
def test_damaged_json_is_an_error(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(LayermapError, match=message):
        read(str(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "content"), [("construct.json", "{"), ("stack.json", "[]"), ("construct.json", "\x00\xff")]
)
def test_a_damaged_sibling_is_named(tmp_path: Path, data: Path, name: str, content: str) -> None:
    dump = data / "dumps" / "gpt__legacy_core" / "left" / "step0" / "rank0" / "dump.json"
    (tmp_path / "dump.json").write_text(dump.read_text())
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    with pytest.raises(ReadError, match=name):
        read(str(tmp_path))


def test_a_directory_where_a_file_is_wanted_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "dump.json").mkdir()
    with pytest.raises(ReadError, match=r"no dump\.json"):
        read(str(tmp_path))


def test_keys_with_shapes_and_without() -> None:
    source = read_keys('a.b.weight torch.Size([3, 4])\n"c.weight",\n\nc.bias: (5,)\n', "k")
    assert source.tree.paths == ("", "a", "a.b", "c")
    assert source.tree.params[2:] == ((("weight", (3, 4)),), (("bias", (5,)),))
    assert source.tree.called == (False, True, True, True)
    single = by_parameter(source)
    assert single.tree.paths == ("", "a", "a.b", "a.b.weight", "c", "c.weight", "c.bias")
    assert single.tree.params[3] == (("weight", (3, 4)),)
    assert [entry.name for entry in single.entries] == ["a", "a.b", "a.b.weight", "c", "c.weight", "c.bias"]


def test_a_line_that_is_no_key_is_an_error() -> None:
    with pytest.raises(ReadError, match=r"^k:2: 'not a key' is no name"):
        read_keys("a.b\nnot a key\n", "k")


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, examples: Path) -> None:
    content = (examples / "gpu.json").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    source = read("-")
    assert (source.label, source.tree.called_count()) == ("standard input", 48)


def test_gradients_take_the_scope_that_msprobe_gives_them() -> None:
    names = ["Module.a.b.Linear.parameters_grad", "Module.a.b.Linear.parameters_grad.0", "Module.a.b.Linear.backward.0"]
    entries, bad = entries_of([*names, "Module.a.b.Linear.forward.0"], {}, {}, "pytorch")
    assert [(".".join(entry.scope), entry.type, entry.state) for entry in entries] == [
        ("a.b", "Linear", "parameters_grad"),
        ("a.b.b", "Linear", "parameters_grad"),
        ("a.b", "Linear", "backward"),
        ("a.b", "Linear", "forward"),
    ]
    assert bad == ()


def test_an_old_stack_puts_a_frame_function_between_module_and_api() -> None:
    line = "File /usr/site-packages/torch/nn/functional.py, line 9, in multi_head_attention_forward, \n x"
    own = "File /net/model.py, line 3, in forward, \n y"
    construct = {"Torch.bmm.0.forward": "Module.a.Attention.forward.0"}
    for lines, scope in (
        ([line, own], ("a", "multi_head_attention_forward", "bmm")),
        ([own], ("a", "bmm")),
        ([], ("a", "bmm")),
    ):
        entries, _ = entries_of(construct, construct, {"Torch.bmm.0.forward": lines}, "pytorch")
        assert entries[0].scope == scope


def test_frames_outside_the_marks_and_msprobes_own_are_skipped() -> None:
    construct = {"Torch.bmm.0.forward": "Module.a.Attention.forward.0"}
    lines = [
        "File /x/Template.py, line 1, in Template, \n t",
        "File /usr/site-packages/torch/msprobe/x.py, line 9, in hook, \n x",
        "File /net/m.py, line 3, in forward, \n y",
    ]
    entries, _ = entries_of(construct, construct, {"Torch.bmm.0.forward": lines}, "pytorch")
    assert entries[0].scope == ("a", "bmm")
    called = ["File /usr/site-packages/torch/x.py, line 9, in __call__, \n x"]
    entries, _ = entries_of(construct, construct, {"Torch.bmm.0.forward": called}, "pytorch")
    assert entries[0].scope == ("a", "bmm")


def test_layers_of_a_parallel_transformer_are_counted_from_the_least() -> None:
    entries = module_entries([("enc", "ParallelTransformer"), ("enc.layers.8", "L"), ("enc.layers.layer_9.x", "X")])
    assert [".".join(entry.scope) for entry in entries] == ["enc", "enc.layers.0", "enc.layers.1.x"]
    odd = module_entries([("enc", "ParallelTransformer"), ("enc.layers.final", "L")])
    assert odd[1].scope == ("enc", "layers", "nan")
