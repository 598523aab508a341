"""Inputs that tell names only, and everything else that is no dump: what is read, and what is refused."""

from __future__ import annotations

import io
import json
import os
import pickle
import sqlite3
import struct
import threading
from pathlib import Path

import pytest

from suggest.errors import ReadError
from suggest.read import read, read_pair, read_plain
from suggest.read_keys import read_keys

INPUTS = Path(__file__).parent.parent.parent / "data" / "inputs"


def written(place: Path, content: str | bytes) -> str:
    if isinstance(content, bytes):
        place.write_bytes(content)
    else:
        place.write_text(content, encoding="utf-8")
    return str(place)


@pytest.mark.parametrize(
    ("text", "paths", "params"),
    [
        ("a.b.weight\na.b.bias\n", ("", "a", "a.b"), ()),
        ("# comment\na.b.weight (3, 4) torch.float32\n", ("", "a", "a.b"), (("weight", (3, 4)),)),
        ("a.b.weight torch.float32 torch.Size([3])\n", ("", "a", "a.b"), (("weight", (3,)),)),
        ("a.b.weight | [3, 4] | F32\n", ("", "a", "a.b"), (("weight", (3, 4)),)),
        ("a.b.weight: (3, 4),\n", ("", "a", "a.b"), (("weight", (3, 4)),)),
        ("dict_keys(['a.b.weight', 'a.b.bias'])\n", ("", "a", "a.b"), ()),
        ("['a.b.weight',\n 'a.b.bias']\n", ("", "a", "a.b"), ()),
        ("{'a.b.weight': torch.Size([3, 4])}\n", ("", "a", "a.b"), (("weight", (3, 4)),)),
        ("defaultdict(<class 'int'>, {'a': 4, 'a.b': 4, 'a.b.weight': 4})\n", ("", "a", "a.b"), ()),
        ("Parameter (name=a.b.gamma, shape=(3,), dtype=Float32)\n", ("", "a", "a.b"), (("gamma", (3,)),)),
        ("module\nmodule.a\nmodule.a.b\n", ("", "module", "module.a", "module.a.b"), ()),
        ("module.attn\nmodule.mlp\nmodule.norm\n", ("", "module", "module.attn", "module.mlp", "module.norm"), ()),
    ],
)  # fmt: skip
def test_lists_of_names_of_any_make(text: str, paths: tuple[str, ...], params: object, tmp_path: Path) -> None:
    tree = read(written(tmp_path / "names", text)).tree
    assert tree.paths == paths
    assert tree.params[-1] == params


@pytest.mark.parametrize(
    ("data", "kind", "paths"),
    [
        (["a.b.weight", "a.b.bias"], "list of names", ("", "a", "a.b")),
        ({"a.b.weight": [3, 4]}, "list of shapes", ("", "a", "a.b")),
        ({"a.b.weight": {"dtype": "F32", "shape": [3]}}, "list of shapes", ("", "a", "a.b")),
        ({"": 0, "model.embed": 0, "model.layers.0": "cpu"}, "device map", ("", "model", "model.embed", "model.layers",
                                                                            "model.layers.0")),
        ({"a.b.weight": "pytorch_model.bin"}, "index of a checkpoint", ("", "a", "a.b")),
        ([{"path": "", "class": "A"}, {"path": "b", "class": "B", "params": {"w": [1]}}], "list of modules", ("", "b")),
        ({"node": {"Module.a.A.forward.0": {"upnode": "DefaultModel"}}}, "msprobe graph", ("", "a")),
    ],
)  # fmt: skip
def test_json_of_any_make(data: object, kind: str, paths: tuple[str, ...], tmp_path: Path) -> None:
    source = read(written(tmp_path / "x.json", json.dumps(data)))
    assert (source.kind, source.tree.paths) == (kind, paths)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([1, 2], "no module found in the text: a JSON list that holds no names"),
        ({"weight_map": {"a.b": 3}}, "weight_map: is no map from names to files"),
        ({"NPU": {"root": "x"}, "Bench": {"node": {}}}, "no graph of the NPU side in this drawing"),
        ({"a.b": {"c": 1}}, "JSON of an unknown kind"),
    ],
)
def test_json_of_no_known_make(data: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=message):
        read(written(tmp_path / "x.json", json.dumps(data)))


