"""The drafts of real pairs are right: the figures of benchmarks/README.md, as a floor."""

from __future__ import annotations

import pytest

from benchmarks.corpus import CASES, DATA, PAIRS, pairs
from benchmarks.numbers import scores
from benchmarks.quality import evaluate
from benchmarks.scoring import macro_f1


@pytest.mark.parametrize(("mode", "reverse", "floor"), [("dump", False, 0.999), ("text", True, 0.999)])
def test_real_pairs(mode: str, reverse: bool, floor: float) -> None:
    """Half of the table each, to keep the suite short; the benchmark scores both directions in every mode."""
    found = [evaluate(pair) for pair in pairs(PAIRS, mode) if pair.name.endswith("(reverse)") == reverse]
    assert len(found) == 35
    assert macro_f1(found) >= floor, [entry.name for entry in found if entry.f1 < 0.999]


@pytest.mark.bulk
@pytest.mark.parametrize("mode", ["dump", "text"])
def test_lists_of_keys_from_bug_reports(mode: str) -> None:
    found = [evaluate(pair) for pair in pairs(CASES, mode)]
    assert len(found) == 20
    assert macro_f1(found) >= 0.97, [entry.name for entry in found if entry.f1 < 0.97]


@pytest.mark.bulk
def test_names_help_and_are_no_crutch() -> None:
    assert macro_f1([evaluate(pair) for pair in pairs(scramble=0.5, only="hf")]) >= 0.9


def test_the_statistics_of_real_runs_find_what_meaningless_names_hide() -> None:
    found = scores(DATA / "dumps", 1.0, "numbers")
    assert len(found) == 6
    assert min(entry.f1 for entry in found) >= 0.95, [(entry.name, entry.f1) for entry in found]


@pytest.mark.bulk
def test_the_sizes_of_results_help_where_the_weights_differ() -> None:
    blind, sized = (macro_f1(scores(DATA / "dumps", 1.0, run)) for run in ("structure", "sizes"))
    assert sized >= 0.9
    assert sized > blind
