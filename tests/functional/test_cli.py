"""The command as a user runs it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

COMMAND = [sys.executable, "-m", "suggest"]


def layermap(*arguments: str | Path, stdin: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | env,
        cwd=Path(__file__).parent.parent.parent,
    )


def test_suggest_prints_only_the_draft_on_stdout_and_talks_on_stderr(examples: Path) -> None:
    run = layermap("suggest", examples / "npu.json", examples / "gpu.json")
    assert run.returncode == 0
    assert yaml.safe_load(run.stdout)["TopLayer"] == {"module": "model"}
    assert run.stderr.startswith("matched 38 of 45 NPU modules with 14 rules, 0 to review\n")


def test_quiet_says_nothing_on_stderr(examples: Path) -> None:
    run = layermap("suggest", "-q", examples / "npu.json", examples / "gpu.json")
    assert (run.returncode, run.stderr) == (0, "")


def test_no_comments_leaves_rules_only(examples: Path) -> None:
    run = layermap("suggest", "--no-comments", examples / "npu.json", examples / "gpu.json")
    assert "#" not in run.stdout
    assert yaml.safe_load(run.stdout)["ParallelMLP"] == {"dense_h_to_4h": "linear_fc1", "dense_4h_to_h": "linear_fc2"}


def test_json_format_carries_confidence(examples: Path) -> None:
    run = layermap("suggest", "--format", "json", examples / "npu.json", examples / "gpu.json")
    rule = json.loads(run.stdout)["sections"]["TopLayer"][0]
    assert (rule["key"], rule["target"]) == ("module", "model")
    assert 0.5 < rule["confidence"] <= 1.0


def test_output_file_is_written_whole_and_keeps_its_mode(examples: Path, tmp_path: Path) -> None:
    place = tmp_path / "mapping.yaml"
    place.write_text("old")
    place.chmod(0o640)
    run = layermap("suggest", examples / "npu.json", examples / "gpu.json", "-o", place)
    assert (run.returncode, run.stdout) == (0, "")
    assert yaml.safe_load(place.read_text())["TopLayer"] == {"module": "model"}
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["mapping.yaml"]


def test_unwritable_output_is_one_line_and_exit_2(examples: Path, tmp_path: Path) -> None:
    run = layermap("suggest", examples / "npu.json", examples / "gpu.json", "-o", tmp_path / "no" / "m.yaml")
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.count("\n") == 1
    assert "No such file or directory" in run.stderr


def test_standard_input_is_a_side(examples: Path) -> None:
    text = (examples / "qwen2_5_vl.mindspeed_mm.txt").read_text()
    run = layermap("suggest", "-", examples / "qwen2_5_vl.llamafactory.txt", stdin=text)
    assert run.returncode == 0
    assert yaml.safe_load(run.stdout)["TopLayer"] == {"0.module": "module"}


def test_nothing_in_common_is_exit_1(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A(\n  (zork): Conv2d(3, 8, kernel_size=(3, 3))\n)\n")
    (tmp_path / "b.txt").write_text("B(\n  (blub): LayerNorm((7,))\n)\n")
    run = layermap("suggest", tmp_path / "a.txt", tmp_path / "b.txt")
    assert run.returncode == 1
    assert run.stderr.startswith("matched 0 of 1 NPU modules")


@pytest.mark.parametrize("direction", [("npu.json", "gpu.json"), ("gpu.json", "npu.json")])
def test_check_finds_nothing_wrong_with_our_own_draft(
    examples: Path, tmp_path: Path, direction: tuple[str, str]
) -> None:
    sides = [examples / name for name in direction]
    (tmp_path / "m.yaml").write_text(layermap("suggest", *sides).stdout)
    run = layermap("check", tmp_path / "m.yaml", *sides)
    assert (run.returncode, run.stderr) == (0, "")
    assert "modules forward: 38 of 4" in run.stdout
    assert run.stdout.endswith("0 findings\n")


def test_check_names_the_rule_of_the_official_template_that_cannot_work(data: Path, examples: Path) -> None:
    template = data / "templates" / "qwen2_5-vl.mindspeed-to-llamafactory.yaml"
    run = layermap(
        "check", template, examples / "qwen2_5_vl.mindspeed_mm.txt", examples / "qwen2_5_vl.llamafactory.txt"
    )
    assert run.returncode == 1
    assert f"{template}:38: LM202 MMGPTModel: output_layer -> lm_head" in run.stdout


def test_check_says_by_line_what_msprobe_rejects(examples: Path, tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text("TopLayer:\n  module: model\nGPTModel:\n  0: 1\nEmpty:\n")
    run = layermap("check", tmp_path / "m.yaml", examples / "npu.json", examples / "gpu.json")
    assert run.returncode == 1
    assert f"{tmp_path}/m.yaml:4: LM101 key 0 of section GPTModel is no string" in run.stdout
    assert f"{tmp_path}/m.yaml:5: LM101 section Empty holds no rules" in run.stdout


def test_usage_errors_are_exit_2() -> None:
    assert layermap("suggest").returncode == 2
    assert layermap("frobnicate").returncode == 2


def test_version_and_help() -> None:
    assert layermap("--version").stdout.startswith("layermap, version ")
    assert "suggest" in layermap("--help").stdout
    assert "msprobe" in layermap("suggest", "--help").stdout


def test_a_closed_pipe_is_no_traceback(examples: Path) -> None:
    command = " ".join([*COMMAND, "suggest", str(examples / "npu.json"), str(examples / "gpu.json"), "-q"])
    run = subprocess.run(["bash", "-c", f"{command} | true"], capture_output=True, text=True, check=False)
    assert run.stderr == ""


ALL_DRAFTS = """
import hashlib, yaml
from benchmarks.corpus import pairs
from suggest.draft import draft
from suggest.render import render
digest = hashlib.sha256()
for pair in pairs():
    text = render(draft(pair.npu.source, pair.bench.source), "yaml", comments=True)
    for section, rules in yaml.safe_load(text).items():
        assert isinstance(section, str) and all(type(key) is type(rules[key]) is str for key in rules), pair.name
    digest.update(text.encode())
