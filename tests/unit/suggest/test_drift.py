"""The first matched module whose results differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from suggest.draft import draft
from suggest.drift import Drift
from suggest.read import read_pair
from suggest.render import render, summary

DUMPS = Path(__file__).parents[2] / "data" / "dumps" / "gpt__legacy_core"


def disturbed(directory: Path, mark: str) -> str:
    """A copy of the NPU side whose results are twice as large from the first entry on whose name holds ``mark``."""
    (home,) = {found.parent for found in (DUMPS / "left").rglob("dump.json")}
    dump = json.loads((home / "dump.json").read_text())
    names = list(dump["data"])
    for name in names[next(i for i, name in enumerate(names) if mark in name) :]:
        for tensor in dump["data"][name].get("output") or []:
            if isinstance(tensor, dict) and tensor.get("Max") is not None:
                tensor.update({figure: 2 * tensor[figure] for figure in ("Max", "Min", "Mean", "Norm")})
    (directory / "dump.json").write_text(json.dumps(dump))
    for other in ("construct.json", "stack.json"):
        (directory / other).write_text((home / other).read_text())
    return str(directory)


def in_md5(directory: Path, side: str, salt: str, *, figures: bool = False) -> str:
    """A copy of one side as a dump of task md5: digests, of other results for another salt, beside figures or alone."""
    (home,) = {found.parent for found in (DUMPS / side).rglob("dump.json")}
    dump = json.loads((home / "dump.json").read_text())
    for record in dump["data"].values():
        for tensor in record.get("output") or []:
            if isinstance(tensor, dict) and tensor.get("Max") is not None:
                told = f"{tensor['Max']:.4f} {salt}"
                for figure in () if figures else ("Max", "Min", "Mean", "Norm"):
                    del tensor[figure]
                tensor["md5"] = sha256(told.encode()).hexdigest()[:8]
    directory.mkdir()
    (directory / "dump.json").write_text(json.dumps(dump))
    for other in ("construct.json", "stack.json"):
        (directory / other).write_text((home / other).read_text())
    return str(directory)


def test_digests_are_equal_or_not(tmp_path: Path) -> None:
    left, right, other = (
        in_md5(tmp_path / name, side, salt)
        for name, side, salt in (("a", "left", ""), ("b", "right", ""), ("c", "right", "x"))
    )
    found = draft(*read_pair(left, right)).drift
    assert found.exact
    assert found.agreeing >= 30
    assert f"results have equal md5 at {found.agreeing} of {found.compared} matched modules" in found.line()
    none = draft(*read_pair(left, other)).drift
    assert (none.agreeing, none.compared) == (0, found.compared)
    assert none.first is not None


def test_digests_and_figures_cannot_be_compared(tmp_path: Path) -> None:
    found = draft(*read_pair(in_md5(tmp_path / "a", "left", ""), str(DUMPS / "right"))).drift
    assert (found.compared, found.line()) == (0, "")


def test_equal_runs_agree_everywhere() -> None:
    found = draft(*read_pair(str(DUMPS / "left"), str(DUMPS / "right")))
    assert found.drift.first is None
    assert found.drift.agreeing == found.drift.compared >= 36
    line = (
        f"results agree within 1% at {found.drift.agreeing} of {found.drift.compared} matched modules with statistics"
    )
    assert line in summary(found)
    assert f"# {line}\n" in render(found, "yaml", comments=True)


def test_the_first_module_that_differs_is_named_in_order_of_execution(tmp_path: Path) -> None:
    npu = disturbed(tmp_path, "layers.1.mlp.dense_h_to_4h")
    found = draft(*read_pair(npu, str(DUMPS / "right")))
    assert found.drift.first is not None
    assert found.drift.first[0].endswith("layers.1.mlp.dense_h_to_4h")
    assert found.drift.first[1].endswith("layers.1.mlp.linear_fc1")
    assert found.drift.agreeing < found.drift.compared


def test_nothing_is_said_where_nothing_can_be_compared() -> None:
    assert Drift(0, 0, None).line() == ""
    pair = Path(__file__).parents[2] / "data" / "pairs" / "seed-qwen2_5-vl"
    found = draft(*read_pair(str(pair / "left.txt"), str(pair / "right.txt")))
    assert not found.drift.compared
    assert not any("results agree" in line for line in summary(found))


def test_digests_beside_figures_differ_by_rounding_alone(tmp_path: Path) -> None:
    left = in_md5(tmp_path / "a", "left", "", figures=True)
    for other in (in_md5(tmp_path / "b", "right", "x", figures=True), str(DUMPS / "right")):
        found = draft(*read_pair(left, other)).drift
        assert found.agreeing == found.compared >= 36
        assert "agree within 1%" in found.line()


def tiny(directory: Path, results: Mapping[str, object]) -> str:
    """A dump of modules that return one tensor each."""
    directory.mkdir()
    names = {f"Module.{path}.Linear.forward.0": result for path, result in results.items()}
    data = {name: {"input_args": [], "output": [result]} for name, result in names.items()}
    (directory / "dump.json").write_text(json.dumps({"framework": "pytorch", "level": "L0", "data": data}))
    (directory / "construct.json").write_text(json.dumps(dict.fromkeys(names)))
    (directory / "stack.json").write_text("{}")
    return str(directory)


def test_broken_and_whole_numbers_are_compared_by_what_both_tell(tmp_path: Path) -> None:
    def tensor(high: object, mean: object, norm: object) -> dict[str, object]:
        return {"type": "torch.Tensor", "shape": [4], "Max": high, "Min": 0.0, "Mean": mean, "Norm": norm}

    nan = float("nan")
    left = {"a": tensor(nan, nan, nan), "b": tensor("inf", "nan", "nan"), "c": tensor(5, None, None)}
    same = draft(*read_pair(tiny(tmp_path / "x", left), tiny(tmp_path / "y", left))).drift
    assert (same.agreeing, same.compared, same.exact) == (3, 3, False)
    other = left | {"c": tensor(4, None, None)}
    found = draft(*read_pair(str(tmp_path / "x"), tiny(tmp_path / "z", other))).drift
    assert (found.agreeing, found.compared, found.first) == (2, 3, ("c", "c"))
    sound = left | {"a": tensor(1.0, 0.5, 1.0)}
    assert draft(*read_pair(str(tmp_path / "x"), tiny(tmp_path / "w", sound))).drift.first == ("a", "a")
