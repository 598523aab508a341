"""Drafting around given rules, on real pairs."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from benchmarks.corpus import PAIRS, pairs
from suggest.document import RULE
from suggest.draft import draft
from suggest.errors import LayermapError, MappingError
from suggest.keep import draft_around
from suggest.mapping import load_mapping
from suggest.output import write
from suggest.read import read
from suggest.read_document import load_document
from suggest.render import render
from suggest.replay import land
from suggest.scopes import Scopes

SOME = sorted(folder.name for folder in PAIRS.iterdir())[::3]


@pytest.mark.bulk
@pytest.mark.parametrize("name", SOME)
def test_of_a_draft_with_rules_missing_the_rest_comes_back(name: str) -> None:
    for pair in pairs(only=name):
        npu, bench = pair.npu.source, pair.bench.source
        whole = draft(npu, bench)
        text = render(whole, "yaml", comments=True)
        lines = load_document(text, "m").lines
        random = Random(7)
        document = load_document(text, "m")
        for line in lines:
            if line.kind == RULE and random.random() < 0.5:
                document = document.without(line.section, line.key)
        kept = draft_around(npu, bench, document.text, "m")
        assert kept.draft.faults == ()
        assert kept.draft.matched == whole.matched
        result = iter(kept.text.splitlines())
        assert all(line.text in result for line in document.lines if line.kind == RULE)
        again = draft_around(npu, bench, kept.text, "m")
        assert (again.text, again.added) == (kept.text, 0)


@pytest.mark.parametrize("direction", ["mindspeed-to-llamafactory", "llamafactory-to-mindspeed"])
def test_the_official_template_can_be_kept(data: Path, direction: str) -> None:
    folder = data / "pairs" / "seed-qwen2_5-vl"
    sides = ("left", "right") if direction.startswith("mindspeed") else ("right", "left")
    npu, bench = (read(str(folder / f"{side}.txt")) for side in sides)
    text = (data / "templates" / f"qwen2_5-vl.{direction}.yaml").read_text()
    alone = load_mapping(text, "template").layer_map
    here, there = Scopes.build(npu.entries), Scopes.build(bench.entries)
    before = sum(node > 0 for node in land(here, there, alone).nodes)
    kept = draft_around(npu, bench, text, "template")
    assert set(text.splitlines()) <= set(kept.text.splitlines())
    after = sum(node > 0 for node in land(here, there, load_mapping(kept.text, "m").layer_map).nodes)
    assert after >= before
    assert kept.added > 0


def test_a_second_choice_is_taken_where_the_first_is_ruled_out(data: Path) -> None:
    folder = data / "pairs" / "seed-qwen2_5-vl"
    npu, bench = (read(str(folder / f"{side}.txt")) for side in ("left", "right"))
    kept = draft_around(npu, bench, "MLP:\n  linear_fc1: up_proj # layermap: no\n", "m")
    line = next(line for line in kept.text.splitlines() if line.startswith('  linear_fc1: "gate_proj"'))
    assert "new review: second choice: the first is ruled out" in line
    assert line.endswith("; layermap: no up_proj")


def test_damaged_files_are_errors_of_ours() -> None:
    source = read(str(Path(__file__).parents[3] / "examples" / "gpu.json"))
    for text in ("a: [", "", "- a\n", "A:\n  b: [c]\n"):
        with pytest.raises(MappingError):
            draft_around(source, source, text, "m")
    assert draft_around(source, source, "{}\n# mine\n", "m").text == "{}\n# mine\n"
    assert draft_around(source, source, "A:\n  x: y\n  # x y # layermap: no\n  # x: [ # layermap: no\n", "m").added == 0


def test_a_place_that_cannot_be_written_is_left_clean(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").mkdir()
    with pytest.raises(LayermapError):
        write("text", str(tmp_path / "m.yaml"))
    assert [path.name for path in tmp_path.iterdir()] == ["m.yaml"]
