"""Where two runs stop agreeing: the first matched module, in order of execution, whose results differ.

That is what somebody who compares two runs is looking for. The statistics of first results are compared, of the first
call of every matched module; a dump holds a module after everything inside it, so the first that differs is the
innermost. Limits: shards of a tensor have another size than the whole and are not compared; equal statistics do not
prove equal tensors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matcher import Numbers, comparable, difference

from .repeats import counterparts
from .source import Source

_AGREES = 1e-2  # relative difference up to which two results are reported as equal: a rounding or two of bfloat16


@dataclass(frozen=True, slots=True)
class Drift:
    """How many matched modules could be compared, how many agree, and the paths of the first that do not, if any.

    ``exact`` says that they were compared by nothing but their md5, which any rounding changes.
    """

    compared: int
    agreeing: int
    first: tuple[str, str] | None
    exact: bool = False

    def line(self) -> str:
        """In words; "" where nothing could be compared."""
        if not self.compared:
            return ""
        said = "have equal md5" if self.exact else f"agree within {_AGREES:.0%}"
        said = f"results {said} at {self.agreeing} of {self.compared} matched modules with statistics"
        return f"{said}; the first that do not: {self.first[0]} -> {self.first[1]}" if self.first else said


def drift(npu: Source, bench: Source, hit: Mapping[str, str]) -> Drift:
    """Compare what the modules returned that ``hit`` lays on each other, NPU path to bench path."""
    here, there = _results(npu), dict(_results(bench))
    if not here or not there:
        return Drift(0, 0, None)
    compared = agreeing = 0
    exact = True
    first: tuple[str, str] | None = None
    images = counterparts([path for path, _ in here], hit, npu.repeats, bench.repeats)
    for (path, ours), image in zip(here, images, strict=True):
        theirs = there.get(image) if image is not None else None
        if image is None or theirs is None or not comparable(ours, theirs):
            continue
        exact = exact and not (ours.measured and theirs.measured)
        compared += 1
        if difference(ours, theirs) <= _AGREES:
            agreeing += 1
        elif first is None:
            first = path, image
    return Drift(compared, agreeing, first, exact)


def _results(source: Source) -> Sequence[tuple[str, Numbers]]:
    """The statistics of the first results of modules, in the order of the dump."""
    if source.repeats:
        return source.results
    if not any(source.tree.outputs):
        return ()
    node_of, outputs = source.tree.id_of(), source.tree.outputs
    scopes = dict.fromkeys(entry.scope for entry in source.entries if entry.state == "forward")
    nodes = ((path, node_of.get(path)) for path in map(".".join, scopes))
    found = ((path, outputs[node]) for path, node in nodes if node is not None)
    return [(path, numbers) for path, numbers in found if numbers is not None]
