"""Where two runs stop agreeing: the first matched module, in order of execution, whose results differ.

That is what somebody who compares two runs is looking for. The statistics of first results are compared, of the first
call of every matched module; a dump holds a module after everything inside it, so the first that differs is the
innermost. Limits: shards of a tensor have another size than the whole and are not compared; equal statistics do not
prove equal tensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from matcher import comparable, difference

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
    if not any(npu.tree.outputs) or not any(bench.tree.outputs):
        return Drift(0, 0, None)
    node_of, place = npu.tree.id_of(), bench.tree.id_of()
    compared = agreeing = 0
    exact = True
    first: tuple[str, str] | None = None
    for scope in dict.fromkeys(entry.scope for entry in npu.entries if entry.state == "forward"):
        path = ".".join(scope)
        if path not in hit:
            continue
        ours, theirs = npu.tree.outputs[node_of[path]], bench.tree.outputs[place[hit[path]]]
        if ours is None or theirs is None or not comparable(ours, theirs):
            continue
        exact = exact and not (ours.measured and theirs.measured)
        compared += 1
        if difference(ours, theirs) <= _AGREES:
            agreeing += 1
        elif first is None:
            first = path, hit[path]
    return Drift(compared, agreeing, first, exact)
