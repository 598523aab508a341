"""``suggest --keep`` and ``--learn`` as a user runs them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from suggest.check import check
from suggest.mapping import load_mapping
from suggest.read import read

from .test_cli import layermap

REVIEWED = """# our mapping, do not reorder
ParallelMLP:
  dense_h_to_4h: linear_fc1      # looked at by hand
  # the way back is still open

TopLayer:
  "module": "model"
"""


def kept(tmp_path: Path, text: str, *sides: Path) -> str:
    place = tmp_path / "kept.yaml"
    place.write_bytes(text.encode())
    run = layermap("suggest", "--keep", place, *sides)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture
def sides(examples: Path) -> tuple[Path, Path]:
    return examples / "npu.json", examples / "gpu.json"


def test_kept_lines_survive_and_the_rest_is_drafted(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    text = kept(tmp_path, REVIEWED, *sides)
    lines = iter(text.splitlines())
    assert all(line in lines for line in REVIEWED.splitlines()), "every line, in its order"
    assert '  "dense_4h_to_h": "linear_fc2"' in text
    added = [line for line in text.splitlines() if line not in REVIEWED.splitlines() and '": "' in line]
    assert all(" new" in line for line in added)
    report = check(load_mapping(text, "m"), *(read(str(side)) for side in sides))
    assert report.findings == ()
    assert report.counts["modules forward"] == (38, 45)


def test_a_finished_mapping_is_kept_byte_for_byte(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    once = kept(tmp_path, REVIEWED, *sides)
    assert kept(tmp_path, once, *sides) == once


def test_a_given_rule_wins_over_the_matcher_and_the_rest_follows(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    text = kept(tmp_path, "ParallelAttention:\n  query_key_value: linear_proj\n", *sides)
    assert yaml.safe_load(text)["ParallelAttention"]["query_key_value"] == "linear_proj"
    assert "dense" not in yaml.safe_load(text)["ParallelAttention"]


@pytest.mark.parametrize(
    "rule", ["  dense: linear_proj # layermap: no\n  x: y\n", "  x: y\n  # dense: linear_proj # layermap: no\n"]
)
def test_what_is_ruled_out_stays_out(tmp_path: Path, sides: tuple[Path, Path], rule: str) -> None:
    text = kept(tmp_path, f"ParallelAttention:\n{rule}", *sides)
    assert yaml.safe_load(text)["ParallelAttention"].get("dense", "dense_no_counterpart") != "linear_proj"
    report = check(load_mapping(text, "m"), *(read(str(side)) for side in sides))
    assert report.counts["modules forward"] == (35, 45)
    assert "layermap: no" in text


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("A:\n  a: b\n  c: d\n  a: e\n", (":4:", "line 2")),
        ("A:\n  a: b\nB: {c: d}\nA:\n  a: e\n", (":4:", "line 1")),
        ("ParallelMLP:\n  dense_h_to_4h: linear_fc1\n  dense_4h_to_h: linear_fc1\n", (":3:", "line 2")),
        ("A:\n  # a: b # layermap: no\n  a: b\n", (":3:", "line 2")),
    ],
)
def test_rules_that_contradict_each_other_are_an_error_with_both_lines(
    tmp_path: Path, sides: tuple[Path, Path], text: str, lines: tuple[str, str]
) -> None:
    (tmp_path / "m.yaml").write_text(text)
    run = layermap("suggest", "--keep", tmp_path / "m.yaml", *sides)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.count("\n") == 1
    assert all(line in run.stderr for line in lines), run.stderr


def test_names_without_meaning_are_learned_from_an_earlier_mapping(tmp_path: Path) -> None:
    old = "Old(\n  (zork): Linear(in_features=8, out_features=8)\n  (plugh): Linear(in_features=8, out_features=8)\n)\n"
    ref = "Ref(\n  (quux): Linear(in_features=8, out_features=8)\n  (frob): Linear(in_features=8, out_features=8)\n)\n"
    (tmp_path / "old.txt").write_text(old)
    (tmp_path / "ref.txt").write_text(ref)
    (tmp_path / "m.yaml").write_text("TopLayer:\n  zork: frob\n  plugh: quux\n")
    run = layermap("suggest", tmp_path / "old.txt", tmp_path / "ref.txt")
    assert yaml.safe_load(run.stdout) != {"TopLayer": {"zork": "frob", "plugh": "quux"}}
    lesson = (tmp_path / "m.yaml", tmp_path / "old.txt", tmp_path / "ref.txt")
    run = layermap("suggest", "--learn", *lesson, tmp_path / "old.txt", tmp_path / "ref.txt")
    assert yaml.safe_load(run.stdout) == {"TopLayer": {"zork": "frob", "plugh": "quux"}}


def test_a_lesson_that_msprobe_would_ignore_is_an_error(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    (tmp_path / "m.yaml").write_text("TopLayer:\n  0: 1\n")
    run = layermap("suggest", "--learn", tmp_path / "m.yaml", *sides, *sides)
    assert run.returncode == 2
    assert "m.yaml:2: key 0 of section TopLayer is no string" in run.stderr