def test_a_drawing_of_one_graph_serves_the_bench_side_with_a_note(tmp_path: Path) -> None:
    data = {"NPU": {"node": {"Module.a.A.forward.0": {"upnode": "None"}, "Torch.add.0.forward": {}, "Other.1": 3}}}
    source = read(written(tmp_path / "x.vis", json.dumps(data)), "bench")
    assert source.notes == ("the drawing has one graph only, which is read for the bench side",)


def database(place: Path, *rows: tuple[object, ...]) -> str:
    with sqlite3.connect(place) as opened:
        opened.execute(
            "create table tb_nodes (node_order, node_name, up_node, input_data, output_data, data_source, step, rank)"
        )
        opened.executemany("insert into tb_nodes values (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    opened.close()
    return str(place)


def test_ranks_of_a_database_are_merged(tmp_path: Path) -> None:
    rows = [
        (0, f"Module.{name}.forward.0", None, "{}", "", "NPU", 0, rank)
        for rank, name in enumerate(("a.A", "b.B", "b.B"))
    ]
    source = read(database(tmp_path / "x.db", *rows))
    assert source.tree.paths == ("", "a", "b")
    assert source.notes == ("merged 3 ranks and steps of the NPU side",)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (None, "the result of msprobe holds no node"),
        (
            (0, "Module.a.A.forward.0", None, "{", "", "NPU", 0, 0),
            "Module.a.A.forward.0: the data of this node is no JSON",
        ),
    ],
)
def test_a_database_that_cannot_be_read(row: tuple[object, ...] | None, message: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=message):
        read(database(tmp_path / "x.db", *([row] if row else [])))


def test_another_database_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "x.db") as opened:
        opened.execute("create table other (x)")
    opened.close()
    with pytest.raises(ReadError, match=r"no such table: tb_nodes"):
        read(str(tmp_path / "x.db"))


def test_states_of_an_optimizer_in_a_checkpoint_are_left_out_with_a_note() -> None:
    text = "a.weight (2,)\nadam_m.a.weight (2,)\nadam_v.a.weight (2,)\n"
    source = read_keys(text.replace("a.weight", "Parameter (name=a.weight, shape=(2,))").replace(" (2,)\n", "\n"), "k")
    assert source.tree.paths == ("", "a")
    listed = [f"Parameter (name={name}, shape=(2,), dtype=F)" for name in ("a.weight", "adam_m.a.weight")]
    source = read_keys(listed, "k")
    assert (source.tree.paths, source.notes) == (
        ("", "a"),
        ("1 states of an optimizer are left out, first adam_m.a.weight",),
    )


def test_sorted_names_have_their_layers_in_order_again() -> None:
    tree = read_keys(sorted(f"layers.{layer}.weight" for layer in range(12)), "k").tree
    assert tree.names[2:] == tuple(map(str, range(12)))


def test_a_list_without_names_at_all_is_an_error() -> None:
    with pytest.raises(ReadError, match=r"^k:1: brackets or quotes are not closed"):
        read_keys("['a.weight', 'b.we", "k")


ERROR = (
    "RuntimeError: Error(s) in loading state_dict for Net:\n"
    '\tMissing key(s) in state_dict: "a.weight", "a.bias",\n\t"b.weight". \n'
    '\tUnexpected key(s) in state_dict: "c.weight". \n'
    "\tsize mismatch for d.weight: copying a param with shape torch.Size([2, 3]) from checkpoint, the shape in current"
    " model is torch.Size([4, 3]).\n"
)


def test_both_sides_are_read_off_one_error_even_if_its_lines_are_wrapped(tmp_path: Path) -> None:
    place = written(tmp_path / "error.txt", ERROR)
    model, checkpoint = read(place), read(place, "bench")
    assert (model.label, model.tree.paths) == (f"{place}#missing", ("", "a", "b", "d"))
    assert (checkpoint.label, checkpoint.tree.paths) == (f"{place}#unexpected", ("", "c", "d"))
    assert model.tree.params[-1] == (("weight", (4, 3)),)
    assert checkpoint.tree.params[-1] == (("weight", (2, 3)),)
    assert read(f"{place}#unexpected").tree == checkpoint.tree


@pytest.mark.parametrize(
    ("text", "side", "message"),
    [
        (ERROR.split("\tUnexpected", maxsplit=1)[0], "bench", "the error names no unexpected key"),
        (ERROR.replace("b.weight", "..."), "npu", r":3: the list of names is cut off"),
        (ERROR.replace('"c.weight"', '"c.weight", "d.w'), "npu", r":4: the list of names is cut off after c.weight"),
        (ERROR.replace("in current model", "in"), "npu", r":5: 'size mismatch for d.weight: .* is cut off"),
        ('"a.x", "b.y", "c.z"\n' + ERROR, "npu", r":1: .* are names of which nobody says whose"),
    ],
)
def test_an_error_that_is_not_whole(text: str, side: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=message):
        read(written(tmp_path / "error.txt", text), side)


