"""One line on the terminal for work that takes more than a second: what is being read, how much of it, how fast.

    with shown(quiet=False):
        ...                        # whatever reads says so with `reading`, other work with `stage`

    reading npu/dump.json  412 MB  180 MB/s

A timer asks how far the file at hand has been read, so that readers pay nothing for being watched, and no thread runs
beside them. The line is rewritten in place and cleared at the end, of whatever kind that is. Nothing is shown where
standard error is no terminal, nor where there are no timers (Windows).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

PATIENCE = 1.0  # seconds of work that nobody wonders about
_PACE = 0.2
_MEGABYTE = 1e6


@dataclass(slots=True)
class Line:
    """What is being done, since when, and the descriptor of the file that is being read."""

    stage: str = ""
    since: float = field(default_factory=time.monotonic)
    descriptor: int | None = None
    width: int = 0  # of what stands on the terminal

    def text(self, now: float) -> str:
        """The line; without figures where nothing is being read, or nobody can tell how far."""
        done = self._bytes() / _MEGABYTE
        if done <= 0:
            return self.stage
        return f"{self.stage}  {done:.0f} MB  {done / max(now - self.since, 1e-3):.0f} MB/s"

    def _bytes(self) -> int:
        if self.descriptor is None:
            return 0
        try:
            return os.lseek(self.descriptor, 0, os.SEEK_CUR)
        except OSError:  # closed by now, or a pipe
            return 0

    def show(self) -> None:
        """Write over what stands there."""
        room = shutil.get_terminal_size().columns - 1
        text = self.text(time.monotonic())[:room]
        _write(f"\r{text:<{min(self.width, room)}}")
        self.width = len(text)

    def clear(self) -> None:
        if self.width:
            _write(f"\r{'':<{self.width}}\r")
            self.width = 0


_line = Line()


def stage(what: str, descriptor: int | None = None) -> None:
    """Say what is done from now on."""
    _line.stage, _line.since, _line.descriptor = what, time.monotonic(), descriptor


def reading(label: str, descriptor: int | None = None) -> None:
    """Say which file is read from now on, and through which descriptor."""
    stage(f"reading {label}", descriptor)


@contextlib.contextmanager
def shown(*, quiet: bool = False) -> Iterator[None]:
    """Show the line while the work inside takes more than a second."""
    if quiet or sys.stderr is None or not sys.stderr.isatty() or not _has_timer():
        yield
        return
    stage("starting")
    before = signal.signal(signal.SIGALRM, lambda *_: _line.show())
    signal.setitimer(signal.ITIMER_REAL, PATIENCE, _PACE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        _line.clear()


def _has_timer() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def _write(text: str) -> None:
    """Past the buffer, which the interrupted work may be writing to; a terminal that is gone is no reason to stop."""
    with contextlib.suppress(OSError):
        os.write(sys.stderr.fileno(), text.encode(errors="replace"))
