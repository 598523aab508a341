"""What the statistics of real dumps are worth where names are worth nothing.

    python -m benchmarks.numbers [--scramble P] [DUMPS_DIR]

Every pair of dumps below the folder that has a ``gold.json``, in both directions, with a share of the NPU side's
distinct names and classes replaced by meaningless words (all of them by default), is aligned once with its statistics
and once without. The dumps are of one network in two code bases, with the same weights and input.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from matcher import Options, Tree
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


def pair_of(folder: Path, share: float, *, reverse: bool, numbers: bool) -> Pair:
    """One pair of dumps in one direction, its NPU side disguised."""
    sides = ("right", "left") if reverse else ("left", "right")
    npu, bench = read_pair(*(str(folder / side) for side in sides))
    tree, moved = disguised(npu.tree, share)
    trees = (tree, bench.tree) if numbers else (without_numbers(tree), without_numbers(bench.tree))
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


def scores(root: Path, share: float, *, numbers: bool) -> list[Score]:
    """One score for every pair of dumps and direction."""
    return [
        evaluate(pair_of(found.parent, share, reverse=reverse, numbers=numbers), Options())
        for found in sorted(root.glob("*/gold.json"))
        for reverse in (False, True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=DATA / "dumps")
    parser.add_argument("--scramble", type=float, default=1.0, metavar="P")
    args = parser.parse_args()
    blind, seeing = (scores(args.root, args.scramble, numbers=numbers) for numbers in (False, True))
    print(f"{'pair':34} {'gold':>5} {'names and structure':>20} {'and numbers':>12}")
    for without, with_numbers in zip(blind, seeing, strict=True):
        print(f"{without.name:34} {without.gold:5} {without.f1:20.3f} {with_numbers.f1:12.3f}")
    print(f"\nwithout numbers: {summary_line(blind)}\nwith numbers:    {summary_line(seeing)}")


if __name__ == "__main__":
    main()
