"""Other outputs of a draft, read by the programs they are for, or held against what those would make themselves."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from suggest.draft import Draft, draft
from suggest.errors import LayermapError
from suggest.read import read
from suggest.render import render
from suggest.styles import STYLES


@pytest.fixture(scope="module")
def sides(data: Path) -> tuple[Path, Path]:
    home = data / "dumps" / "gpt__legacy_core"
    return home / "left" / "step0" / "rank0", home / "right" / "step0" / "rank0"


@pytest.fixture(scope="module")
def found(sides: tuple[Path, Path]) -> Draft:
    return draft(*(read(str(side)) for side in sides))


def said(found: Draft, style: str) -> str:
    return render(found, style, comments=True)


def test_data_mapping_is_what_msprobe_makes_of_the_layer_mapping(
    found: Draft, sides: tuple[Path, Path], tmp_path: Path
) -> None:
    from msprobe.core.compare.layer_mapping import generate_data_mapping_by_layer_mapping

    place = tmp_path / "mapping.yaml"
    place.write_text(said(found, "yaml"))
    place.chmod(0o640)
    paths = {"npu_path": str(sides[0] / "dump.json"), "bench_path": str(sides[1] / "dump.json")}
    theirs: dict[str, Any] = generate_data_mapping_by_layer_mapping(paths, str(place))
    ours = yaml.safe_load(said(found, "data-mapping"))
    assert ours == {name: target for name, target in theirs.items() if name in ours}
    assert {name for name, target in theirs.items() if target != "N/A"} <= set(ours)


def test_cell_mapping_leads_msprobes_comparator_from_cell_to_module(found: Draft) -> None:
    from msprobe.core.compare.acc_compare import Comparator, ProcessDf

    mapping = yaml.safe_load(said(found, "cell-mapping"))
    process: Any = ProcessDf if hasattr(ProcessDf, "process_cell_mapping") else Comparator
    reader = SimpleNamespace(mapping_dict=SimpleNamespace(cell_mapping_dict=mapping))
    assert len(mapping) == found.matched
    for name, target in mapping.items():
        there = process.process_cell_mapping(reader, f"Cell.{name}.forward.0.input.0")
        assert there == f"Module.{target}.forward.0.input.0"


def test_vis_config_pairs_names_of_the_two_dumps(found: Draft, sides: tuple[Path, Path]) -> None:
    here, there = (json.loads((side / "dump.json").read_text())["data"] for side in sides)
    pairs = json.loads(said(found, "vis-config"))
    assert set(pairs) <= set(here)
    assert set(pairs.values()) <= set(there)
    modules = [name for name in pairs if name.startswith("Module.") and name.endswith(".forward.0")]
    assert len(modules) == found.matched


def test_model_explorer_maps_paths_and_nothing_else(found: Draft) -> None:
    shown = json.loads(said(found, "model-explorer"))
    assert (shown["type"], shown["disableMappingFallback"]) == ("sync_navigation", True)
    assert len(shown["mapping"]) == found.matched
    assert set(shown["mapping"]) <= set(found.npu.tree.paths)


def test_pairs_list_every_module_of_both_sides_once(found: Draft) -> None:
    rows = list(csv.DictReader(io.StringIO(said(found, "pairs"))))
    assert sorted(row["npu"] for row in rows if row["npu"]) == sorted(
        path for path, called in zip(found.npu.tree.paths, found.npu.tree.called, strict=True) if called
    )
    assert sorted(row["bench"] for row in rows if row["bench"]) == sorted(
        path for path, called in zip(found.bench.tree.paths, found.bench.tree.called, strict=True) if called
    )
    assert sum(bool(row["npu"] and row["bench"]) for row in rows) == found.matched
    as_json = json.loads(said(found, "pairs-json"))["pairs"]
    assert [row["npu"] or "" for row in as_json] == [row["npu"] for row in rows]


def test_markdown_shows_every_rule_and_keeps_markup_inert(found: Draft) -> None:
    text = said(found, "markdown")
    assert f"**{found.matched} of {found.npu_modules}**" in text
    assert text.count("\n| `") == len(found.layer_map.rules)
    from dataclasses import replace

    from suggest.mapping import LayerMap, Rule

    evil = LayerMap((Rule(section="A|`B", key="<img>", target="x", note="review: or <b>*y*|z"),))
    row = said(replace(found, layer_map=evil), "markdown").splitlines()[8]
    assert row == "| ``A\\|`B`` | `<img>` | `x` |  | **review: or \\<b\\>\\*y\\*\\|z** |"


@pytest.mark.parametrize("style", STYLES)
def test_every_style_gives_the_same_bytes_twice(found: Draft, style: str) -> None:
    assert said(found, style) == said(found, style)


def test_data_mapping_needs_dumps(data: Path) -> None:
    folder = data / "pairs" / "seed-layer-mapping-example"
    found = draft(*(read(str(folder / f"{side}.txt")) for side in ("left", "right")))
    with pytest.raises(LayermapError, match=r"left\.txt: holds no tensors to pair; give dumps"):
        said(found, "data-mapping")
