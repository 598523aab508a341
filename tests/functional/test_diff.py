"""``layermap diff`` as a user runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_cli import layermap


@pytest.fixture
def sides(examples: Path) -> tuple[Path, Path]:
    return examples / "npu.json", examples / "gpu.json"


def test_other_words_for_the_same_mapping_are_no_difference(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    (tmp_path / "a.yaml").write_text("TopLayer:\n  module: model\n  module.module: model.module\n")
    (tmp_path / "b.yaml").write_text("# ours\nTopLayer: {module: model}\nNoSuchClass: {x: y}\n")
    run = layermap("diff", tmp_path / "a.yaml", tmp_path / "b.yaml", *sides)
    assert (run.returncode, run.stdout, run.stderr) == (0, "no node changes its counterpart\n", "")


def test_changed_nodes_are_named_layers_in_one_line(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    (tmp_path / "a.yaml").write_text(layermap("suggest", "-q", *sides).stdout)
    text = (tmp_path / "a.yaml").read_text().replace('"dense_4h_to_h": "linear_fc2" ', '"dense_4h_to_h": "linear_fc1" ')
    (tmp_path / "b.yaml").write_text(text)
    run = layermap("diff", tmp_path / "a.yaml", tmp_path / "b.yaml", *sides)
    assert run.returncode == 1
    lines = run.stdout.splitlines()
    assert lines[0].endswith(" nodes change their counterpart")
    layers = "module.module.language_model.encoder.layers.0-2.mlp"
    assert (
        f"{layers}.dense_4h_to_h (3): model.module.decoder.layers.0-2.mlp.linear_fc2"
        " -> model.module.decoder.layers.0-2.mlp.linear_fc1"
    ) in lines
    assert any(line.startswith(f"backward {layers}.dense_4h_to_h (3): ") for line in lines)


def test_a_file_that_msprobe_ignores_is_no_rules_at_all(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    (tmp_path / "a.yaml").write_text("TopLayer:\n  module: model\n  0: 1\n")
    (tmp_path / "b.yaml").write_text("{}\n")
    run = layermap("diff", tmp_path / "a.yaml", tmp_path / "b.yaml", *sides)
    assert (run.returncode, run.stdout) == (0, "no node changes its counterpart\n")
    assert "a.yaml:3: key 0 of section TopLayer is no string: msprobe ignores it all" in run.stderr
