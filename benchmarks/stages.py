"""One run of the stages of ``layermap suggest``, each timed: what `benchmarks.speed` starts in processes of their own.

python -m benchmarks.stages NPU BENCH        # JSON: stage to seconds, and the peak memory after each, in MB
python -m benchmarks.stages --apply NPU BENCH MAPPING     # msprobe's time to apply a mapping
python -m benchmarks.stages --peer NAME [--folded] NPU BENCH     # the time of one of `benchmarks.peers`
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
_KILOBYTES = 1024 if sys.platform != "darwin" else 1  # Linux counts in kilobytes, macOS in bytes


class Clock:
    """Seconds and peak memory of stages, in order."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.megabytes: dict[str, float] = {}

    def time(self, stage: str, work: Callable[[], T]) -> T:
        start = time.perf_counter()
        found = work()
        self.seconds[stage] = time.perf_counter() - start
        most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        self.megabytes[stage] = most * _KILOBYTES / 1e6
        return found


def stages(npu: str, bench: str) -> dict[str, object]:
    """Every stage once, as the command does them; the collector is off, as it is there."""
    clock = Clock()
    gc.disable()

    def imported() -> None:
        import suggest.draft
        import suggest.read
        import suggest.render  # noqa: F401

    clock.time("import", imported)
    from matcher import align
    from suggest.draft import draft_of
    from suggest.read import read_pair
    from suggest.render import render

    here, there = clock.time("read", lambda: read_pair(npu, bench, thin=True))
    alignment = clock.time("align", lambda: align(here.tree, there.tree))
    found = clock.time("draft", lambda: draft_of(alignment, here, there))
    clock.time("render", lambda: render(found, "yaml", comments=True))
    if not found.speaks_for_all():
        raise SystemExit("these rules tell equal layers apart: the command would draft the whole")
    nodes = sum(source.repeats.count(source.tree.paths) for source in (here, there))
    return {"seconds": clock.seconds, "megabytes": clock.megabytes, "nodes": nodes}


def applied(npu: str, bench: str, mapping: str) -> dict[str, object]:
    """The seconds that msprobe itself takes to apply a mapping, the reading of the files left out."""
    from msprobe.core.common.const import Const
    from msprobe.core.common.file_utils import load_yaml
    from msprobe.core.compare.layer_mapping.data_scope_parser import get_dump_data_items
    from msprobe.core.compare.layer_mapping.layer_mapping import LayerTrie, convert_data_items

    sides = [
        [json.loads((Path(home) / f"{name}.json").read_text()) for name in ("dump", "construct", "stack")]
        for home in (npu, bench)
    ]
    rules = load_yaml(mapping)
    start = time.perf_counter()
    tries, items = [], []
    for dump, construct, stack in sides:
        items.append(get_dump_data_items(dump, stack, construct, "pytorch", None))
        root = LayerTrie(Const.TOP_LAYER, "pytorch")
        for item in items[-1]:
            root.insert(item)
        tries.append(root)
    convert_data_items(tries[0], tries[1], items[0], rules)
    return {"seconds": {"apply": time.perf_counter() - start}}


def peer(name: str, npu: str, bench: str, *, help_it: bool) -> dict[str, object]:
    """The seconds that a peer takes for two trees, reading left out; with help, repeated layers are folded.

    The collector is off for all of them, as it is in the command.
    """
    gc.disable()
    from matcher import align
    from suggest.read import BENCH, NPU, read

    from .peers import PEERS, folded, unfolded

    here, there = read(npu, NPU).tree, read(bench, BENCH).tree
    start = time.perf_counter()
    if name == "layermap":
        align(here, there)
    elif help_it:
        small = folded(here), folded(there)
        links = PEERS[name](*small)
        unfolded(here, there, {small[0].paths[a]: small[1].paths[b] for a, b in links.items()})
    else:
        PEERS[name](here, there)
    return {"seconds": {name: time.perf_counter() - start}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apply", action="store_true")
    parser.add_argument("--peer", default="")
    parser.add_argument("--folded", action="store_true", help="fold repeated layers for the peer first")
    parser.add_argument("paths", nargs="+")
    args = parser.parse_args()
    if args.apply:
        found = applied(*args.paths)
    elif args.peer:
        found = peer(args.peer, *args.paths, help_it=args.folded)
    else:
        found = stages(*args.paths)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
