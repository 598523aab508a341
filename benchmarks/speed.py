"""How long ``layermap suggest`` takes, and how much memory, beside what nobody can do without.

    pip install 'layermap[peers]'
    python -m benchmarks.speed [--part startup|layers|deepseek|growth|large|ranks ...] [--runs 5] [--size 100]

Every run is a process of its own; seconds are medians, memory is the most of any run. The networks are made for it
(`benchmarks.generate`). What stands beside: (a) decoding the same files with the faster of msgspec and orjson, and
doing nothing else; (b) importing numpy, scipy.optimize, rapidfuzz and yaml; (c) msprobe applying the mapping that came
out, reading left out; (d) the matchers of `benchmarks.peers`, aligning left alone with each other, as they are and with
repeated layers folded for them.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from .dumps import write_dump
from .generate import DEEPSEEK, Net, megatron, nodes, transformers
from .measure import Cost, cost, exponent, told

LAYERS = (4, 16, 64, 256)
GROWING = tuple(Net(layers=layers, experts=32) for layers in (7, 12, 36, 108, 340))
LARGE = Net(layers=61, experts=16)
RANKS = Net(layers=32)
PEERS = ("names", "tree edit distance", "similarity flooding", "COMA")
SEED = "tests/data/pairs/seed-qwen2_5-vl"
LIMIT = 60.0
_MOST_PAIRS = 50_000_000  # of nodes, beyond which a peer that weighs them all would rather fill the memory than finish
_IMPORTS = "import numpy, scipy.optimize, rapidfuzz, yaml"
_DECODE = "import gc, sys, {0}\ngc.disable()\nfor name in sys.argv[1:]: {1}(open(name, 'rb').read())"
_PARSERS = {"msgspec": "msgspec.json.decode", "orjson": "orjson.loads"}


def made(home: Path, net: Net, size: int = 0) -> tuple[str, str]:
    """Both dumps of a network."""
    for side, build in (("npu", megatron), ("gpu", transformers)):
        write_dump(home / side, build(net), size=size)
    return str(home / "npu"), str(home / "gpu")


def decoding(sides: Sequence[str], runs: int) -> Cost:
    """(a): the faster of the two parsers on every file of both sides."""
    files = [str(file) for side in sides for file in sorted(Path(side).glob("*.json"))]
    found = [
        one
        for name, call in _PARSERS.items()
        if find_spec(name) and (one := cost(["-c", _DECODE.format(name, call), *files], runs)) is not None
    ]
    return min(found, key=lambda one: one.seconds)


def suggesting(sides: Sequence[str], runs: int, output: str = os.devnull) -> Cost:
    return _done(cost(["-m", "suggest", "suggest", "-q", *sides, "-o", output], runs))


def _done(found: Cost | None) -> Cost:
    if found is None:
        raise SystemExit("layermap failed")
    return found


def startup(runs: int, _home: Path, _size: int) -> None:
    """The command without work, and the reference pair."""
    bare = _done(cost(["-c", "import click, yaml"], runs))
    for flag in ("--help", "--version"):
        found = _done(cost(["-m", "suggest", flag], runs))
        print(f"layermap {flag:32} {_figures(found)} {_times(found, bare, 'import click, yaml')}")
    imports = _done(cost(["-c", _IMPORTS], runs))
    found = suggesting([f"{SEED}/left.txt", f"{SEED}/right.txt"], runs)
    print(f"suggest on {SEED:30} {_figures(found)} {_times(found, imports, '(b)')}")


def layers(runs: int, home: Path, _size: int) -> None:
    """Dense networks of growing depth."""
    for depth in LAYERS:
        compare(f"{depth} layers", made(home / str(depth), Net(layers=depth)), runs, peers=True)


def deepseek(runs: int, home: Path, _size: int) -> None:
    """A mixture of experts of DeepSeek-V3's size."""
    compare("DeepSeek-V3, 61 layers of 256 experts", made(home, DEEPSEEK), runs, peers=True)


