"""The least number of rules under which every module lands where it should: an exact reference for the synthesis.

An integer linear program (HiGHS, by `scipy.optimize.milp`) over every rule that could ever fire. It models msprobe's
walk as it is: at each stop the longest key that begins the rest of the path wins, jumps over what it spans, and goes on
from where it lands, once and greedily. Modules that no one asks about may land anywhere, so their places are variables
too. Slow, and meant to be: it knows nothing of how `suggest.synthesise` works. Limits: places that no wanted module
stands below are only tried by name, or nowhere, which loses nothing, since no rule can profit from any other.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from suggest.needs import NO_COUNTERPART, Wanted, below, joined, nowhere, taken
from suggest.scopes import Scopes


@dataclass(slots=True)
class _Program:
    """Columns by name, and rows ``sum of (coefficient, column) <= bound``."""

    columns: dict[object, int] = field(default_factory=dict)
    rows: list[tuple[list[tuple[float, int]], float]] = field(default_factory=list)

    def column(self, *name: object) -> int:
        return self.columns.setdefault(name, len(self.columns))

    def at_most(self, bound: float, *terms: tuple[float, int]) -> None:
        self.rows.append((list(terms), bound))

    def exactly_one(self, columns: list[int]) -> None:
        self.at_most(1.0, *((1.0, column) for column in columns))
        self.at_most(-1.0, *((-1.0, column) for column in columns))


def least_rules(npu: Scopes, bench: Scopes, wanted: Wanted, seconds: float = 60.0) -> tuple[int, bool]:
    """The least number of rules, and whether that is proven; else the best lower bound after ``seconds``."""
    program = _program(npu, bench, wanted)
    cost = np.array([float(name[0] == "rule") for name in program.columns])  # type: ignore[index]
    entries = [(value, row, column) for row, (terms, _) in enumerate(program.rows) for value, column in terms]
    values, rows, columns = zip(*entries, strict=True)
    matrix = coo_array((values, (rows, columns)), shape=(len(program.rows), len(cost))).tocsr()
    limits = np.array([bound for _, bound in program.rows])
    result = milp(
        cost,
        constraints=LinearConstraint(matrix, -np.inf, limits),
        bounds=Bounds(0, 1),
        integrality=np.ones(len(cost), dtype=np.int8),
        options={"time_limit": seconds},
    )
    if result.status == 0:
        return round(result.fun), True
    return int(np.ceil((result.mip_dual_bound or 0.0) - 1e-6)), False


def _program(npu: Scopes, bench: Scopes, wanted: Wanted) -> _Program:
    program = _Program()
    images = _candidates(npu, bench, wanted)
    targets = _targets(npu, images)
    for (section, key), possible in targets.items():
        has = program.column("key", section, key)
        rules = [(1.0, program.column("rule", section, key, target)) for target in sorted(possible)]
        program.at_most(0.0, *rules, (-1.0, has))
        program.at_most(0.0, (1.0, has), *((-value, column) for value, column in rules))
    for node in range(1, len(npu)):
        program.exactly_one([program.column("image", node, image) for image in images[node]])
        _walk(program, npu, node)
        _land(program, npu, images, node)
    return program


def _ancestors(npu: Scopes, node: int) -> list[int]:
    """The nodes above, TopLayer first."""
    above = []
    while node:
        node = npu.parents[node]
        above.append(node)
    return above[::-1]


def _path(npu: Scopes, outer: int, inner: int) -> str:
    steps = []
    while inner != outer:
        steps.append(npu.names[inner])
        inner = npu.parents[inner]
    return ".".join(reversed(steps))


def _candidates(npu: Scopes, bench: Scopes, wanted: Wanted) -> list[list[str]]:
    """Where a node may land: on its counterpart; else by name, above a place that is wanted below, or nowhere."""
    above: dict[int, set[str]] = defaultdict(set)
    for node, scope in wanted.items():
        steps = scope.split(".") if scope else []
        for outer in _ancestors(npu, node)[1:]:
            above[outer].update(".".join(steps[:length]) for length in range(1, len(steps)))
    found: list[list[str]] = [[""]]
    for node in range(1, len(npu)):
        scope = wanted.get(node)
        if scope is not None:
            found.append([scope])
            continue
        parent = npu.parents[node]
        options = above[node] | {joined(outer, npu.names[node]) for outer in found[parent]}
        somewhere = (outer for outer in found[parent] if NO_COUNTERPART not in outer)
        options |= {joined(outer, nowhere(bench, npu.names[node])) for outer in somewhere}
        if node in wanted:
            options = {option for option in options if not taken(npu, bench, node, option)}
        found.append(sorted(options))
    return found


def _targets(npu: Scopes, images: list[list[str]]) -> dict[tuple[str, str], set[str]]:
    """Every rule that could fire: (section, key) -> targets."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for node in range(1, len(npu)):
        for stop in _ancestors(npu, node):
            section = npu.types[stop]
            if section is not None:
                pairs = ((outer, inner) for outer in images[stop] for inner in images[node])
                possible = {target for outer, inner in pairs if (target := below(outer, inner))}
                found[section, _path(npu, stop, node)] |= possible
    return {key: targets for key, targets in found.items() if targets}


def _walk(program: _Program, npu: Scopes, node: int) -> None:
    """Which ancestors the walk to a node stops at, and which of them is the last."""
    way = [*_ancestors(npu, node), node]
    stops = [program.column("stop", at, node) for at in way]
    program.at_most(-1.0, (-1.0, stops[0]))
    program.at_most(-1.0, (-1.0, stops[-1]))
    lasts = []
    for here, at in enumerate(way[:-1]):
        keys = {
            there: program.columns[name]
            for there in range(here + 1, len(way))
            if (name := ("key", npu.types[at], _path(npu, at, way[there]))) in program.columns
        }
        long = {there: key for there, key in keys.items() if there > here + 1}
        program.at_most(0.0, (1.0, stops[here]), (-1.0, stops[here + 1]), *((-1.0, key) for key in long.values()))
        for there, key in long.items():
            beyond = [(-1.0, other) for further, other in long.items() if further > there]
            program.at_most(1.0, (1.0, stops[here]), (1.0, key), (-1.0, stops[there]), *beyond)
            for between in range(here + 1, there):
                program.at_most(2.0, (1.0, stops[here]), (1.0, key), (1.0, stops[between]))
        last = program.column("last", at, node)
        lasts.append(last)
        program.at_most(0.0, (1.0, last), (-1.0, stops[here]))
        for between in range(here + 1, len(way) - 1):
            program.at_most(1.0, (1.0, last), (1.0, stops[between]))
    program.exactly_one(lasts)


def _land(program: _Program, npu: Scopes, images: list[list[str]], node: int) -> None:
    """Where the last step of the walk ends: by the rule that applies there, or by name."""
    for stop in _ancestors(npu, node):
        last = program.column("last", stop, node)
        section, key = npu.types[stop], _path(npu, stop, node)
        for outer in images[stop]:
            for inner in images[node]:
                when = [(1.0, last), (1.0, program.column("image", node, inner))]
                if stop:
                    when.append((1.0, program.column("image", stop, outer)))
                target = below(outer, inner)
                served = []
                if target and section is not None:
                    served = [(-1.0, program.column("rule", section, key, target))]
                bound = len(when) - 1.0
                if target and target == key and stop == npu.parents[node]:
                    name = ("key", section, key)
                    if name not in program.columns:
                        continue
                    served.append((1.0, program.columns[name]))
                    bound += 1.0
                program.at_most(bound, *when, *served)
