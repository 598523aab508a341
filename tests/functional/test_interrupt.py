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


def _opened(process: int, name: str) -> bool:
    """Whether a process has a file of this name open."""
    for link in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(OSError):
            if link.readlink().name == name:
                return True
    return False


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no list of a process's open files")
@pytest.mark.parametrize("delay", [0.0, 0.2, 0.5])
def test_an_interrupt_at_any_time_leaves_nothing_behind(tmp_path: Path, delay: float) -> None:
    sides = made(tmp_path / "in", Net(layers=61, experts=64))
    place = tmp_path / "out"
    place.mkdir()
    process = subprocess.Popen(
        [*COMMAND, "suggest", *sides, "-o", str(place / "mapping.yaml")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not _opened(process.pid, "dump.json"):  # before that, Python itself may still be starting
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate()
    assert (process.returncode, output, errors.lstrip("\n")) == (130, "", "layermap: interrupted\n")
    assert list(place.iterdir()) == []
