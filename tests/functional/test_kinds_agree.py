"""Any two kinds of input of one model give the same alignment, up to what one of them does not know.

Five models, MindSpore's among them, in every kind of `tests.kinds`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from matcher import Tree, align
from suggest.read import read
from tests.kinds import FULL, NAMES, Modules, Writer, dump, mindspore_parameters, tree_file

PAIRS = Path(__file__).parent.parent / "data" / "pairs"
MODELS = (
    "qwen2_5-7b/left",
    "qwen2_5-7b/right",
    "mindformers-llama-hf/left",
    "timm-vit-hf/left",
    "legacy-llama2-vs-hf/left",
)
SMALL = "mindformers-llama-hf/left"

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


@pytest.mark.parametrize("write", FULL + NAMES, ids=lambda write: write.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_every_kind_is_aligned_with_a_dump_of_the_same_model_path_by_path(
    name: str, write: Writer, tmp_path: Path
) -> None:
    tree = read(str(write(modules(name), tmp_path))).tree
    reference = read(str(dump(modules(name), tmp_path / "reference"))).tree
    shared = called(tree) & called(reference)
    assert len(shared) > 30
    for pairs in (aligned(tree, reference), aligned(reference, tree)):
        assert {path: pairs.get(path) for path in shared} == {path: path for path in shared}


@pytest.mark.parametrize("write", FULL, ids=lambda write: write.__name__)
def test_any_two_kinds_are_aligned_path_by_path(write: Writer, tmp_path: Path) -> None:
    tree = read(str(write(modules(SMALL), tmp_path))).tree
    for another in (tree_file, *NAMES):
        bench = read(str(another(modules(SMALL), tmp_path / "bench"))).tree
        shared = called(tree) & called(bench)
        pairs = aligned(tree, bench)
        assert {path: pairs.get(path) for path in shared} == {path: path for path in shared}, another.__name__


@pytest.mark.parametrize("write", FULL + NAMES, ids=lambda write: write.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_every_kind_gives_the_alignment_that_a_dump_gives(name: str, write: Writer, tmp_path: Path) -> None:
    tree = read(str(write(modules(name), tmp_path))).tree
    reference = read(str(dump(modules(name), tmp_path / "reference"))).tree
    bench = read(str(dump(modules(other(name)), tmp_path / "bench"))).tree
    expected, found = aligned(reference, bench), aligned(tree, bench)
    differing = [path for path in called(tree) & expected.keys() if found.get(path) != expected[path]]
    assert len(differing) <= tolerance(name, write), differing
