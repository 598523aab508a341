"""Do the same for many inputs on all cores that there are, results in the order of the inputs.

Hashing leaves the interpreter, so threads are enough for it. Parsing does not; it goes to forked processes, which need
nothing set up and hand their results back pickled. Packing what a whole dump tells takes half of what reading it
takes, and unpacking a third, which only one process can do: so two or three cores gain nothing, and small inputs
nothing on any number, unless the results are small.
Limits: no processes where there is no fork, or where other threads run, which a fork would leave in the middle of
whatever they do; then one is read after the other.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")
LEAST = 1 << 26  # bytes of input below which starting processes or threads takes longer than it saves
LEAST_FOR_LITTLE = 1 << 23  # the same for processes that hand back little
FEWEST = 4  # cores from which on processes are faster than one after the other


def with_threads(work: Callable[[Item], Found], items: Sequence[Item], size: int) -> list[Found]:
    """The results of work that leaves the interpreter; ``size`` is how many bytes all inputs have."""
    if len(items) < 2 or size < LEAST or cores() < 2:
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  start-up: one small input needs none of it

    pool = ThreadPoolExecutor(cores())
    try:
        return list(pool.map(work, items))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def with_processes(
    work: Callable[[Item], Found], items: Sequence[Item], size: int, *, small: bool = False
) -> Iterator[Found]:
    """The results of work that keeps the interpreter busy, of as many at a time as there are cores; ``small`` says that
    the results are, whatever the inputs.
    """
    least, fewest = (LEAST_FOR_LITTLE, 2) if small else (LEAST, FEWEST)
    if len(items) < 2 or size < least or cores() < fewest or not _may_fork():
        yield from map(work, items)
        return
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415
    from multiprocessing import active_children, get_context  # noqa: PLC0415

    count = min(cores(), len(items))
    pool = ProcessPoolExecutor(count, get_context("fork"), _die_quietly)
    try:
        for start in range(0, len(items), count):
            yield from pool.map(work, items[start : start + count])
    except BaseException:
        for child in active_children():  # nobody waits for what they are at
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def cores() -> int:
    """The cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _may_fork() -> bool:
    return hasattr(os, "fork") and threading.active_count() == 1


def _die_quietly() -> None:
    """An interrupt reaches the processes too; only the first one says so."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(1))
