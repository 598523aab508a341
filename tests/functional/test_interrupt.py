"""Ctrl-C in the middle of the work, and the line of progress, through the real command on a real terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.generate import Net
from benchmarks.speed import made

COMMAND = [sys.executable, "-m", "suggest"]


def until(descriptor: int, sign: bytes) -> bytes:
    """What a terminal shows until it shows a sign."""
    shown = b""
    while sign not in shown:
        shown += os.read(descriptor, 4096)
    return shown


def rest(descriptor: int) -> bytes:
    shown = b""
    try:
        while piece := os.read(descriptor, 4096):
            shown += piece
    except OSError:  # the other end is closed
        pass
    return shown


def test_a_terminal_shows_the_stage_and_an_interrupt_clears_it(examples: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "suggest", "-", str(examples / "gpu.json"), "-o", str(tmp_path / "mapping.yaml")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = until(ours, b"reading standard input")
    assert b"\n" not in shown
    process.send_signal(signal.SIGINT)
    shown = rest(ours)
    output, _ = process.communicate()
    assert process.returncode == 130
    assert output == b""
    assert shown.replace(b"\r\n", b"\n").split(b"\r")[-1].strip() == b"layermap: interrupted"
    assert list(tmp_path.iterdir()) == []
    os.close(ours)


def until_it_reads(process: subprocess.Popen[str]) -> None:
    """Wait until it, or a process that it started, has a file of a dump open; where nobody can tell, a second."""
    tasks = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not tasks.is_file():
        time.sleep(1.0)
        return
    while process.poll() is None:
        with contextlib.suppress(OSError):
            opened = [Path(f"/proc/{task}/fd") for task in (process.pid, *tasks.read_text().split())]
            if any(str(link.readlink()).endswith("dump.json") for place in opened for link in place.iterdir()):
                return
        time.sleep(0.01)


@pytest.mark.parametrize(("style", "delay"), [("yaml", 0.0), ("pairs", 0.0), ("pairs", 0.3), ("pairs", 0.6)])
def test_an_interrupt_at_any_time_leaves_nothing_behind(tmp_path: Path, style: str, delay: float) -> None:
    """A format that names every module takes long enough to be interrupted anywhere."""
    sides = made(tmp_path / "in", Net(layers=61, experts=96))
    place = tmp_path / "out"
    place.mkdir()
    process = subprocess.Popen(
        [*COMMAND, "suggest", *sides, "--format", style, "-o", str(place / "mapping.yaml")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until_it_reads(process)
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    output, errors = process.communicate()
    assert (process.returncode, output, errors.lstrip("\n")) == (130, "", "layermap: interrupted\n")
    assert list(place.iterdir()) == []


def test_an_interrupt_while_loading_says_nothing_either(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import suggest.__main__ as m; m.run()"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (130, b"", b"")
