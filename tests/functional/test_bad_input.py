"""Unusable input: one clear line on standard error, exit 2, nothing on standard output."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from suggest.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as done:
        main(list(arguments))
    out, err = capsys.readouterr()
    assert isinstance(done.value.code, int)
    return done.value.code, out, err


def missing(folder: Path, examples: Path) -> Path:
    return folder / "nowhere.json"


def empty(folder: Path, examples: Path) -> Path:
    (folder / "empty.json").write_text(" \n")
    return folder / "empty.json"


def binary(folder: Path, examples: Path) -> Path:
    (folder / "model.pt").write_bytes(b"PK\x03\x04\x00\xff\xfe\x00" * 9)
    return folder / "model.pt"


def truncated(folder: Path, examples: Path) -> Path:
    (folder / "dump.json").write_text((examples / "npu.json").read_text()[:5000])
    return folder / "dump.json"


def other_json(folder: Path, examples: Path) -> Path:
    (folder / "config.json").write_text('{"task": "statistics", "level": "mix", "rank": []}')
    return folder / "config.json"


def json_list(folder: Path, examples: Path) -> Path:
    (folder / "list.json").write_text("[1, 2]")
    return folder / "list.json"


def prose(folder: Path, examples: Path) -> Path:
    (folder / "notes.txt").write_text("Here is what we did yesterday.\nNothing worked, so we went home.\n")
    return folder / "notes.txt"


def cut_off(folder: Path, examples: Path) -> Path:
    lines = (examples / "qwen2_5_vl.mindspeed_mm.txt").read_text().splitlines()
    (folder / "cut.txt").write_text("\n".join(lines[:30]))
    return folder / "cut.txt"


def closed_too_often(folder: Path, examples: Path) -> Path:
    (folder / "extra.txt").write_text("A(\n  (b): B()\n)\n)\n")
    return folder / "extra.txt"


def swapped(folder: Path, examples: Path) -> Path:
    (folder / "mapping.yaml").write_text('# draft\nTopLayer:\n  "module": "model"\n')
    return folder / "mapping.yaml"


def no_dump_inside(folder: Path, examples: Path) -> Path:
    (folder / "out").mkdir()
    return folder / "out"


def only_apis(folder: Path, examples: Path) -> Path:
    (folder / "dump.json").write_text('{"task": "statistics", "data": {"Torch.add.0.forward": {}}}')
    return folder / "dump.json"


def wrong_range(folder: Path, examples: Path) -> Path:
    (folder / "range.txt").write_text("A(\n  (0-3): 9 x B(\n    (c): C()\n  )\n)\n")
    return folder / "range.txt"


EXPECTED: dict[Callable[[Path, Path], Path], str] = {
    missing: "nowhere.json: no such file or directory; check the path",
    empty: "empty.json: the input is empty; give an msprobe dump",
    binary: "model.pt: neither text nor JSON: the file is binary",
    truncated: "dump.json:264: not valid JSON at column",
    other_json: "config.json: JSON of an unknown kind (top keys: task, level, rank)",
    json_list: "list.json: no module found in the text",
    prose: "notes.txt: no module found in the text",
    cut_off: "cut.txt:28: the printed model is cut off: MLP is opened here and never closed",
    closed_too_often: "extra.txt:4: ')' closes a module that was never opened",
    swapped: "mapping.yaml: this is a layer mapping, not a model; the arguments seem to be swapped",
    no_dump_inside: "out: no dump.json or construct.json in this directory",
    only_apis: "dump.json: no module among the recorded entries",
    wrong_range: "range.txt:2: (0-3) does not stand for 9 modules",
}


@pytest.mark.parametrize("make", EXPECTED, ids=lambda make: make.__name__)
@pytest.mark.parametrize("side", [0, 1])
def test_bad_side_is_one_line_and_exit_2(
    make: Callable[[Path, Path], Path], side: int, tmp_path: Path, examples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(examples / "npu.json"), str(examples / "gpu.json")]
    arguments[side] = str(make(tmp_path, examples))
    code, out, err = run(capsys, "suggest", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("layermap: ")
    assert err.count("\n") == 1
    assert EXPECTED[make] in err


def test_mapping_that_is_no_yaml_is_one_line_with_its_place(
    tmp_path: Path, examples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.yaml").write_text("TopLayer:\n\tmodule: model\n")
    code, out, err = run(
        capsys, "check", str(tmp_path / "m.yaml"), str(examples / "npu.json"), str(examples / "gpu.json")
    )
    assert (code, out) == (2, "")
    assert f"{tmp_path}/m.yaml:2: not valid YAML" in err


def test_a_model_given_as_mapping_is_rejected_by_check(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", *[str(examples / name) for name in ("npu.json", "npu.json", "gpu.json")])
    assert code == 1
    assert "LM101" in out


def test_interrupt_is_exit_130_without_a_file(
    tmp_path: Path, examples: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("suggest.draft.align", interrupted)
    place = tmp_path / "m.yaml"
    code, out, err = run(capsys, "suggest", str(examples / "npu.json"), str(examples / "gpu.json"), "-o", str(place))
    assert (code, out, err.strip()) == (130, "", "layermap: interrupted")
    assert list(tmp_path.iterdir()) == []


def test_help_of_every_command_says_what_the_sides_are() -> None:
    from suggest.cli import cli

    for name, command in cli.commands.items():
        shown = CliRunner().invoke(command, ["--help"]).output
        assert "NPU" in shown, name


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("suggest - {gpu} <&-", 2, "layermap: standard input: is closed; pipe a text into it, or give a file\n"),
        ("suggest {npu} {gpu} -q >&-", 2, "layermap: standard output: is closed; give a file with -o\n"),
        ("suggest {npu} {gpu} -q -o {out} >&-", 0, ""),
        ("--version >&-", 0, ""),
        ("suggest {npu} {gpu} -o {out} 2>&-", 0, ""),
    ],
)
def test_closed_streams_are_no_traceback(command: str, code: int, said: str, examples: Path, tmp_path: Path) -> None:
    names = {"npu": examples / "npu.json", "gpu": examples / "gpu.json", "out": tmp_path / "m.yaml"}
    told = {name: shlex.quote(str(place)) for name, place in names.items()}
    shell = f"{shlex.quote(sys.executable)} -m suggest {command.format(**told)}"
    run = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (code, "", said)
