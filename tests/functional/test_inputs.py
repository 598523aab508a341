"""Every kind of input in the README, as its example line says it, on what the real frameworks wrote."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from suggest.cli import main
from suggest.read import read

ROOT = Path(__file__).parent.parent.parent
INPUTS = ROOT / "tests" / "data" / "inputs"
SECTION = (ROOT / "README.md").read_text(encoding="utf-8").split("## Inputs")[1].split("## How it decides")[0]
EXAMPLES = re.findall(r"^\| .* \| `(layermap [^`]*)` \|$", SECTION, re.MULTILINE)

# An input, its kind, how many modules it tells, and how many of them with the shapes of parameters.
READ = {
    "ddp": ("msprobe dump", 33, 14),
    "compare.vis": ("msprobe graph", 45, 20),
    "compare.vis.db": ("msprobe graph", 45, 20),
    "compare.vis.db#bench": ("msprobe graph", 48, 15),
    "tiny.print.txt": ("printed model", 46, 30),
    "tiny.torchinfo.txt": ("summary", 46, 0),
    "tiny.keys.txt": ("list of names", 40, 30),
    "tiny.odict.txt": ("list of names", 40, 0),
    "tiny.error.txt#missing": ("error of a state_dict", 40, 1),
    "tiny.error.txt#unexpected": ("error of a state_dict", 42, 1),
    "tiny.safetensors": ("safetensors", 40, 30),
    "sharded": ("index of a checkpoint", 40, 30),
    "pytorch_model.bin.index.json": ("index of a checkpoint", 40, 0),
    "tiny.gguf": ("GGUF", 33, 30),
    "dcp": ("distributed checkpoint", 40, 30),
    "megatron": ("distributed checkpoint", 27, 16),
    "megatron/.metadata": ("distributed checkpoint", 27, 16),
    "tiny.tree.json": ("model tree", 46, 30),
    "meg.print.txt": ("printed model", 58, 21),
    "train.log": ("printed model", 58, 21),
    "mindspore.print.txt": ("printed model", 23, 15),
    "mindspore.old.txt": ("printed model", 23, 15),
    "mindspore.tree.json": ("model tree", 23, 15),
    "mindspore.params.txt": ("list of names", 19, 15),
    "mindspore.params-lines.txt": ("list of names", 19, 15),
    "mindspore.keys.txt": ("list of names", 19, 0),
    "mindspore.safetensors": ("safetensors", 19, 15),
    "mindspore.param_name_map.json": ("index of a checkpoint", 19, 0),
}


def needs(text: str) -> None:
    if "gguf" in text:
        pytest.importorskip("gguf")


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_example_of_every_kind_runs(example: str) -> None:
    needs(example)
    words, _, stdin = example.partition(" < ")
    run = subprocess.run(
        [sys.executable, "-m", "suggest", *shlex.split(words)[1:]],
        input=(ROOT / stdin).read_text() if stdin else None,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    if " suggest " in words:
        assert int(run.stderr.split("matched ")[1].split(" ")[0]) > 10
    else:
        assert "x TransformerLayer" in run.stdout


def test_the_readme_has_an_example_for_every_kind_of_file_here() -> None:
    named = " ".join(EXAMPLES)
    for name in READ:
        stem = name.split("#")[0].split("/")[0]
        if not stem.startswith(("dcp", "mindspore.params-lines", "mindspore.tree", "mindspore.safetensors")):
            assert stem in named, name


def test_the_tree_in_the_readme_is_the_real_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = re.search(r"^    \$ layermap (tree .*)\n((?:    .*\n)+)", SECTION, re.MULTILINE)
    assert shown
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit):
        main(shlex.split(shown[1]))
    assert capsys.readouterr().out == re.sub(r"^    ", "", shown[2], flags=re.MULTILINE)


def test_the_two_lines_in_the_readme_write_an_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (script,) = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
    monkeypatch.chdir(tmp_path)

    class Net:
        def named_modules(self) -> list[tuple[str, object]]:
            return [("", self), ("inner", self)]

    exec(script, {"model": Net()})  # noqa: S102  the documented lines themselves
    assert read("npu.tree.json").tree.paths == ("", "inner")


@pytest.mark.parametrize("name", READ)
def test_what_the_real_framework_wrote_is_read_whole(name: str) -> None:
    needs(name)
    source = read(str(INPUTS / name))
    kind, modules, with_parameters = READ[name]
    assert (source.kind, source.tree.called_count()) == (kind, modules)
    assert sum(bool(params) for params in source.tree.params) == with_parameters


def test_all_kinds_tell_the_same_of_one_model() -> None:
    whole = read(str(INPUTS / "tiny.tree.json")).tree
    params = dict(zip(whole.paths, whole.params, strict=True))
    for name in ("tiny.print.txt", "tiny.keys.txt", "tiny.safetensors", "sharded", "dcp", "tiny.error.txt"):
        tree = read(str(INPUTS / name)).tree
        assert set(tree.paths) <= set(whole.paths)
        for path, known in zip(tree.paths, tree.params, strict=True):
            assert not known or dict(known) == dict(params[path]), (name, path)


def test_both_forms_of_mindspore_and_the_live_cell_are_one_tree() -> None:
    new, old, live = (read(str(INPUTS / f"mindspore.{form}")).tree for form in ("print.txt", "old.txt", "tree.json"))
    assert new == old
    assert (new.paths, new.classes, new.called) == (live.paths, live.classes, live.called)
    assert [dict(params) for params in new.params] == [dict(params) for params in live.params]


def test_megatron_checkpoints_have_their_stacked_layers_written_out() -> None:
    source = read(str(INPUTS / "megatron"))
    printed = read(str(INPUTS / "meg.print.txt")).tree
    assert "3 layers stacked in decoder.layers are written out" in source.notes
    assert source.tree.params[source.tree.paths.index("decoder.layers.2.mlp.linear_fc1")][-2:] == (
        ("weight", (16, 8)),
        ("bias", (16,)),
    )
    assert set(source.tree.paths) <= set(printed.paths)


def test_an_index_takes_shapes_from_the_shards_that_are_there(tmp_path: Path) -> None:
    for name in ("model.safetensors.index.json", "model-00001-of-00002.safetensors"):
        (tmp_path / name).write_bytes((INPUTS / "sharded" / name).read_bytes())
    tree = read(str(tmp_path)).tree
    with_shapes = sum(bool(params) for params in tree.params)
    assert (tree.called_count(), 0 < with_shapes < 30) == (40, True)


def test_safetensors_without_an_index_are_read_together(tmp_path: Path) -> None:
    for place in (INPUTS / "sharded").glob("*.safetensors"):
        (tmp_path / place.name).write_bytes(place.read_bytes())
    assert set(read(str(tmp_path)).tree.paths) == set(read(str(INPUTS / "sharded")).tree.paths)


def test_a_zarr_checkpoint_is_read(tmp_path: Path) -> None:
    arrays = {"decoder.layers.mlp.linear_fc1.weight": [3, 16, 8], "embedding.word_embeddings.weight": [32, 8]}
    for name, shape in (arrays | {"optimizer.state.exp_avg.output_layer.weight": [9]}).items():
        (tmp_path / name).mkdir()
        (tmp_path / name / ".zarray").write_text(json.dumps({"shape": shape, "zarr_format": 2}))
    source = read(str(tmp_path))
    assert source.tree.paths[-1] == "embedding.word_embeddings"
    assert source.tree.params[source.tree.paths.index("decoder.layers.2.mlp.linear_fc1")] == (("weight", (16, 8)),)
    assert source.notes[0] == "1 entries of optimizers and random generators are left out"


def test_tree_as_json_is_an_input_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("tiny.print.txt", "mindspore.old.txt", "tiny.safetensors", "compare.vis.db"):
        with pytest.raises(SystemExit):
            main(["tree", "--format", "json", str(INPUTS / name)])
        (tmp_path / "again.json").write_text(capsys.readouterr().out)
        assert read(str(tmp_path / "again.json")).tree == read(str(INPUTS / name)).tree