print(digest.hexdigest())
"""


@pytest.mark.bulk
def test_drafts_of_all_pairs_are_strings_only_and_the_same_bytes_whatever_the_hash_seed() -> None:
    runs = [
        subprocess.run(
            [sys.executable, "-c", ALL_DRAFTS],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=Path(__file__).parent.parent.parent,
        )
        for seed in ("0", "4242")
    ]
    assert runs[0].stdout == runs[1].stdout != ""


def test_both_directions_need_a_file_each_and_warn_once(tmp_path: Path, data: Path) -> None:
    npu, bench = data / "inputs" / "ddp", data / "dumps" / "structure"
    same = layermap("suggest", npu, bench, "-o", tmp_path / "m.yaml", "--both", tmp_path / "x" / ".." / "m.yaml")
    assert (same.returncode, same.stdout, list(tmp_path.iterdir())) == (2, "", [])
    assert "-o and --both name the same file." in same.stderr
    run = layermap("suggest", npu, bench, "--both", tmp_path / "back.yaml")
    warnings = [line for line in run.stderr.splitlines() if line.startswith("warning: ")]
    assert len(warnings) == len(set(warnings)) > 0
    lost = layermap("suggest", npu, bench, "--both", tmp_path / "no" / "back.yaml")
    assert (lost.returncode, lost.stdout) == (2, "")
    assert lost.stderr.endswith("choose another place with --both\n")


def test_both_writes_the_reverse_mapping_too_and_inverting_a_draft_gives_the_same_pairs(
    examples: Path, tmp_path: Path
) -> None:
    npu, bench, there, back = (
        examples / "npu.json",
        examples / "gpu.json",
        tmp_path / "there.yaml",
        tmp_path / "back.yaml",
    )
    run = layermap("suggest", npu, bench, "-o", there, "--both", back)
    assert (run.returncode, run.stdout) == (0, "")
    assert run.stderr.count("matched 38 of") == 2
    assert yaml.safe_load(back.read_text())["TopLayer"] == {"model": "module"}
    inverted = layermap("invert", there, npu, bench)
    assert (inverted.returncode, inverted.stderr) == (0, "")
    assert inverted.stdout.startswith("# there.yaml inverted: 38 pairs of modules, replayed as msprobe does\n")
    modules = {"TopLayer", "GPTModel", "TransformerBlock", "SelfAttention", "MLP"}
    assert {k: v for k, v in yaml.safe_load(inverted.stdout).items() if k in modules} == {
        k: v for k, v in yaml.safe_load(back.read_text()).items() if k in modules
    }


def test_inverting_a_mapping_that_matches_nothing_is_a_finding(examples: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.yaml"
    nothing.write_text('TopLayer:\n  "module": "nowhere"\n')
    run = layermap("invert", nothing, examples / "npu.json", examples / "gpu.json")
    assert run.returncode == 1
    assert yaml.safe_load(run.stdout) == {}
