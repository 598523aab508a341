"""The whole loop once with the real msprobe: draft, graph_visualize, and what its result database says."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from suggest.cli import main

DUMPS = Path(__file__).parent.parent / "data" / "dumps" / "gpt__legacy_core"
VISUALIZE = "import sys; sys.argv[0] = 'msprobe'; from msprobe.msprobe import main; main()"


def matched_modules(out: Path) -> dict[str, str]:
    """NPU module -> bench module, for the forward modules that msprobe has matched."""
    (result,) = out.glob("*.vis.db")
    with sqlite3.connect(result) as database:
        rows = database.execute(
            "select node_name, matched_node_link from tb_nodes where data_source = 'NPU' and node_type = 0"
        ).fetchall()
    links = {name: json.loads(link) for name, link in rows if link and ".forward." in name}
    return {path(name): path(link[-1]) for name, link in links.items() if link}


def path(node: str) -> str:
    """The module path in ``Module.<path>.<Class>.forward.0``, possibly behind the prefix of its side."""
    return ".".join(node[node.index("Module.") :].split(".")[1:-3])


def visualize(out: Path, *more: str) -> dict[str, str]:
    sides = ("-tp", str(DUMPS / "left" / "step0"), "-gp", str(DUMPS / "right" / "step0"), "-o", str(out))
    run = subprocess.run(
        [sys.executable, "-c", VISUALIZE, "graph_visualize", *sides, *more],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return matched_modules(out)


@pytest.fixture(autouse=True)
def private_dumps() -> None:
    """msprobe refuses files that others may write."""
    for file in DUMPS.rglob("*.json"):
        file.chmod(0o640)


def test_msprobe_matches_nothing_without_and_38_of_45_modules_with_our_mapping(tmp_path: Path) -> None:
    mapping = tmp_path / "mapping.yaml"
    with pytest.raises(SystemExit) as done:
        main(["suggest", "-q", str(DUMPS / "left"), str(DUMPS / "right"), "-o", str(mapping)])
    assert done.value.code == 0
    mapping.chmod(0o640)
    assert visualize(tmp_path / "without") == {}
    matched = visualize(tmp_path / "with", "-lm", str(mapping))
    gold = dict(json.loads((DUMPS / "gold.json").read_text())["pairs"])
    assert len(matched) >= 38
    assert {a: b for a, b in matched.items() if gold.get(a, b) != b} == {}
