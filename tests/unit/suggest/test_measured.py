"""The records of a dump, read once more for people and for formats that name tensors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from suggest.measured import measured, records
from suggest.read import read
from suggest.tensors import Tensor


def tensor(high: float) -> dict[str, object]:
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": high, "Min": 0, "Mean": 0, "Norm": 1}


def seen(high: float) -> Tensor:
    return Tensor((2,), "float32", (high, 0.0, 0.0, 1.0))


def write_rank(home: Path, modules: dict[str, tuple[str, float]]) -> None:
    """A rank's dump: by scope, the class and what distinguishes the numbers."""
    home.mkdir(parents=True)
    data = {
        f"Module.{scope}.{cls}.forward.0": {
            "input_args": [tensor(high + 1)] * 5,
            "output": [[tensor(high)]],
            "parameters": {"weight": tensor(high + 2), "bias": None},
        }
        for scope, (cls, high) in modules.items()
    }
    (home / "dump.json").write_text(json.dumps({"task": "statistics", "data": data, "tail": []}))
    (home / "construct.json").write_text(json.dumps(dict.fromkeys(data)))
    (home / "stack.json").write_text("{}")


def test_every_rank_tells_what_earlier_ones_lack(tmp_path: Path) -> None:
    write_rank(tmp_path / "step0" / "rank0", {"net": ("Net", 1.0), "net.a": ("A", 2.0)})
    write_rank(tmp_path / "step0" / "rank1", {"net": ("Net", 9.0), "net.b": ("B", 3.0)})
    found = measured(str(tmp_path), read(str(tmp_path)))
    assert {scope: what.outputs for scope, what in found.items()} == {
        "net": (seen(1.0),),
        "net.a": (seen(2.0),),
        "net.b": (seen(3.0),),
    }
    assert found["net.b"].inputs == (seen(4.0),) * 3
    assert found["net.b"].parameters == (("weight", seen(5.0)),)


def test_a_file_of_the_dump_may_be_given_alone(tmp_path: Path) -> None:
    write_rank(tmp_path / "rank0", {"net": ("Net", 1.0)})
    for name in ("dump.json", "construct.json"):
        place = str(tmp_path / "rank0" / name)
        assert measured(place, read(place))["net"].outputs == (seen(1.0),)


@pytest.mark.parametrize("text", ["", "[]", '{"data": 3}', '{"data": {"a": {', "\0\xff", '{"data": {"a": [1]}}'])
def test_what_cannot_be_read_any_more_has_no_records(tmp_path: Path, text: str) -> None:
    (tmp_path / "dump.json").write_bytes(text.encode("latin-1"))
    assert records(str(tmp_path), {"a"}) == {}
    assert records(str(tmp_path / "dump.json"), {"a"}) == {}
    (tmp_path / "dump.json").unlink()
    assert records(str(tmp_path / "dump.json"), {"a"}) == {}


def test_no_dump_has_nothing_measured(data: Path) -> None:
    place = str(data / "inputs" / "tiny.print.txt")
    assert measured(place, read(place)) == {}