def compare(title: str, sides: tuple[str, str], runs: int, *, peers: bool) -> None:
    """One pair of dumps, everything beside it."""
    mapping = f"{Path(sides[0]).parent}/mapping.yaml"
    whole, parsing = suggesting(sides, runs, mapping), decoding(sides, runs)
    imports = _done(cost(["-c", _IMPORTS], runs))
    stages = told(sides, runs) or {}
    megabytes = sum(file.stat().st_size for side in sides for file in Path(side).glob("*.json")) / 1e6
    print(f"{title}: {stages['nodes']:,} nodes, {megabytes:,.1f} MB")
    print(f"  {'whole command':24} {_figures(whole)} {_times(whole, parsing, '(a)')} {_times(whole, imports, '(b)')}")
    for stage, seconds in stages["seconds"].items():
        print(
            f"  {stage:24} {seconds:8.3f} s {stages['megabytes'][stage]:6.0f} MB {seconds / parsing.seconds:5.2f} x (a)"
        )
    print(f"  {'(a) decoding alone':24} {_figures(parsing)}\n  {'(b) imports':24} {_figures(imports)}")
    if find_spec("msprobe") is None:
        print("  (c) left out: mindstudio-probe is not installed")
    else:
        print(f"  {'(c) msprobe applies':24} {_seconds(['--apply', *sides, mapping], runs)}")
    own = told(["--peer", "layermap", *sides], runs) if peers else None
    if own is not None:
        print(f"  {'(d) layermap, aligning':24} {own['seconds']['layermap']:8.3f} s ({own['process']:.3f} s)")
    small = (stages["nodes"] / 2) ** 2 < _MOST_PAIRS
    for name in PEERS if peers else ():
        plain = _seconds(["--peer", name, *sides], runs) if small else "too many pairs of nodes"
        print(
            f"  {f'(d) {name}':24} {plain}; folded for it {_seconds(['--peer', name, '--folded', *sides], runs)}",
            flush=True,
        )


def _seconds(arguments: list[str], runs: int) -> str:
    """What a stage takes; after one run that hits the limit, no more are tried."""
    found = told(arguments, 1, LIMIT)
    if found is None:
        return f"fails, or takes over {LIMIT:.0f} s"
    found = (told(arguments, runs, LIMIT) if runs > 1 else found) or found
    return f"{sum(found['seconds'].values()):8.3f} s ({found['process']:.3f} s from start to end)"


def _figures(found: Cost) -> str:
    return f"{found.seconds:8.3f} s ({found.busy:.3f} busy) {found.megabytes:6.0f} MB"


def _times(one: Cost, other: Cost, what: str) -> str:
    """A ratio, and that of the seconds in which the processor was busy."""
    return f"{one.seconds / other.seconds:5.2f} ({one.busy / other.busy:.2f} busy) x {what}"


def growth(runs: int, home: Path, _size: int) -> None:
    """How time grows with the number of nodes, start-up left out."""
    sizes, seconds = [], []
    for net in GROWING:
        sides = made(home / str(net.layers), net)
        stages = told(sides, runs) or {}
        sizes.append(stages["nodes"])
        seconds.append(sum(stages["seconds"].values()) - stages["seconds"]["import"])
        print(f"  {sizes[-1]:8,} nodes {seconds[-1]:8.3f} s", flush=True)
    print(f"time grows with nodes to the power of {exponent(sizes, seconds):.2f}, start-up left out")


def large(runs: int, home: Path, size: int) -> None:
    """Dumps of level mix with statistics, of the size asked for each."""
    sides = made(home, LARGE, size * 1_000_000)
    whole, parsing = suggesting(sides, runs), decoding(sides, runs)
    print(f"mix, {size} MB against {size} MB: {_figures(whole)}, {_times(whole, parsing, '(a)')}")
    print(f"  (a) decoding alone: {_figures(parsing)}")


def ranks(runs: int, home: Path, _size: int) -> None:
    """A root of 1,024 equal ranks, and one of 1,024 in 8 pipeline stages that differ, against one rank."""
    write_dump(home / "one" / "step0" / "rank0", megatron(RANKS))
    write_dump(home / "gpu", transformers(RANKS))
    for stages, title in ((1, "all equal"), (8, "8 kinds of them")):
        root = home / f"of{stages}"
        for rank in range(1024):
            place = root / "step0" / f"rank{rank}"
            if rank < stages:
                write_dump(place, megatron(Net(layers=RANKS.layers - rank)))
            else:
                shutil.copytree(root / "step0" / f"rank{rank % stages}", place)
        found = suggesting([str(root), str(home / "gpu")], runs)
        print(f"1,024 ranks, {title}: {_figures(found)}", flush=True)
        shutil.rmtree(root)
    one = suggesting([str(home / "one"), str(home / "gpu")], runs)
    print(f"1 rank of {nodes(megatron(RANKS))} modules: {_figures(one)}")


PARTS: dict[str, Callable[[int, Path, int], None]] = {
    "startup": startup,
    "layers": layers,
    "deepseek": deepseek,
    "growth": growth,
    "large": large,
    "ranks": ranks,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be given several times")
    parser.add_argument("--runs", type=int, default=5, help="runs of each, of which the median counts")
    parser.add_argument("--size", type=int, default=100, help="MB of each dump of the part large")
    args = parser.parse_args()
    for name in args.part or PARTS:
        with TemporaryDirectory(dir=os.environ.get("TMPDIR")) as home:
            PARTS[name](args.runs, Path(home), args.size)


if __name__ == "__main__":
    main()