def test_both_sides_of_an_error_come_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(ERROR.encode())))
    here, there = read_pair("-", "-")
    assert (here.label, there.label) == ("standard input#missing", "standard input#unexpected")


@pytest.mark.parametrize("stamp", ["[2024-05-06 10:11:12] ", "[rank0]: ", "{rank 0} "])
def test_a_log_that_begins_with_a_bracket_is_no_json(stamp: str, tmp_path: Path) -> None:
    text = f"{stamp}hello\n{stamp}Net(\n{stamp}  (x): Linear()\n{stamp})\n"
    assert read(written(tmp_path / "log", text)).tree.paths == ("", "x")


def test_a_list_of_names_with_a_damaged_line_is_told_its_line(tmp_path: Path) -> None:
    text = "Keys of the model:\n" + "".join(f"layers.{layer}.weight\n" for layer in range(9))
    with pytest.raises(ReadError, match=r"keys:1: 'Keys of the model:' is no name in a list of names"):
        read(written(tmp_path / "keys", text))


def test_a_part_that_an_error_does_not_have(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"no part #zork in an error of a state_dict"):
        read(written(tmp_path / "e.txt", ERROR) + "#zork")


def test_a_log_with_a_model_and_an_error_is_read_for_the_model_unless_asked(tmp_path: Path) -> None:
    place = written(tmp_path / "log", "Net(\n  (x): Linear()\n)\n" + ERROR)
    assert read(place).kind == "printed model"
    assert read(place + "#unexpected").kind == "error of a state_dict"


def test_two_lists_are_held_against_each_other_by_parameter_and_others_by_module(tmp_path: Path) -> None:
    names = written(tmp_path / "keys", "a.weight (2,)\n")
    assert read_pair(names, names)[0].tree.paths == ("", "a", "a.weight")
    assert read_pair(names, str(INPUTS / "tiny.print.txt"))[0].tree.paths == ("", "a")
    assert read_pair(names, names)[0].tree.params[2] == (("weight", (2,)),)
    bare = written(tmp_path / "bare", "a.weight\n")
    assert read_pair(names, bare)[0].tree.params[2] == ()


def header(data: object) -> bytes:
    raw = json.dumps(data).encode()
    return struct.pack("<Q", len(raw)) + raw


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header({"__metadata__": {}}), "this safetensors file lists no tensor"),
        (header({"a.w": {"dtype": "F32"}}), "a.w: has no shape in the header"),
        (struct.pack("<Q", 9) + b"{damaged}", "the header of this safetensors file is damaged"),
        (struct.pack("<Q", 99) + b"{", "neither text nor JSON"),
        (struct.pack("<Q", 99) + b"{}", "cut off within its header, after 10 of 107 bytes"),
    ],
)
def test_a_damaged_header_of_safetensors(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=message):
        read(written(tmp_path / "m.safetensors", content))


def test_names_of_shards_that_the_index_lacks_are_noted(tmp_path: Path) -> None:
    written(tmp_path / "s.safetensors", header({"a.w": {"shape": [2]}, "b.w": {"shape": [2]}}))
    place = written(tmp_path / "m.index.json", json.dumps({"weight_map": {"a.w": "s.safetensors"}}))
    assert read(place).notes == ("1 names of the shards are not in the index, first b.w",)


def test_gguf_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "gguf", None)
    with pytest.raises(ReadError, match=r"reading GGUF needs the gguf package; pip install 'layermap\[gguf\]'"):
        read(str(INPUTS / "tiny.gguf"))


class Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return (print, ("executed",))


class Metadata:
    """Pickled under the name of torch's."""


def metadata(entries: object, monkeypatch: pytest.MonkeyPatch) -> bytes:
    stand_in = type("Metadata", (), {"__module__": "torch.distributed.checkpoint.metadata"})
    module = type(pickle)("torch.distributed.checkpoint.metadata")
    module.Metadata = stand_in  # type: ignore[attr-defined]
    for name in ("torch", "torch.distributed", "torch.distributed.checkpoint"):
        monkeypatch.setitem(__import__("sys").modules, name, type(pickle)(name))
    monkeypatch.setitem(__import__("sys").modules, module.__name__, module)
    instance = stand_in()
    instance.state_dict_metadata = entries
    return pickle.dumps(instance)


