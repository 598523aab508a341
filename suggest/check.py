"""What is wrong with a mapping: replay it against both sides and name every rule that does not do what it says.

| code  | finding |
| ----- | ------- |
| LM101 | msprobe rejects the file and ignores all of it |
| LM102 | msprobe silently changes or drops something in the file |
| LM201 | a rule never fires: its section is never visited, or nothing stands at its key |
| LM202 | a rule sends modules to a path that does not exist on the bench side |
| LM203 | a rule changes nothing: without it every node lands at the same place; unless its comment says reviewed |
| LM204 | two NPU modules land on one bench module |

A rule that is meant to lead nowhere (its target ends in ``_no_counterpart``, as in a draft) is no finding. Unmatched
modules are listed, and are no finding either: most networks have some.
"""

from __future__ import annotations

from dataclasses import dataclass

from .collapse import collapsed
from .mapping import LayerMap, LoadedMapping, Rule
from .needs import NO_COUNTERPART
from .replay import NOWHERE, Landing, land, replay
from .scopes import Scopes
from .source import Source


@dataclass(frozen=True, slots=True)
class Finding:
    """``where`` is ``file:line``; ``hint`` says what to do."""

    code: str
    where: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Counts are (matched, all) by kind of entry; unmatched forward modules are collapsed over layers."""

    counts: dict[str, tuple[int, int]]
    findings: tuple[Finding, ...]
    unmatched: tuple[str, ...]


def check(loaded: LoadedMapping, npu: Source, bench: Source) -> Report:
    """Replay a mapping; if msprobe rejects the file, the counts are those of no mapping at all."""
    here, there = Scopes.build(npu.entries), Scopes.build(bench.entries)
    rejected = any(problem.fatal for problem in loaded.problems)
    layer_map = LayerMap() if rejected else loaded.layer_map
    landing = land(here, there, layer_map)
    matched = replay(here, there, layer_map)
    findings = [
        Finding("LM101" if problem.fatal else "LM102", f"{loaded.name}:{problem.line}", problem.message, problem.hint)
        for problem in loaded.problems
    ]
    for index, rule in enumerate(layer_map.rules):
        findings += _rule_findings(loaded, rule, index, here, there, landing)
    findings += _clashes(loaded.name, here, there, landing, layer_map)
    unmatched = [
        here.path(node)
        for node, states in enumerate(here.entries)
        for name in states.get("forward", [])[:1]
        if matched[name] is None and name.split(".", 1)[0] in ("Module", "Cell")
    ]
    return Report(counts=_counts(matched), findings=tuple(findings), unmatched=tuple(collapsed(unmatched)))


def _rule_findings(
    loaded: LoadedMapping, rule: Rule, index: int, here: Scopes, there: Scopes, landing: Landing
) -> list[Finding]:
    where, shown = f"{loaded.name}:{rule.line}", f"{rule.section}: {rule.key} -> {rule.target}"
    nodes = [node for node, fired in enumerate(landing.rules) if fired == index]
    if not nodes:
        visited = any(kind == rule.section for kind in here.types)
        why = "nothing stands at its key there" if visited else f"no module of class {rule.section} on the NPU side"
        return [Finding("LM201", where, f"{shown} never fires: {why}", "remove it, or correct its section or key")]
    if NO_COUNTERPART not in rule.target and all(landing.nodes[node] == NOWHERE for node in nodes):
        place = landing.scopes[nodes[0]]
        return [Finding("LM202", where, f"{shown}: the bench side has no {place}", "correct the target")]
    if rule.key == rule.target and rule.line not in loaded.reviewed:
        fewer = LayerMap(tuple(other for other in loaded.layer_map.rules if other is not rule))
        if land(here, there, fewer).scopes == landing.scopes:
            return [Finding("LM203", where, f"{shown} changes nothing", "remove it")]
    return []


def _clashes(name: str, here: Scopes, there: Scopes, landing: Landing, layer_map: LayerMap) -> list[Finding]:
    """Bench modules on which more than one NPU module lands, one finding for each pair of rules that does it."""
    first: dict[int, int] = {}
    found: dict[tuple[int, int], Finding] = {}
    for node, place in enumerate(landing.nodes):
        if place == NOWHERE or not here.entries[node].get("forward") or not there.entries[place].get("forward"):
            continue
        other = first.setdefault(place, node)
        if other != node:
            key = (landing.rules[other], landing.rules[node])
            line = next((layer_map.rules[rule].line for rule in reversed(key) if rule >= 0), None)
            message = f"{here.path(other)} and {here.path(node)} both land on {there.path(place)}"
            found.setdefault(key, Finding("LM204", f"{name}:{line or 1}", message, "keep one of them"))
    return list(found.values())


def _counts(matched: dict[str, str | None]) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for name, partner in matched.items():
        kind = _kind(name)
        done, total = counts.get(kind, (0, 0))
        counts[kind] = (done + (partner is not None), total + 1)
    return dict(sorted(counts.items()))


def _kind(name: str) -> str:
    if "parameters_grad" in name:
        return "parameter gradients"
    kind = "modules" if name.split(".", 1)[0] in ("Module", "Cell") else "APIs"
    return f"{kind} {'backward' if '.backward' in name else 'forward'}"


def render_report(report: Report) -> str:
    """The report as plain text: counts, findings, then what is not matched."""
    lines = [f"{kind}: {done} of {total} matched" for kind, (done, total) in report.counts.items()]
    lines += [f"{item.where}: {item.code} {item.message}; {item.hint}" for item in report.findings]
    if report.unmatched:
        lines += ["not matched:", *(f"  {path}" for path in report.unmatched)]
    lines.append(f"{len(report.findings)} findings" if len(report.findings) != 1 else "1 finding")
    return "\n".join(lines)
