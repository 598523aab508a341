"""The page from ``layermap review --serve``, in the browser."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import Opener

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def served(examples: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str, Path]]:
    goal = tmp_path / "mapping.yaml"
    sides = [str(examples / "npu.json"), str(examples / "gpu.json")]
    command = [sys.executable, "-m", "suggest", "review", "--serve", *sides, "-o", str(goal)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    yield process, process.stdout.readline().strip(), goal
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)


def test_two_tabs_save_and_the_server_ends_with_the_last(
    served: tuple[subprocess.Popen[str], str, Path], open_page: Opener
) -> None:
    process, address, goal = served
    one, other = open_page(address), open_page(address)
    one.keyboard.press("n")
    one.keyboard.press("ArrowDown")
    one.keyboard.press("x")
    one.keyboard.press("s")
    one.wait_for_selector("#status:has-text('saved')")
    first = goal.read_text()
    assert "_no_counterpart" in first
    other.bring_to_front()
    other.keyboard.press("a")
    with other.expect_response(lambda answer: answer.url.endswith("/save") and answer.status == 409):
        other.keyboard.press("s")
    other.wait_for_selector("#conflict[open]")
    assert goal.read_text() == first
    with other.expect_response(lambda answer: answer.url.endswith("/save") and answer.ok):
        other.click("#overwrite")
    other.wait_for_selector("#status:has-text('saved')")
    assert goal.read_text() != first
    assert Path(f"{goal}.bak").read_text() == first
    one.close()
    assert process.poll() is None
    other.close()
    assert process.wait(timeout=20) == 0
