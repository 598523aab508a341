"""Other matchers on the same pairs in the same run: accuracy and time beside layermap's.

    pip install 'layermap[peers]'
    python -m benchmarks.peers [--only SUBSTR] [--limit SECONDS]

- *names*: string similarity of last names (rapidfuzz), one Hungarian assignment over all nodes.
- *tree edit distance*: APTED (Pawlik and Augsten, 2016), rename cost by name similarity; its node mapping.
- *similarity flooding*: Melnik, Garcia-Molina and Rahm (2002) on the two trees, names as initial similarity, Hungarian.
- *COMA*: Valentine's implementation, each module a column named by its path.

Peers get equal help: repeated layers are folded to one for each distinct subtree, and unfolded by number afterwards. A
peer that takes longer than the limit on a pair is stopped there, and scored as having found nothing.
"""

from __future__ import annotations

import argparse
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import numpy as np
from rapidfuzz.distance import Indel
from scipy.optimize import linear_sum_assignment

from matcher import Module, Options, Tree

from .corpus import Pair, pairs
from .fit import matched_paths
from .scoring import Score, by_family, macro_f1, score

ROUNDS = 20
THRESHOLD = 0.35
Matcher = Callable[[Tree, Tree], dict[int, int]]


def folded(tree: Tree) -> Tree:
    """Of equal numbered siblings only the first."""
    shape: dict[int, object] = {}
    for node in range(len(tree) - 1, -1, -1):
        name = tree.names[node]
        shape[node] = (
            "#" if name.isdigit() else name,
            tree.classes[node],
            *(shape[child] for child in tree.children[node]),
        )
    dropped: set[int] = set()
    for below in tree.children:
        seen: set[object] = set()
        for child in below:
            if tree.names[child].isdigit() and shape[child] in seen:
                dropped.update(range(child, tree.ends[child]))
            seen.add(shape[child])
    return Tree.build(
        Module(tree.paths[node], tree.classes[node], tree.called[node], tree.params[node])
        for node in range(len(tree))
        if node not in dropped
    )


def unfolded(npu: Tree, bench: Tree, small: dict[str, str]) -> dict[str, str]:
    """Pairs of folded paths, applied to every path that differs in its numbers only, number by number."""
    pattern = {re.sub(r"\b\d+\b", "#", a): b for a, b in small.items()}
    known = set(bench.paths)
    found = {}
    for path in npu.paths:
        target = small.get(path) or pattern.get(re.sub(r"\b\d+\b", "#", path))
        if target and path not in small:
            target = renumbered(target, re.findall(r"\b\d+\b", path))
        if target in known:
            found[path] = target
    return found


def renumbered(path: str, numbers: list[str]) -> str:
    """The path with its numbers replaced, the last by the last."""
    steps = path.split(".")
    for at in range(len(steps) - 1, -1, -1):
        if steps[at].isdigit() and numbers:
            steps[at] = numbers.pop()
    return ".".join(steps)


def likeness(npu: Tree, bench: Tree) -> np.ndarray:
    return np.array([[Indel.normalized_similarity(a, b) for b in bench.names] for a in npu.names])


def assigned(matrix: np.ndarray, threshold: float = THRESHOLD) -> dict[int, int]:
    rows, columns = linear_sum_assignment(matrix, maximize=True)
    return {int(r): int(c) for r, c in zip(rows, columns, strict=True) if matrix[r, c] >= threshold}


def by_name(npu: Tree, bench: Tree) -> dict[int, int]:
    return assigned(likeness(npu, bench), 0.5)


def by_edit_distance(npu: Tree, bench: Tree) -> dict[int, int]:
    from apted import APTED, Config

    class ByName(Config):  # type: ignore[misc]  # apted has no types
        def rename(self, a: tuple[Tree, int], b: tuple[Tree, int]) -> float:
            return 1.5 * (1.0 - float(Indel.normalized_similarity(a[0].names[a[1]], b[0].names[b[1]])))

        def children(self, node: tuple[Tree, int]) -> list[tuple[Tree, int]]:
            return [(node[0], child) for child in node[0].children[node[1]]]

    mapping = APTED((npu, 0), (bench, 0), ByName()).compute_edit_mapping()
    return {a[1]: b[1] for a, b in mapping if a is not None and b is not None}


def by_flooding(npu: Tree, bench: Tree) -> dict[int, int]:
    """Similarity flows between pairs of parents and pairs of children, split evenly, until it settles."""
    start = likeness(npu, bench)
    up, over = np.array(npu.parents[1:]), np.array(bench.parents[1:])
    fan = np.outer([max(len(c), 1) for c in npu.children], [max(len(c), 1) for c in bench.children])
    now = start.copy()
    for _ in range(ROUNDS):
        flow = start + now
        flow[1:, 1:] += (now / fan)[np.ix_(up, over)]
        back = np.zeros_like(now)
        np.add.at(back, (up[:, None], over[None, :]), now[1:, 1:])
        now = flow + back
        now /= now.max()
    best = now / np.maximum(now.max(axis=1, keepdims=True), 1e-12)
    return assigned(np.where(best > 0.5, now, 0.0), 1e-3)


def by_coma(npu: Tree, bench: Tree) -> dict[int, int]:
    import pandas as pd
    from valentine import valentine_match
    from valentine.algorithms import Coma

    frames = [pd.DataFrame(columns=list(tree.paths[1:])) for tree in (npu, bench)]
    matches = valentine_match(frames, Coma(use_instances=False)).one_to_one_hungarian()
    place = [{path: node for node, path in enumerate(tree.paths)} for tree in (npu, bench)]
    return {place[0][pair.source_column]: place[1][pair.target_column] for pair in matches}


PEERS: dict[str, Matcher] = {
    "names": by_name,
    "tree edit distance": by_edit_distance,
    "similarity flooding": by_flooding,
    "COMA": by_coma,
}


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError

    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def run(pair: Pair, name: str, limit: int) -> Score:
    npu, bench = pair.npu.source.tree, pair.bench.source.tree
    start = time.perf_counter()
    try:
        with limited(limit):
            if name == "layermap":
                found = matched_paths(npu, bench, Options())
            else:
                small = folded(npu), folded(bench)
                links = PEERS[name](*small)
                found = unfolded(npu, bench, {small[0].paths[a]: small[1].paths[b] for a, b in links.items()})
    except TimeoutError:
        found = {}
    called = {a: b for a, b in found.items() if a in pair.npu.called and b in pair.bench.called}
    return score(pair, called, seconds=time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=60, help="seconds a peer may take for one pair")
    args = parser.parse_args()
    corpus = list(pairs(only=args.only))
    rows = {name: [run(pair, name, args.limit) for pair in corpus] for name in ("layermap", *PEERS)}
    families = list(by_family(rows["layermap"]))
    print(f"{'macro F1':28}" + "".join(f"{name:>21}" for name in rows))
    for family in families:
        print(f"{family:28}" + "".join(f"{macro_f1(by_family(scores)[family]):21.3f}" for scores in rows.values()))
    print(f"{'all':28}" + "".join(f"{macro_f1(scores):21.3f}" for scores in rows.values()))
    print(f"{'seconds':28}" + "".join(f"{sum(entry.seconds for entry in scores):21.1f}" for scores in rows.values()))


if __name__ == "__main__":
    main()
