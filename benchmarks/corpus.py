"""The pairs that benchmarks and tests score on: real module trees of one architecture in two code bases, with gold.

A pair is a folder of `tests/data/pairs`: ``left.txt`` and ``right.txt`` are ``print(model)``, ``*.modules.json`` the
same as a list of ``{path, class, params}``, ``gold.json`` the pairs that a published checkpoint converter makes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from matcher import Module, Tree
from suggest.entries import module_entries
from suggest.parameters import by_parameter
from suggest.read_keys import read_keys
from suggest.read_text import CONTAINERS, read_text
from suggest.source import Source

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
PAIRS = DATA / "pairs"
CASES = DATA / "cases"

FAMILIES: dict[str, tuple[str, ...]] = {
    "Megatron-core": ("bloom", "core-bert", "gemma2", "glm4", "llama2-7b", "qwen2_5"),
    "legacy Megatron": ("legacy", "seed-layer"),
    "MoE and MLA": ("deepseek", "mixtral-8x7b", "olmoe", "qwen3-moe"),
    "vision-language": ("qwen3-vl", "seed-qwen2_5-vl", "openclip"),
    "litgpt and torchtune": ("litgpt", "torchtune"),
    "MindSpore": ("mindformers",),
    "vision, audio, diffusion": ("timm", "torchaudio", "ldm"),
}

Modules = list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a pair: its modules, those of them that a dump would hold, and the source that layermap reads."""

    modules: Modules
    called: frozenset[str]
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One pair in one direction: ``gold`` maps NPU paths to bench paths, ``npu_only`` have no counterpart."""

    name: str
    family: str
    npu: Side
    bench: Side
    gold: Mapping[str, str]
    npu_only: frozenset[str]


def family_of(name: str) -> str:
    """The family of a pair, by the beginning of its name; "other" if it is in none."""
    return next((family for family, starts in FAMILIES.items() if name.startswith(starts)), "other")


def pairs(root: Path = PAIRS, mode: str = "dump", scramble: float = 0.0, only: str = "") -> Iterator[Pair]:
    """Every pair below a folder in both directions, in order of name.

    ``mode`` is "dump" (what a dump tells), "text" (the printed models or lists of keys) or "names" (a printed model
    without shapes); ``scramble`` is the share of the NPU side's names and classes that become meaningless words.
    """
    for folder in sorted(path.parent for path in root.glob("*/gold.json")):
        if only in folder.name:
            for reverse in (False, True):
                yield _pair(folder, mode, scramble, reverse=reverse)


def _pair(folder: Path, mode: str, scramble: float, *, reverse: bool) -> Pair:
    names = ("right", "left") if reverse else ("left", "right")
    modules = [json.loads((folder / f"{name}.modules.json").read_text()) for name in names]
    gold, alone = gold_of(folder, reverse=reverse)
    if scramble:
        modules[0], moved = scrambled(modules[0], scramble)
        gold, alone = {moved[a]: b for a, b in gold.items()}, {moved[a] for a in alone}
    npu, bench = (_side(folder / f"{name}.txt", side, mode) for name, side in zip(names, modules, strict=True))
    return Pair(
        name=folder.name + (" (reverse)" if reverse else ""),
        family=family_of(folder.name),
        npu=npu,
        bench=bench,
        gold={a: b for a, b in gold.items() if a in npu.called and b in bench.called},
        npu_only=frozenset(alone & npu.called) - gold.keys(),
    )


def gold_of(folder: Path, *, reverse: bool) -> tuple[dict[str, str], set[str]]:
    """Pairs and one-sided modules; wrappers for which several answers are right are left out."""
    gold = json.loads((folder / "gold.json").read_text())
    here, there = (1, 0) if reverse else (0, 1)
    skip: set[str] = set()
    for entry in gold.get("ambiguous_parents", []):
        skip.update(entry.get(("left", "right")[here], []))
        skip.update(pair[here] for pair in entry.get("paired", []))
    found = {pair[here]: pair[there] for pair in gold["pairs"] if pair[here] not in skip}
    return found, set(gold.get(("left_only", "right_only")[here], [])) - skip


def _side(text: Path, modules: Modules, mode: str) -> Side:
    called = frozenset(module["path"] for module in modules if _is_called(module, modules[0]))
    if mode == "text":
        content = text.read_text()
        printed = any(module["class"] == "Param" for module in modules)
        source = (read_keys if printed else read_text)(content, text.name)
        return Side(modules=modules, called=called, source=by_parameter(source) if source.parameters else source)
    return Side(modules=modules, called=called, source=source_of(modules, shapes=mode == "dump"))


def source_of(modules: Modules, *, shapes: bool = True) -> Source:
    """What reading a dump of one forward pass of these modules gives."""
    called = [module for module in modules if _is_called(module, modules[0])]
    prefix = "Cell" if any(module["class"] in ("CellList", "CellDict") for module in modules) else "Module"
    entries = module_entries(((module["path"], module["class"]) for module in called), prefix)
    tree = Tree.build(
        Module(".".join(entry.scope), module["class"], params=_params(module) if shapes else ())
        for module, entry in zip(called, entries, strict=True)
    )
    return Source(label="modules", kind="msprobe dump", tree=tree, entries=entries)


def _params(module: Mapping[str, Any]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    return tuple((name, tuple(shape)) for name, shape in (module.get("params") or {}).items())


def _is_called(module: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    element = root["class"] in ("list", "tuple") and "." not in module["path"]
    return bool(module["path"]) and module["class"] not in CONTAINERS and not module.get("container") and not element


def scrambled(modules: Modules, share: float, seed: int = 7) -> tuple[Modules, dict[str, str]]:
    """The same tree with a share of its names and classes renamed to meaningless words, and old path -> new path."""
    random = Random(seed)  # noqa: S311  a repeatable shuffle, no secret
    steps = sorted({step for m in modules for step in m["path"].split(".") if step and not step.isdigit()})
    classes = sorted({m["class"] for m in modules} - CONTAINERS - {"list", "tuple"})
    new_step, new_class = _renamed(random, steps, share, "q{}z"), _renamed(random, classes, share, "K{}x")
    moved = {m["path"]: ".".join(new_step.get(step, step) for step in m["path"].split(".")) for m in modules}
    tree = [m | {"path": moved[m["path"]], "class": new_class.get(m["class"], m["class"])} for m in modules]
    return tree, moved


def _renamed(random: Random, names: list[str], share: float, shape: str) -> dict[str, str]:
    chosen = sorted(random.sample(names, round(share * len(names))))
    random.shuffle(chosen)
    return {name: shape.format(index) for index, name in enumerate(chosen)}
