"""The line that a terminal shows, and when it shows none."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from suggest import progress
from suggest.files import Input
from suggest.progress import Line, reading, shown, stage


class Terminal:
    """A standard error that is a terminal, and keeps what is written past its buffer."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.stream = place.open("w+b", buffering=0)

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.stream.fileno()

    def said(self) -> str:
        return self.place.read_bytes().decode()


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    found = Terminal(tmp_path / "terminal")
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=found))
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setenv("COLUMNS", "80")
    return found


def test_the_line_tells_stage_bytes_and_rate(tmp_path: Path) -> None:
    place = tmp_path / "dump.json"
    with place.open("wb+") as stream:
        stream.truncate(500_000_000)
        os.lseek(stream.fileno(), 412_000_000, os.SEEK_SET)
        line = Line("reading npu/dump.json", since=10.0, descriptor=stream.fileno())
        assert line.text(12.0) == "reading npu/dump.json  412 MB  206 MB/s"
    assert line.text(12.0) == "reading npu/dump.json"  # closed


def test_an_input_says_that_it_is_read(tmp_path: Path) -> None:
    place = tmp_path / "a.json"
    place.write_text("{}")
    for _ in Input("a.json", place).chunks():
        assert progress._line.stage == "reading a.json"  # noqa: SLF001
        assert progress._line.descriptor is not None  # noqa: SLF001


def test_the_line_is_rewritten_in_place_and_cleared(terminal: Terminal) -> None:
    with shown():
        reading("a long name of a file")
        time.sleep(0.12)
        stage("short")
        time.sleep(0.4)
    said = terminal.said()
    assert said.startswith("\rreading a long name of a file")
    assert "\rshort" + " " * 24 in said
    assert said.endswith("\r     \r")
    assert "\n" not in said


def test_quick_work_says_nothing(terminal: Terminal) -> None:
    with shown():
        stage("reading")
    assert terminal.said() == ""


@pytest.mark.parametrize("quiet", [True, False])
def test_nothing_is_shown_without_a_terminal_or_if_quiet(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, quiet: bool
) -> None:
    if not quiet:
        monkeypatch.setattr(Terminal, "isatty", lambda _: False)
    with shown(quiet=quiet):
        time.sleep(0.15)
    assert terminal.said() == ""


def test_what_goes_wrong_clears_the_line_and_puts_the_old_handler_back(terminal: Terminal) -> None:
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(KeyboardInterrupt), shown():  # noqa: PT012
        time.sleep(0.12)
        raise KeyboardInterrupt
    assert terminal.said().endswith("\r        \r")
    assert signal.getsignal(signal.SIGALRM) is before


def test_another_thread_shows_nothing(terminal: Terminal) -> None:
    def work() -> None:
        with shown():
            time.sleep(0.12)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert terminal.said() == ""
