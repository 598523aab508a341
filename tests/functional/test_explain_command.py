"""``layermap explain`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .test_cli import layermap

DATA = Path(__file__).parents[1] / "data"
UNKNOWN = "no module of either side has this path"
GATE = """\
transformer.h.0.mlp.fc_1 (Linear), weight[172,64], reads as mlp.gate
        input   float32[1,16,64] 3.0462 -2.8221 0.011853 31.672
        output  float32[1,16,172] 0.57849 -0.58186 -0.00039658 8.3018
        weight  float32[172,64] 0.085138 -0.06791 -0.0001176 2.1023

log odds     chosen        1        2        3
name          +2.32    -1.55    -1.57    -1.55
genus         +0.90    +0.90    +0.90    +0.90
class         +0.42    +0.42    +0.42    +0.42
shape         +1.40    +1.40    +0.70    -0.20
numbers       +5.00    -4.74    -5.00    -5.00
size          +1.00    +1.00    -1.00    -1.00
calls             0        0        0        0
standing      -0.20    -0.20    -0.20    -0.20
children          0        0        0        0
parent            0        0        0    -1.20
order             0    -0.35    -0.70        0
total        +10.84    -3.12    -6.45    -7.83

chosen  model.layers.0.mlp.gate_proj (Linear), weight[172,64], reads as mlp.gate; confidence 1.00
        input   float32[1,16,64] 3.0462 -2.8221 0.011853 31.672
        output  float32[1,16,172] 0.57849 -0.58186 -0.00039658 8.3018
        weight  float32[172,64] 0.085138 -0.06791 -0.0001176 2.1023
