"""What the statistics of real dumps are worth where names are worth nothing.

    python -m benchmarks.numbers [--scramble P] [DUMPS_DIR]

Every pair of dumps below the folder that has a ``gold.json``, in both directions, with a share of the NPU side's
distinct names and classes replaced by meaningless words (all of them by default), is aligned without its statistics,
with statistics that differ everywhere, of which only the sizes of results tell anything, and with its own. The dumps
are of one network in two code bases, with the same weights and input.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

from matcher import Numbers, Options, Tree
from suggest.read import read_pair

from .corpus import DATA, Pair, Side, gold_of, scrambled
from .fit import evaluate
from .scoring import Score, summary_line


def disguised(tree: Tree, share: float) -> tuple[Tree, dict[str, str]]:
    """The tree with a share of its names and classes renamed, numbers kept, and old path -> new path."""
    modules = [{"path": path, "class": cls} for path, cls in zip(tree.paths, tree.classes, strict=True)]
    renamed, moved = scrambled(modules, share)
    known = zip(range(len(tree)), renamed, strict=True)
    called = [replace(tree.module(node, new["path"]), cls=new["class"]) for node, new in known if tree.called[node]]
    return Tree.build(called), moved


def without_numbers(tree: Tree) -> Tree:
    """The tree as a dump of structure alone would tell it."""
    nothing = (None,) * len(tree)
    return replace(tree, outputs=nothing, weights=nothing)


def of_other_weights(tree: Tree) -> Tree:
    """The tree as a run of other weights would tell it: sizes kept, all figures others."""
    random = Random(len(tree))  # noqa: S311  a benchmark wants the same figures every time

    def other(numbers: Numbers | None) -> Numbers | None:
        if numbers is None:
            return None
        high, low, norm = random.uniform(0.1, 9.0), -random.uniform(0.1, 9.0), random.uniform(1.0, 100.0)
        return Numbers(numbers.size, high, low, (high + low) / 2, norm)

    return replace(tree, outputs=tuple(map(other, tree.outputs)), weights=tuple(map(other, tree.weights)))


RUNS: dict[str, Callable[[Tree], Tree]] = {
    "structure": without_numbers,
    "sizes": of_other_weights,
    "numbers": lambda tree: tree,
}


def pair_of(folder: Path, share: float, *, reverse: bool, run: str) -> Pair:
    """One pair of dumps in one direction, its NPU side disguised."""
    sides = ("right", "left") if reverse else ("left", "right")
    npu, bench = read_pair(*(str(folder / side) for side in sides))
    tree, moved = disguised(npu.tree, share)
    trees = RUNS[run](tree), without_numbers(bench.tree) if run == "structure" else bench.tree
    here, there = (
        Side(
            modules=[],
            called=frozenset(path for path, called in zip(one.paths, one.called, strict=True) if called),
            source=replace(source, tree=one),
        )
        for source, one in zip((npu, bench), trees, strict=True)
    )
    gold, alone = gold_of(folder, reverse=reverse)
    known = {moved.get(a, a): b for a, b in gold.items()}
    return Pair(
        name=folder.name + (" (reverse)" if reverse else ""),
        family="dumps",
        npu=here,
        bench=there,
        gold={a: b for a, b in known.items() if a in here.called and b in there.called},
        npu_only=frozenset(moved.get(a, a) for a in alone) & here.called - known.keys(),
    )


def scores(root: Path, share: float, run: str) -> list[Score]:
    """One score for every pair of dumps and direction."""
    return [
        evaluate(pair_of(found.parent, share, reverse=reverse, run=run), Options())
        for found in sorted(root.glob("*/gold.json"))
        for reverse in (False, True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=DATA / "dumps")
    parser.add_argument("--scramble", type=float, default=1.0, metavar="P")
    args = parser.parse_args()
    found = {run: scores(args.root, args.scramble, run) for run in RUNS}
    print(f"{'pair':34} {'gold':>5} {'names and structure':>20} {'and sizes':>12} {'and numbers':>12}")
    for blind, sized, seeing in zip(*found.values(), strict=True):
        print(f"{blind.name:34} {blind.gold:5} {blind.f1:20.3f} {sized.f1:12.3f} {seeing.f1:12.3f}")
    print()
    for run, score in found.items():
        print(f"{run:10} {summary_line(score)}")


if __name__ == "__main__":
    main()
