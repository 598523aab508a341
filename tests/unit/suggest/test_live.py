"""Live models by duck typing, the file they are written to, and the command that shows what was read."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import suggest
from suggest.cli import main
from suggest.errors import LayermapError, ReadError
from suggest.read import read

INPUTS = Path(__file__).parent.parent.parent / "data" / "inputs"


class Tensor:
    def __init__(self, *shape: int) -> None:
        self.shape = shape


class Module:
    """Lists its modules as torch.nn.Module does, each under its first name only."""

    def __init__(self, params: dict[str, Tensor | None] | None = None, **children: Module) -> None:
        self._parameters = params or {}
        self.children = children

    def _forward_unimplemented(self) -> None: ...

    forward = _forward_unimplemented

    def named_modules(self, memo: set[int] | None = None, prefix: str = "") -> Iterator[tuple[str, Module]]:
        memo = set() if memo is None else memo
        if id(self) not in memo:
            memo.add(id(self))
            yield prefix, self
            for name, child in self.children.items():
                yield from child.named_modules(memo, f"{prefix}.{name}" if prefix else name)


class Linear(Module):
    def forward(self) -> None: ...


class ModuleList(Module):
    __module__ = "torch.nn.modules.container"


class Pipeline(ModuleList):
    """A list that somebody gave a forward."""

    __module__ = "net"

    def forward(self) -> None: ...


class Net(Linear): ...


class Cell:
    """Lists its cells as mindspore.nn.Cell does."""

    def __init__(self, **params: Tensor) -> None:
        self._params = params
        self.inner = [("", self)]

    def construct(self) -> None: ...

    def cells_and_names(self) -> Iterator[tuple[str, Cell]]:
        return iter(self.inner)


def linear(*shape: int) -> Linear:
    return Linear({"weight": Tensor(*shape), "bias": None})


def net() -> Net:
    shared = linear(2, 2)
    layers = ModuleList(None, **{"0": linear(3, 4), "1": linear(4, 3)})
    return Net(emb=shared, tied=shared, layers=layers, pipe=Pipeline(a=linear(1, 1)), bare=Module())


def test_a_module_is_read_with_shapes_classes_and_what_can_run() -> None:
    tree = suggest.tree_of(net()).tree
    assert tree.paths == ("", "emb", "layers", "layers.0", "layers.1", "pipe", "pipe.a", "bare")
    assert tree.classes[:3] == ("Net", "Linear", "ModuleList")
    assert tree.params[3] == (("weight", (3, 4)),)
    assert tree.called == (False, True, False, True, True, True, True, False)


def test_partitioned_and_lazy_parameters() -> None:
    class Lazy:
        @property
        def shape(self) -> tuple[int, ...]:
            raise RuntimeError("not yet")

    partitioned = Tensor(0)
    partitioned.ds_shape = (3, 4)  # type: ignore[attr-defined]
    model = Linear({"weight": partitioned, "bias": Lazy()})  # type: ignore[dict-item]
    assert suggest.tree_of(model).tree.params[0] == (("weight", (3, 4)),)


def test_a_cell_is_read_as_mindspore() -> None:
    cell = Cell()
    cell.inner.append(("dense", Cell(weight=Tensor(2, 3))))
    source = suggest.tree_of(cell)
    assert source.entries[0].name == "Cell.dense.Cell.forward.0"
    assert source.tree.params[1] == (("weight", (2, 3)),)


def test_a_list_of_models_is_numbered_and_its_elements_are_never_called() -> None:
    tree = suggest.tree_of([net(), net()]).tree
    assert tree.paths[:3] == ("", "0", "0.emb")
    assert not tree.called[1]
    assert tree.paths[-1] == "1.bare"


@pytest.mark.parametrize("thing", [{}, [], [3], "model", None])
def test_what_is_no_model_is_an_error(thing: object) -> None:
    with pytest.raises(LayermapError, match=r"neither a torch\.nn\.Module nor a mindspore\.nn\.Cell"):
        suggest.tree_of(thing)


def test_a_written_tree_is_the_live_one(tmp_path: Path) -> None:
    place = tmp_path / "net.tree.json"
    suggest.dump_tree(net(), place)
    assert read(str(place)).tree == suggest.tree_of(net()).tree
    assert json.loads(place.read_text())["version"] == 1
    assert stat.S_IMODE(place.stat().st_mode) == 0o644
    assert list(tmp_path.iterdir()) == [place]


def test_a_tree_that_cannot_be_written_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(LayermapError, match="No such file or directory"):
        suggest.dump_tree(net(), tmp_path / "no" / "net.json")
    (tmp_path / "dir").mkdir()
    with pytest.raises(LayermapError, match="Is a directory"):
        suggest.dump_tree(net(), tmp_path / "dir")
    assert [path.name for path in tmp_path.iterdir()] == ["dir"]


def test_neither_framework_is_imported() -> None:
    code = "import sys, suggest; suggest.dump_tree; print([m for m in ('torch', 'mindspore') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_real_torch_is_read_as_its_print_and_its_names() -> None:
    torch = pytest.importorskip("torch")
    layer = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 4))
    model = torch.nn.ModuleDict({"layers": torch.nn.ModuleList([layer]), "norm": torch.nn.LayerNorm(4)})
    tree = suggest.tree_of(model).tree
    assert tree.paths == tuple(name for name, _ in model.named_modules())
    assert tree.called == (False, False, True, True, True, True, True)
    assert tree.params[-1] == (("weight", (4,)), ("bias", (4,)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, ": version: 2 of layermap-tree is not known; install a newer layermap"),
        ({"modules": []}, ": modules: no list of modules"),
        ({"modules": [3]}, r": modules\[0\]: is no object"),
        ({"modules": [{"path": 3}]}, r": modules\[0\]: path and class have to be text"),
        ({"modules": [{"path": "a..b"}]}, r": modules\[0\]: 'a\.\.b' is no dotted path"),
        ({"modules": [{"path": "a", "parameters": {"w": "x"}}]}, r": modules\[0\]: parameters: is no object of names"),
    ],
)
def test_a_tree_of_another_kind_is_an_error_with_its_place(
    change: dict[str, object], message: str, tmp_path: Path
) -> None:
    whole = {"format": "layermap-tree", "version": 1, "modules": [{"path": "", "class": "A"}]}
    (tmp_path / "t.json").write_text(json.dumps(whole | change))
    with pytest.raises(ReadError, match=message):
        read(str(tmp_path / "t.json"))


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as done:
        main(["tree", *arguments])
    return done.value.code, *capsys.readouterr()


def test_tree_folds_equal_layers_and_shows_shapes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = shown(capsys, str(INPUTS / "tiny.print.txt"), "--depth", "3")
    assert code == 0
    assert out == (
        ". TinyForCausalLM\n"
        "  model Model\n"
        "    embed_tokens Embedding weight[32,8]\n"
        "    layers ModuleList (never called)\n"
        "      0-2: 3 x DecoderLayer\n"
        "    norm RMSNorm weight[8]\n"
        "  lm_head Linear weight[32,8]\n"
    )
    assert err.endswith("tiny.print.txt: printed model, 46 modules, 30 with known parameters\n")


def test_tree_shows_what_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    place = str(INPUTS / "tiny.print.txt")
    _, out, _ = shown(capsys, place, "--class", "MLP", "--format", "paths")
    assert out == "".join(f"model.layers.{layer}.mlp\tMLP\n" for layer in range(3))
    _, out, _ = shown(capsys, place, "--grep", r"1\..*_proj$", "--class", "Linear", "--depth", "4")
    assert out == ""
    _, out, _ = shown(capsys, place, "--grep", r"layers\.1\.mlp\.(up|down)")
    assert out.splitlines()[0] == "model.layers.1.mlp.up_proj Linear weight[16,8]"
    _, out, _ = shown(capsys, place, "--format", "json", "--depth", "1")
    assert [module["path"] for module in json.loads(out)["modules"]] == ["", "model", "lm_head"]


def test_tree_of_nothing_is_exit_1_and_a_bad_pattern_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    place = str(INPUTS / "tiny.print.txt")
    assert shown(capsys, place, "--class", "Zork")[:2] == (1, "")
    code, out, err = shown(capsys, place, "--grep", "(")
    assert (code, out) == (2, "")
    assert err.startswith("layermap: --grep (: no regular expression: ")


def test_tree_says_what_was_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, err = shown(capsys, str(INPUTS / "ddp"))
    assert "warning: " in err
    assert "read step0/rank0 of 4 dumps below ddp; 3 recorded the same calls and are read once" in err
