"""Precision, recall and F1 of a replayed mapping against gold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .corpus import Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Counts over the called NPU modules that gold speaks of; a match of a one-sided module is a false one."""

    name: str
    family: str
    gold: int
    right: int
    wrong: int
    rules: int = 0
    seconds: float = 0.0

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def score(pair: Pair, predicted: Mapping[str, str], rules: int = 0, seconds: float = 0.0) -> Score:
    """Score NPU path -> bench path, both of called modules."""
    right = sum(predicted.get(a) == b for a, b in pair.gold.items())
    wrong = sum(a in predicted and predicted[a] != b for a, b in pair.gold.items())
    wrong += sum(a in predicted for a in pair.npu_only)
    return Score(
        name=pair.name, family=pair.family, gold=len(pair.gold), right=right, wrong=wrong, rules=rules, seconds=seconds
    )


def macro_f1(scores: Sequence[Score]) -> float:
    """The mean F1 of pairs, each counting the same."""
    return sum(entry.f1 for entry in scores) / len(scores) if scores else 0.0


def summary_line(scores: Sequence[Score]) -> str:
    """Macro F1, and micro figures over all modules of all pairs."""
    right, wrong, gold = (sum(getattr(entry, name) for entry in scores) for name in ("right", "wrong", "gold"))
    precision, recall = right / (right + wrong) if right + wrong else 0.0, right / gold if gold else 0.0
    perfect = sum(entry.f1 > 0.9999 for entry in scores)
    return (
        f"{len(scores)} pairs: macro F1 {macro_f1(scores):.4f}, micro P {precision:.4f} R {recall:.4f},"
        f" perfect {perfect}"
    )


def by_family(scores: Iterable[Score]) -> dict[str, list[Score]]:
    """Scores grouped by family, families in order of first appearance."""
    found: dict[str, list[Score]] = {}
    for entry in scores:
        found.setdefault(entry.family, []).append(entry)
    return found
