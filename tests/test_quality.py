"""The drafts of real pairs are right: the figures of benchmarks/README.md, as a floor."""

from __future__ import annotations

import pytest

from benchmarks.corpus import CASES, PAIRS, pairs
from benchmarks.quality import evaluate
from benchmarks.scoring import macro_f1


@pytest.mark.parametrize(("mode", "reverse", "floor"), [("dump", False, 0.999), ("text", True, 0.999)])
def test_real_pairs(mode: str, reverse: bool, floor: float) -> None:
    """Half of the table each, to keep the suite short; the benchmark scores both directions in every mode."""
    scores = [evaluate(pair) for pair in pairs(PAIRS, mode) if pair.name.endswith("(reverse)") == reverse]
    assert len(scores) == 35
    assert macro_f1(scores) >= floor, [entry.name for entry in scores if entry.f1 < 0.999]


@pytest.mark.parametrize("mode", ["dump", "text"])
def test_lists_of_keys_from_bug_reports(mode: str) -> None:
    scores = [evaluate(pair) for pair in pairs(CASES, mode)]
    assert len(scores) == 20
    assert macro_f1(scores) >= 0.97, [entry.name for entry in scores if entry.f1 < 0.97]


def test_names_help_and_are_no_crutch() -> None:
    assert macro_f1([evaluate(pair) for pair in pairs(scramble=0.5, only="hf")]) >= 0.9
