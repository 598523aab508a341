"""How many rules a draft takes, beside the least number that any mapping of the same effect could take.

    python -m benchmarks.rules [PAIRS_DIR] [--only SUBSTR] [--kept N] [--seconds S]

The least number is proven by `benchmarks.minimum` on a trie in which at most N of all equal layers are left. What is
proven there holds for the whole model too, since a mapping for the whole model is one for a part of it; where the
layers of one tower need rules one by one, the whole takes more, and the draft says how many.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from suggest.draft import draft, wishes
from suggest.scopes import Scopes
from suggest.shrink import shrunk

from .corpus import PAIRS, Pair, pairs
from .minimum import least_rules

ONE_BY_ONE = frozenset({"seed-qwen2_5-vl"})  # pairs in which one tower's layers need rules one by one

_GLANCE = 5.0  # seconds for a single layer: what takes longer there is better asked with two


def bound(pair: Pair, most_kept: int = 3, seconds: float = 120.0) -> tuple[int, int, bool]:
    """Rules of the draft, the least number that is proven, and whether the proof came to an end.

    One layer of each kind is enough for most pairs; where it leaves a gap, more are kept, up to ``most_kept``.
    """
    npu, bench = (Scopes.build(side.source.entries) for side in (pair.npu, pair.bench))
    found = draft(pair.npu.source, pair.bench.source)
    wanted = wishes(found.alignment, npu)
    rules, least, proven = len(found.layer_map.rules), -1, False
    for kept in range(1, most_kept + 1):
        small, asked = shrunk(npu, wanted, kept)
        limit = min(seconds, _GLANCE) if kept == 1 else seconds
        least, proven = max((least, proven), least_rules(small, bench, asked, limit))
        if least == rules:
            break
    return rules, least, proven


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="?", default=PAIRS)
    parser.add_argument("--only", default="")
    parser.add_argument("--kept", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=120.0)
    args = parser.parse_args()
    print(f"{'pair':44} {'rules':>6} {'least':>6}")
    for pair in pairs(args.root, only=args.only):
        rules, least, proven = bound(pair, args.kept, args.seconds)
        print(f"{pair.name:44} {rules:6} {least:6}{'' if proven else ' or more, not proven in time'}", flush=True)


if __name__ == "__main__":
    main()
