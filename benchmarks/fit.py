"""Fit the matcher's weights with whole families of models left out, and say what that is worth.

    python -m benchmarks.fit [--steps 0.7 1.4]

Every weight is tried at a few multiples of its default, one at a time, on every pair: as names without shapes and with
half of the NPU side's names scrambled, the two modes that still have errors to learn from. For each family the setting
that is best on all *other* families is chosen and scored on the family that it has not seen. The last line says which
setting is best on all families: if that is not the default, the default in `matcher/score.py` is due for a change.
"""

from __future__ import annotations

import argparse
from dataclasses import fields, replace

from matcher import Options, Tree, Weights, align

from .corpus import FAMILIES, Pair, pairs
from .scoring import Score, macro_f1, score

MODES = (("dump", 0.0), ("names", 0.0), ("dump", 0.5))
FIXED = ("placeholder", "name_middle")  # definitions rather than weights
UNSEEN = ("output", "weight", "shape_in_proportion")  # no pair holds statistics, or networks of two widths


def evaluate(pair: Pair, options: Options) -> Score:
    """Score the alignment itself: synthesis is exact, so its replay would score the same."""
    npu, bench = pair.npu.source.tree, pair.bench.source.tree
    return score(pair, matched_paths(npu, bench, options))


def matched_paths(npu: Tree, bench: Tree, options: Options) -> dict[str, str]:
    """NPU path -> bench path of the called modules that are paired."""
    return {
        npu.paths[pair.npu]: bench.paths[pair.bench]
        for pair in align(npu, bench, options).pairs
        if npu.called[pair.npu] and bench.called[pair.bench]
    }


def settings(steps: list[float]) -> dict[str, Weights]:
    """The default, and every weight at every multiple."""
    default = Weights()
    found = {"default": default}
    for weight in fields(Weights):
        if weight.name not in FIXED + UNSEEN:
            for step in steps:
                found[f"{weight.name} x{step}"] = replace(
                    default, **{weight.name: getattr(default, weight.name) * step}
                )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=float, nargs="+", default=[0.7, 1.4])
    args = parser.parse_args()
    corpus = [(mode, share, pair) for mode, share in MODES for pair in pairs(mode=mode, scramble=share)]
    table: dict[str, list[tuple[str, float, Score]]] = {}
    for name, weights in settings(args.steps).items():
        options = Options(weights=weights)
        table[name] = [(mode, share, evaluate(pair, options)) for mode, share, pair in corpus]
        print(
            f"{name:24} " + "  ".join(f"{mode} {share}: {mean(table[name], mode, share):.4f}" for mode, share in MODES)
        )
    print(f"\n{'family left out':28} {'setting chosen on the others':30} held-out macro F1")
    held_out: list[Score] = []
    for family in FAMILIES:
        chosen = max(table, key=lambda name: (worth(table[name], family, inside=False), name == "default"))
        scores = [entry for mode, share, entry in table[chosen] if entry.family == family and (mode, share) == MODES[0]]
        held_out += scores
        print(f"{family:28} {chosen:30} {macro_f1(scores):.4f}")
    print(f"\nleft-out families: macro F1 {macro_f1(held_out):.4f}")
    best = max(table, key=lambda name: (worth(table[name], "", inside=False), name == "default"))
    print(f"best on all families: {best}")


def mean(rows: list[tuple[str, float, Score]], mode: str, share: float) -> float:
    return macro_f1([entry for here, part, entry in rows if (here, part) == (mode, share)])


def worth(rows: list[tuple[str, float, Score]], family: str, *, inside: bool) -> float:
    """Mean F1 in all modes on the pairs of one family, or on all others."""
    return macro_f1([entry for _, _, entry in rows if (entry.family == family) == inside])


if __name__ == "__main__":
    main()
