"""The speed benchmark's inputs are what msprobe would write, and its clock tells the time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.dumps import write_dump
from benchmarks.generate import DEEPSEEK, Net, megatron, nodes, transformers
from benchmarks.measure import cost, exponent, told
from benchmarks.speed import made
from suggest import make_draft, read_input


def test_deepseek_is_generated_at_its_full_size() -> None:
    assert nodes(megatron(DEEPSEEK)) > 45_000
    assert nodes(transformers(DEEPSEEK)) > 75_000


@pytest.mark.parametrize("size", [0, 200_000])
def test_generated_dumps_are_read_and_matched(tmp_path: Path, size: int) -> None:
    npu, gpu = made(tmp_path, Net(layers=4, experts=3), size)
    found = make_draft(read_input(npu), read_input(gpu))
    assert not found.faults
    assert not found.npu.notes
    sections = found.layer_map.sections()
    assert sections["TransformerLayer"] == {
        "self_attention": "self_attn",
        "pre_mlp_layernorm": "post_attention_layernorm",
    }
    assert sections["MoELayer"] == {"router": "gate", "experts.local_experts": "experts"}
    assert found.apis.matched > 10 if size else not found.apis.total


def test_a_mix_dump_is_as_large_as_asked_and_holds_backward_calls(tmp_path: Path) -> None:
    written = write_dump(tmp_path, megatron(Net(layers=1)), size=300_000)
    assert 300_000 <= written == (tmp_path / "dump.json").stat().st_size < 400_000
    dump, construct, stack = (
        json.loads((tmp_path / f"{name}.json").read_text()) for name in ("dump", "construct", "stack")
    )
    entry = dump["data"]["Module.module.decoder.layers.0.mlp.linear_fc1.ColumnParallelLinear.forward.1"]
    assert entry["parameters"]["weight"]["shape"] == [36_864, 7168]
    assert {"Max", "Min", "Mean", "Norm"} < set(entry["output"][0])
    assert construct["Torch.matmul.0.forward"].startswith("Module.")
    assert {"Torch.matmul.0.backward", *construct} <= {*dump["data"]}
    assert len(stack["0"][0]) == len(construct)


def test_the_clock() -> None:
    spent = cost(["-c", "import time; time.sleep(0.2); print('x' * 3)"], 1)
    assert spent is not None
    assert spent.seconds >= 0.2
    assert spent.said == "xxx\n"
    assert cost(["-c", "import time; time.sleep(9)"], 1, limit=0.1) is None
    assert exponent([10, 100, 1000], [3, 300, 30_000]) == pytest.approx(2.0)


def test_every_stage_is_timed(tmp_path: Path) -> None:
    stages = told(made(tmp_path, Net(layers=2)), 1)
    assert stages is not None
    assert stages["process"] > sum(stages["seconds"].values())
    assert list(stages["seconds"]) == ["import", "read", "align", "draft", "render"]
    assert stages["nodes"] == nodes(megatron(Net(layers=2))) + nodes(transformers(Net(layers=2)))