1       model.layers.0.mlp.up_proj (Linear), weight[172,64], reads as mlp.up; goes with transformer.h.0.mlp.fc_2
2       model.layers.0.mlp.down_proj (Linear), weight[64,172], reads as mlp.down; goes with transformer.h.0.mlp.proj
3       lm_head (Linear), weight[128,64], reads as head; goes with lm_head
"""


@pytest.fixture
def llama() -> tuple[Path, Path]:
    home = DATA / "dumps" / "llama__litgpt_hf"
    return home / "left", home / "right"


def test_the_evidence_of_a_pair_beside_the_next_best(llama: tuple[Path, Path]) -> None:
    run = layermap("explain", *llama, "transformer.h.0.mlp.fc_1")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == GATE


def test_an_entry_of_the_dump_will_do_for_a_path(llama: tuple[Path, Path]) -> None:
    assert layermap("explain", *llama, "Module.transformer.h.0.mlp.fc_1.Linear.forward.0").stdout == GATE


def test_the_bench_side_can_be_asked_too(llama: tuple[Path, Path]) -> None:
    run = layermap("explain", *llama, "model.layers.0.mlp.gate_proj", "--format", "json")
    answer = json.loads(run.stdout)
    assert answer["side"] == "bench"
    assert answer["chosen"]["path"] == "transformer.h.0.mlp.fc_1"
    assert answer["chosen"]["taken_by"] == "model.layers.0.mlp.gate_proj"
    assert len(answer["others"]) == 3
    assert sum(answer["chosen"]["log_odds"].values()) == pytest.approx(answer["chosen"]["total"], abs=1e-3)


def test_a_fused_module_is_said_to_be_one(llama: tuple[Path, Path]) -> None:
    fused = layermap("explain", *llama, "transformer.h.1.attn.qkv").stdout.splitlines()
    assert "no counterpart of its own: fused, qkv against q_proj + k_proj + v_proj, which no mapping can say" in fused
    parts = layermap("explain", *llama, "model.layers.1.self_attn.k_proj").stdout.splitlines()
    assert "no counterpart of its own: fused, q_proj + k_proj + v_proj against qkv, which no mapping can say" in parts
    assert any(line.endswith("; free") for line in parts)


def test_the_members_of_a_fused_pair_know_who_stands_for_them() -> None:
    home = DATA / "pairs" / "legacy-llama2-vs-hf"
    run = layermap("explain", home / "left.txt", home / "right.txt", "model.layers.0.mlp.gate_proj")
    said = "no counterpart of its own: fused, gate_proj + up_proj against dense_h_to_4h, which up_proj stands for"
    assert said in run.stdout.splitlines()


def test_a_level_that_one_side_lacks_is_said_to_be_one() -> None:
    home = DATA / "pairs" / "core-bert-vs-hf"
    path = "0.module.module.encoder.layers.0.mlp"
    run = layermap("explain", home / "left.txt", home / "right.txt", path)
    assert "no counterpart: what is in it is matched without it" in run.stdout.splitlines()


@pytest.mark.parametrize("entry", ["parameters_grad.0", "forward.0", "backward.0"])
def test_any_entry_of_a_module_leads_to_it(llama: tuple[Path, Path], entry: str) -> None:
    run = layermap("explain", *llama, f"Module.transformer.h.0.mlp.fc_1.Linear.{entry}")
    assert run.stdout == GATE


def test_an_api_has_no_evidence_of_its_own(llama: tuple[Path, Path]) -> None:
    run = layermap("explain", *llama, "Functional.embedding.0.forward")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        "layermap: Functional.embedding.0.forward: is an API, and APIs are paired by what they do and in order;"
        " give its module\n"
    )


def test_the_side_of_a_path_can_be_told(llama: tuple[Path, Path]) -> None:
    sides = [
        json.loads(layermap("explain", *llama, "lm_head", "--format", "json", *more).stdout)["side"]
        for more in ((), ("--side", "bench"))
    ]
    assert sides == ["npu", "bench"]
    run = layermap("explain", *llama, "model.layers", "--side", "npu")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("layermap: model.layers: no module of the npu side has this path;")


def test_a_hint_names_a_path_once(llama: tuple[Path, Path]) -> None:
    assert layermap("explain", *llama, "lm_heat").stderr.count("lm_head") == 1


def test_a_module_without_counterpart_says_so_and_shows_the_nearest(llama: tuple[Path, Path]) -> None:
    run = layermap("explain", *llama, "transformer.h.0.post_attention_norm")
    assert run.returncode == 0
    assert "\nno counterpart: whatever is free on the other side is more likely wrong than right\n" in run.stdout
    answer = json.loads(layermap("explain", *llama, "transformer.h.0.post_attention_norm", "--format", "json").stdout)
    assert (answer["chosen"], answer["confidence"]) == (None, None)


def test_printed_models_have_no_statistics_to_show(examples: Path) -> None:
    sides = examples / "qwen2_5_vl.mindspeed_mm.txt", examples / "qwen2_5_vl.llamafactory.txt"
    found = layermap("tree", sides[0], "--format", "paths").stdout.splitlines()
    path = next(line.split("\t")[0] for line in found if "linear_proj" in line)
    run = layermap("explain", *sides, path)
    assert run.returncode == 0
    assert "output" not in run.stdout
    assert "\nchosen  " in run.stdout


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (
            "transformer.h.0.mlp.fc_7",
            f"layermap: transformer.h.0.mlp.fc_7: {UNKNOWN}; did you mean "
            + " or ".join(f"transformer.h.{name}" for name in ("0.mlp.fc_2", "0.mlp.fc_1", "2.mlp.fc_2"))
            + "?\n",
        ),
        ("?", f"layermap: ?: {UNKNOWN}; `layermap tree --format paths` lists them\n"),
        ("", f"layermap: an empty path: {UNKNOWN}; `layermap tree --format paths` lists them\n"),
    ],
)
def test_an_unknown_path_is_an_error_with_what_comes_near(llama: tuple[Path, Path], path: str, said: str) -> None:
    run = layermap("explain", *llama, path)
    assert (run.returncode, run.stdout, run.stderr) == (2, "", said)
