"""``layermap review`` as a user runs it, without a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .test_cli import layermap


def data_of(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page.split('id="data">')[1].split("</script>", maxsplit=1)[0])
    return found


@pytest.fixture
def sides(examples: Path) -> tuple[Path, Path]:
    return examples / "npu.json", examples / "gpu.json"


def test_the_page_of_a_new_draft(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    run = layermap("review", *sides, "-o", tmp_path / "review.html")
    assert (run.returncode, run.stdout) == (0, "")
    assert run.stderr == f"open {tmp_path / 'review.html'} in a browser; it needs no network\n"
    page = (tmp_path / "review.html").read_text()
    assert data_of(page)["serve"] is None
    for output in ((), ("-o", "-")):
        run = layermap("review", *sides, *output)
        assert (run.returncode, run.stdout, run.stderr) == (0, page, "")


def test_the_page_of_a_mapping_shows_its_lines(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    (tmp_path / "ours.yaml").write_text('# by hand\nTopLayer:\n  "module": "model"  # asked Li\n')
    run = layermap("review", "-q", *sides, tmp_path / "ours.yaml", "-o", tmp_path / "review.html")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    data = data_of((tmp_path / "review.html").read_text())
    assert data["name"].endswith("ours.yaml")
    assert ["".join(line[1:4]) for line in data["lines"]] == (tmp_path / "ours.yaml").read_text().split("\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("TopLayer:\n  0: 1\n", "ours.yaml:2: key 0 of section TopLayer is no string"),
        ("A: [\n", "ours.yaml:2: not valid YAML"),
        (f"A: {'{a: ' * 3000}", "ours.yaml:1: not valid YAML"),
        ("!!python/object:os.system\nA:\n  a: b\n", "ours.yaml:1: no mapping of sections at the top level"),
    ],
)
@pytest.mark.parametrize("command", ["review", "keep"])
def test_a_mapping_that_cannot_be_used_is_one_line(
    tmp_path: Path, sides: tuple[Path, Path], text: str, said: str, command: str
) -> None:
    (tmp_path / "ours.yaml").write_text(text)
    mapping = tmp_path / "ours.yaml"
    run = layermap("review", *sides, mapping) if command == "review" else layermap("suggest", "--keep", mapping, *sides)
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert said in run.stderr


def test_lessons_with_remarks_are_taken(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    (tmp_path / "m.yaml").write_text("1:\n  a: b\nTopLayer:\n  module: model\n")
    run = layermap("suggest", "-q", "--learn", tmp_path / "m.yaml", *sides, *sides)
    assert (run.returncode, run.stderr) == (0, "")
