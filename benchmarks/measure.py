"""Time and memory of commands, each run in a process of its own, and how time grows with size."""

from __future__ import annotations

import json
import math
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

ROOT = Path(__file__).parent.parent
_KILOBYTES = 1024 if sys.platform != "darwin" else 1
_ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "MSPROBE_LOG_LEVEL": "3"}


@dataclass(frozen=True, slots=True)
class Cost:
    """Median seconds of several runs, of which the processor was busy, the most memory in MB, and what was printed.

    On a machine that is shared, the seconds of the processor are the fairer ones.
    """

    seconds: float
    busy: float
    megabytes: float
    said: str = ""


def cost(arguments: Sequence[str], runs: int, limit: float = 3600.0) -> Cost | None:
    """What ``python ARGUMENTS`` costs; None if it fails, or takes longer than the limit."""
    found = []
    for _ in range(runs):
        one = _once(arguments, limit)
        if one is None:
            return None
        found.append(one)
    return Cost(
        seconds=statistics.median(one.seconds for one in found),
        busy=statistics.median(one.busy for one in found),
        megabytes=max(one.megabytes for one in found),
        said=found[-1].said,
    )


def _once(arguments: Sequence[str], limit: float) -> Cost | None:
    with TemporaryFile() as said:
        start = time.perf_counter()
        child = subprocess.Popen(
            [sys.executable, *arguments], stdout=said, stderr=subprocess.DEVNULL, cwd=ROOT, env=_ENVIRONMENT
        )
        previous = signal.signal(signal.SIGALRM, lambda *_: child.kill())
        signal.setitimer(signal.ITIMER_REAL, limit)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode()
    if child.returncode:
        return None
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _KILOBYTES / 1e6, text)


def told(arguments: Sequence[str], runs: int, limit: float = 3600.0) -> dict[str, Any] | None:
    """Medians of the seconds, and the most memory, by stage, of what ``python -m benchmarks.stages`` prints; and under
    ``process`` the median of the whole process, from its start to its end.
    """
    every = []
    whole = []
    for _ in range(runs):
        one = _once(["-m", "benchmarks.stages", *arguments], limit)
        if one is None:
            return None
        every.append(json.loads(one.said.splitlines()[-1]))
        whole.append(one.seconds)
    found: dict[str, Any] = {**every[-1], "process": statistics.median(whole)}
    found["seconds"] = {stage: statistics.median(one["seconds"][stage] for one in every) for stage in found["seconds"]}
    return found


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope of time against size, both as logarithms, by least squares."""
    xs, ys = [math.log(size) for size in sizes], [math.log(value) for value in seconds]
    x, y = statistics.fmean(xs), statistics.fmean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)
