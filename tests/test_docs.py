"""The README's commands work as printed, and every command is documented."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from suggest.cli import cli

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def input_commands() -> list[str]:
    """The example commands of the table of inputs that use files of this repository."""
    section = README.split("## Inputs")[1].split("## ")[0]
    return [line for line in re.findall(r"`(layermap suggest [^`]*examples/[^`]*)`", section) if "keys.txt" not in line]


@pytest.mark.parametrize("command", input_commands())
def test_every_input_of_the_readme_is_read(command: str) -> None:
    words = shlex.split(command)
    stdin = None
    if "<" in words:
        stdin = (ROOT / words[-1]).read_text()
        words = words[: words.index("<")]
    run = subprocess.run(
        [sys.executable, "-m", "suggest", *words[1:]],
        input=stdin,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("# layermap draft: NPU ")


def test_the_readmes_list_of_names_is_read(tmp_path: Path) -> None:
    keys = tmp_path / "keys.txt"
    keys.write_text("model.decoder.layers.0.mlp.linear_fc1.weight (256, 64)\nmodel.embedding.word_embeddings.weight\n")
    run = subprocess.run(
        [sys.executable, "-m", "suggest", "suggest", keys, ROOT / "examples" / "gpu.json"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert run.returncode in (0, 1), run.stderr


def test_the_draft_in_the_readme_is_the_real_one() -> None:
    shown = README.split("```yaml\n")[1].split("```")[0]
    run = subprocess.run(
        [sys.executable, "-m", "suggest", "suggest", "-q", "examples/npu.json", "examples/gpu.json"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert run.stdout.startswith(shown)


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_command_is_in_the_readme_and_has_help(name: str) -> None:
    assert f"`layermap {name} " in README
    assert cli.commands[name].help
    for option in cli.commands[name].params:
        assert option.name


def test_every_option_of_suggest_is_in_the_readme() -> None:
    for option in cli.commands["suggest"].params:
        if option.param_type_name == "option":
            assert any(flag in README for flag in option.opts), option.opts
