"""Fit the confidence of pairs, with whole families of models left out, and print how reliable it is.

    python -m benchmarks.calibrate

Collects the features (`matcher.confidence.Features`) of every pair that gold speaks of, in all modes and with names
scrambled, and fits a logistic regression. For every family the regression is fitted on the others; the reliability
table and the expected calibration error (ECE, ten bins) are those of the left-out predictions. The coefficients of the
last line, fitted on everything, are the defaults of `matcher.confidence.Calibration`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from matcher import Options, align
from matcher.confidence import Calibration

from .corpus import FAMILIES, Pair, pairs

MODES = (
    ("dump", 0.0, 1.0),
    ("names", 0.0, 1.0),
    ("dump", 0.25, 1.0),
    ("dump", 0.5, 1.0),
    ("names", 0.25, 1.0),
    ("names", 0.5, 1.0),
    ("dump", 1.0, 0.5),
)  # mode, scramble, weight
RIDGE = 1.0  # keeps coefficients finite where a feature separates right from wrong
BINS = 10


@dataclass(frozen=True, slots=True)
class Sample:
    """One predicted pair: its features, whether gold agrees, and how much it counts."""

    family: str
    features: tuple[float, ...]
    right: bool
    weight: float


def samples_of(pair: Pair, weight: float) -> list[Sample]:
    """Pairs that gold can judge, each family of equal ones counted once by weight."""
    npu, bench = pair.npu.source.tree, pair.bench.source.tree
    found = []
    alignment = align(npu, bench, Options())
    judged = [
        (entry, pair.gold.get(npu.paths[entry.npu]) == bench.paths[entry.bench])
        for entry in alignment.pairs
        if npu.paths[entry.npu] in pair.gold or npu.paths[entry.npu] in pair.npu_only
    ]
    for entry, right in judged:
        found.append(Sample(pair.family, entry.features, right, weight / len(judged)))
    return found


def fit(samples: list[Sample]) -> NDArray[np.float64]:
    """Coefficients of a weighted, ridged logistic regression, by Newton's method."""
    x = np.array([(1.0, *sample.features) for sample in samples])
    y = np.array([sample.right for sample in samples], dtype=float)
    w = np.array([sample.weight for sample in samples])
    w = w * len(w) / w.sum()
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-x @ beta))
        gradient = x.T @ (w * (y - p)) - RIDGE * beta
        hessian = (x * (w * p * (1 - p))[:, None]).T @ x + RIDGE * np.eye(len(beta))
        step = np.linalg.solve(hessian, gradient)
        beta = beta + step
        if float(np.abs(step).max()) < 1e-9:
            break
    return beta


def probability(beta: NDArray[np.float64], sample: Sample) -> float:
    return 1.0 / (1.0 + math.exp(-float(beta @ np.array((1.0, *sample.features)))))


def main() -> None:
    data = [
        s
        for mode, share, weight in MODES
        for pair in pairs(mode=mode, scramble=share)
        for s in samples_of(pair, weight)
    ]
    predicted: list[tuple[float, Sample]] = []
    for family in FAMILIES:
        beta = fit([sample for sample in data if sample.family != family])
        predicted += [(probability(beta, sample), sample) for sample in data if sample.family == family]
    total = sum(sample.weight for _, sample in predicted)
    print(f"{'confidence':>12} {'share':>7} {'said':>7} {'right':>7}")
    error = 0.0
    for index in range(BINS):
        inside = [(p, s) for p, s in predicted if index <= p * BINS < index + 1 or (index == BINS - 1 and p == 1.0)]
        weight = sum(s.weight for _, s in inside)
        if weight:
            said = sum(p * s.weight for p, s in inside) / weight
            right = sum(s.right * s.weight for _, s in inside) / weight
            error += weight / total * abs(said - right)
            print(f"{index / BINS:.1f} to {(index + 1) / BINS:.1f} {weight / total:8.3f} {said:7.3f} {right:7.3f}")
    sure = [(p, s) for p, s in predicted if p >= 0.9]
    share = sum(s.right * s.weight for _, s in sure) / sum(s.weight for _, s in sure)
    print(f"\nleft-out families: ECE {error:.4f}; of the pairs with confidence 0.9 and more {share:.4f} are right")
    names = [field.name for field in fields(Calibration)]
    print("on all families: " + ", ".join(f"{name}={value:.2f}" for name, value in zip(names, fit(data), strict=True)))


if __name__ == "__main__":
    main()
