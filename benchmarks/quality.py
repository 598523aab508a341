"""How right the drafts are: every pair, both directions, scored on the replayed rules.

    python -m benchmarks.quality [PAIRS_DIR] [--mode dump|text|names] [--scramble P] [--families] [--only SUBSTR]

See benchmarks/README.md for how to read the table.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from pathlib import Path

from suggest.draft import draft
from suggest.replay import replay
from suggest.scopes import Scopes

from .corpus import PAIRS, Pair, pairs
from .scoring import Score, by_family, macro_f1, score, summary_line


def evaluate(pair: Pair) -> Score:
    """Draft one pair and score what msprobe's semantics make of the draft."""
    start = time.perf_counter()
    found = draft(pair.npu.source, pair.bench.source)
    seconds = time.perf_counter() - start
    npu, bench = (Scopes.build(side.source.entries) for side in (pair.npu, pair.bench))
    place = {
        entry.name: ".".join(entry.scope)
        for side in (pair.npu, pair.bench)
        for entry in side.source.entries
        if entry.state == "forward"
    }
    # Printed models count every module as called, and a list of keys only its leaves: score the paths both know.
    partners = {
        place[a]: place[b] for a, b in replay(npu, bench, found.layer_map).items() if b is not None and a in place
    }
    return score(pair, partners, len(found.layer_map.rules), seconds)


def table(scores: Iterable[Score]) -> list[str]:
    """One line a pair."""
    lines = [f"{'pair':44} {'gold':>5} {'P':>6} {'R':>6} {'F1':>6} {'rules':>6}"]
    lines += [
        f"{entry.name:44} {entry.gold:5} {entry.precision:6.3f} {entry.recall:6.3f} {entry.f1:6.3f} {entry.rules:6}"
        for entry in scores
    ]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=PAIRS)
    parser.add_argument("--mode", choices=("dump", "text", "names"), default="dump")
    parser.add_argument("--scramble", type=float, default=0.0, metavar="P")
    parser.add_argument("--families", action="store_true", help="also one line for each family of models")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    scores = [evaluate(pair) for pair in pairs(args.root, args.mode, args.scramble, args.only)]
    print("\n".join(table(scores)))
    if args.families:
        print()
        for family, members in by_family(scores).items():
            print(f"{family:28} {len(members):3} macro F1 {macro_f1(members):.4f}")
    print(f"\n{summary_line(scores)}")
    if args.json:
        rows = [{"pair": s.name, "P": s.precision, "R": s.recall, "F1": s.f1, "rules": s.rules} for s in scores]
        args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