def test_nothing_in_the_metadata_of_a_checkpoint_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = written(tmp_path / ".metadata", metadata({"a": Evil()}, monkeypatch))
    with pytest.raises(ReadError, match=r"builtins\.print has no place in such a file"):
        read(place)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (None, "no metadata of a checkpoint"),
        ({}, "lists no parameter of a model"),
        ({"optimizer.state.x": 1}, "lists no parameter of a model"),
    ],
)
def test_metadata_that_lists_no_model(
    entries: object, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ReadError, match=message):
        read(written(tmp_path / ".metadata", metadata(entries, monkeypatch)))


def test_a_damaged_array_of_zarr_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.weight").mkdir()
    written(tmp_path / "a.weight" / ".zarray", '{"shape": 3}')
    with pytest.raises(ReadError, match=r"tells no shape"):
        read(str(tmp_path))


def test_directories(tmp_path: Path) -> None:
    for name in ("iter_1", "iter_2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".metadata").write_bytes((INPUTS / "dcp" / ".metadata").read_bytes())
    with pytest.raises(ReadError, match=r"holds 2 checkpoints: iter_1, iter_2; give the directory of one of them"):
        read(str(tmp_path))
    (tmp_path / "iter_1" / ".metadata").unlink()
    assert read(str(tmp_path)).tree.called_count() == 40
    for name in ("a.index.json", "b.index.json"):
        written(tmp_path / name, "{}")
    with pytest.raises(ReadError, match=r"holds 2 files of one kind: a.index.json, b.index.json; give one of them"):
        read(str(tmp_path))


def test_a_part_is_no_part_where_a_file_has_that_name(tmp_path: Path) -> None:
    place = written(tmp_path / "model#2.txt", "A(\n  (x): B()\n)\n")
    assert read(place).tree.paths == ("", "x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Net (Net)   1\n├─Linear: 1-1  3\n", r":4: the summary shows no name for this Linear"),
        ("Net (Net)   1\n│    └─Linear (a): 2-1  3\n", r":4: a row of depth 2 follows one of depth 0"),
        ("Net (Net)   1\n├─Linear (a): 1-1  3\n", "the summary is cut off"),
        ("Net (Net)   1\nwhat is this\n", "'what is this' is no row of a summary"),
        ("Net (Net)   1\nTotal params: 3\n", "the summary shows no module"),
    ],
)
def test_a_summary_that_cannot_be_read(text: str, message: str, tmp_path: Path) -> None:
    head = "=====\nLayer (type (var_name):depth-idx)   Param #\n"
    with pytest.raises(ReadError, match=message):
        read(written(tmp_path / "summary.txt", head + text))


def test_text_in_utf_16_is_read_as_powershell_writes_it(tmp_path: Path) -> None:
    place = written(tmp_path / "log.txt", (INPUTS / "tiny.print.txt").read_text().encode("utf-16"))
    assert read(place).tree == read(str(INPUTS / "tiny.print.txt")).tree
    place = written(tmp_path / "dump.json", json.dumps({"data": {"Module.a.A.forward.0": {}}}).encode("utf-16"))
    assert read(place).tree.paths == ("", "a")


def test_binary_input_says_what_it_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ReadError, match=r"a pickle or an archive as torch.save writes it"):
        read(written(tmp_path / "m.pt", b"PK\x03\x04" + b"\x00" * 99))
    with pytest.raises(ReadError, match=r"neither text nor JSON"):
        read_plain(written(tmp_path / "m.bin", b"\x00" * 99))
    content = (INPUTS / "compare.vis.db").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    with pytest.raises(ReadError, match=r"cannot be read from standard input or a pipe; give its path"):
        read("-")


def test_blank_lines_alone_are_no_input(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"the input is empty"):
        read(written(tmp_path / "blank", " \n" * 5000))


def test_a_pipe_is_read_once_and_kept(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    content = (INPUTS / "tiny.print.txt").read_bytes()
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,))
    writer.start()
    assert read(str(tmp_path / "pipe")).tree.called_count() == 46
    writer.join()


@pytest.mark.parametrize("path", ["a" * 5000, "a" * 5000 + "#2", "a\0b"])
def test_what_can_be_no_path_is_an_error(path: str) -> None:
    with pytest.raises(ReadError, match=r"^a.{0,300}; check the path$"):
        read(path)


def test_a_file_that_may_not_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ReadError, match=r"Permission denied; check the path"):
        read(str(tmp_path / "x"))
