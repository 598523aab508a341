"""Any two kinds of input of one model give the same alignment, up to what one of them does not know.

Five models, MindSpore's among them, in every kind of `tests.kinds`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from matcher import Tree, align
from suggest.read import read
from tests.kinds import FULL, NAMES, Modules, Writer, dump, mindspore_parameters

pytestmark = pytest.mark.bulk
PAIRS = Path(__file__).parent.parent / "data" / "pairs"
MODELS = (
    "qwen2_5-7b/left",
    "qwen2_5-7b/right",
    "mindformers-llama-hf/left",
    "timm-vit-hf/left",
    "legacy-llama2-vs-hf/left",
)

# What a kind does not know, and how many modules are aligned differently for it.
UNKNOWN = {
    ("qwen2_5-7b/left", "names"): (1, "no class: which of three wrappers is the other side's only one"),
    ("qwen2_5-7b/right", "sorted"): (4, "neither order nor shape: gate before up, of which linear_fc1 covers both"),
    ("timm-vit-hf/left", "shapeless"): (2, "no shape: whether patch_embed or its proj is the convolution"),
}


@cache
def modules(name: str) -> Modules:
    found: Modules = json.loads((PAIRS / f"{name}.modules.json").read_text())
    return found


def other(name: str) -> str:
    folder, side = name.split("/")
    return f"{folder}/{'right' if side == 'left' else 'left'}"


def aligned(npu: Tree, bench: Tree) -> dict[str, str]:
    return {npu.paths[pair.npu]: bench.paths[pair.bench] for pair in align(npu, bench).pairs}


def called(tree: Tree) -> set[str]:
    return {path for path, is_called in zip(tree.paths, tree.called, strict=True) if is_called}


def tolerance(name: str, write: Writer) -> int:
    kinds = {"names": write in NAMES, "sorted": write.__name__ == "index"}
    kinds["shapeless"] = write in NAMES and write.__name__ not in ("keys_with_shapes", "json_shapes", "safetensors")
    kinds["shapeless"] &= write is not mindspore_parameters
    return max((count for (model, kind), (count, _) in UNKNOWN.items() if model == name and kinds[kind]), default=0)


@pytest.fixture(scope="module")
def trees_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Tree]]:
    """What every kind of one model is read as, by kind; each is written and read once."""

    @cache
    def trees(name: str) -> dict[str, Tree]:
        return {
            write.__name__: read(str(write(modules(name), tmp_path_factory.mktemp("kinds")))).tree
            for write in FULL + NAMES
        }

    return trees


@pytest.mark.parametrize("write", FULL + NAMES, ids=lambda write: write.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_any_two_kinds_of_a_model_are_aligned_path_by_path(
    name: str, write: Writer, trees_of: Callable[[str], dict[str, Tree]]
) -> None:
    tree = trees_of(name)[write.__name__]
    for another, bench in trees_of(name).items():
        shared = called(tree) & called(bench)
        assert len(shared) > 30
        pairs = aligned(tree, bench)
        assert {path: pairs.get(path) for path in shared} == {path: path for path in shared}, another


@pytest.mark.parametrize("write", FULL + NAMES, ids=lambda write: write.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_every_kind_gives_the_alignment_that_a_dump_gives(name: str, write: Writer, tmp_path: Path) -> None:
    tree = read(str(write(modules(name), tmp_path))).tree
    reference = read(str(dump(modules(name), tmp_path / "reference"))).tree
    bench = read(str(dump(modules(other(name)), tmp_path / "bench"))).tree
    expected, found = aligned(reference, bench), aligned(tree, bench)
    differing = [path for path in called(tree) & expected.keys() if found.get(path) != expected[path]]
    assert len(differing) <= tolerance(name, write), differing
