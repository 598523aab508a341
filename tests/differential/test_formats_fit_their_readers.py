"""Other outputs of a draft, read by the programs they are for, or held against what those would make themselves."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas
import pytest
import yaml

from suggest.draft import Draft, draft
from suggest.errors import LayermapError
from suggest.mapping import LayerMap, Rule
from suggest.read import read
from suggest.render import render
from suggest.source import Source
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


def _dump(home: Path, layer: str, name: str, calls: dict[str, list[list[int]]]) -> Source:
    """A dump of a module that calls some APIs, each with inputs of these shapes and an output like the first."""
    home.mkdir()
    outer = f"{layer}.attn.Attn.forward.0"
    data: dict[str, Any] = {outer: {"input_args": [], "output": []}}
    for api, shapes in calls.items():
        tensors = [{"type": f"{name}.Tensor", "dtype": "float32", "shape": shape, "Max": 1.0} for shape in shapes]
        data[f"{api}.forward"] = {"input_args": tensors, "input_kwargs": {"mask": tensors[0]}, "output": tensors[:1]}
    construct = {outer: None} | {api: outer for api in data if api != outer}
    (home / "dump.json").write_text(json.dumps({"framework": name, "data": data}))
    (home / "construct.json").write_text(json.dumps(construct))
    (home / "stack.json").write_text("{}")
    return read(str(home))


def test_api_mapping_leads_msprobe_from_api_to_api(tmp_path: Path) -> None:
    from msprobe.core.compare import acc_compare
    from msprobe.core.compare.config import MappingConfig, MappingDict

    ours, theirs = "Functional.flash_attention_score", "NPU.npu_fusion_attention"
    same, other = [2, 4, 8], [2, 8, 4]
    npu = _dump(
        tmp_path / "npu",
        "Cell",
        "mindspore",
        {f"{ours}.0": [same, same, other], "Functional.gelu.0": [same], "Functional.odd.0": [other]},
    )
    bench = _dump(
        tmp_path / "bench",
        "Module",
        "pytorch",
        {f"{theirs}.0": [same, same, same], "Functional.gelu.0": [same], "Torch.odd.0": [same]},
    )
    rule = Rule(section="Attn", key="flash_attention_score", target="npu_fusion_attention")
    text = said(replace(draft(npu, bench), layer_map=LayerMap((rule,))), "api-mapping")
    listed = yaml.safe_load(text)
    assert [(item["ms_api"], item["pt_api"]) for item in listed] == [(ours, theirs)]
    place = tmp_path / "api.yaml"
    place.write_text(text)
    place.chmod(0o640)
    reader: Any = getattr(acc_compare, "ProcessDf", acc_compare.Comparator)
    process: Any = SimpleNamespace(
        mapping_dict=MappingDict(MappingConfig(api_mapping=str(place))),
        get_api_indices_dict=lambda frame: reader.get_api_indices_dict(process, frame),
        get_api_name=reader.get_api_name,
    )
    ends = {"input.0": "input", "input.2": "input", "input.mask": "input", "output.0": "output"}
    frames = [
        pandas.DataFrame(
            {
                "op_name": [f"{api}.0.forward.{end}" for end in ends],
                "state": list(ends.values()),
                "api_origin_name": [f"{api}.0.forward"] * len(ends),
                "compare_key": "",
            }
        )
        for api in (ours, theirs)
    ]
    reader.modify_compare_data_with_user_mapping(process, *frames)
    expected = [f"{theirs}.0.forward.{end}" + ("abandoned" if end == "input.2" else "") for end in ends]
    assert list(frames[0]["compare_key"]) == expected


@pytest.mark.parametrize("style", ["data-mapping", "api-mapping"])
def test_tensors_are_paired_between_dumps_only(data: Path, style: str) -> None:
    folder = data / "pairs" / "seed-layer-mapping-example"
    found = draft(*(read(str(folder / f"{side}.txt")) for side in ("left", "right")))
    with pytest.raises(LayermapError, match=rf"left\.txt: holds no tensors to pair; .*--format {style}"):
        said(found, style)


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
    evil = LayerMap((Rule(section="A|`B", key="<img>", target="x", note="review: or <b>*y*|z"),))
    row = said(replace(found, layer_map=evil), "markdown").splitlines()[8]
    assert row == "| ``A\\|`B`` | `<img>` | `x` |  | **review: or \\<b\\>\\*y\\*\\|z** |"


@pytest.mark.parametrize("style", STYLES)
def test_every_style_gives_the_same_bytes_twice(found: Draft, style: str) -> None:
    assert said(found, style) == said(found, style)
