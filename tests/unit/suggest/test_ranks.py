"""Steps and ranks as one: what is merged, what is read once, and what is said about it."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import pytest

from suggest import dump_directory, side_by_side
from suggest.errors import ReadError
from suggest.read import read

DATA = Path(__file__).parent.parent.parent / "data"
RANK = DATA / "dumps" / "gpt__legacy_core" / "left" / "step0" / "rank0"


def write(home: Path, modules: dict[str, list[int]], extra: dict[str, str] | None = None) -> None:
    """A rank that called these modules, ``path.Class`` to the shape of a weight, and these APIs of modules."""
    home.mkdir(parents=True)
    names = {f"Module.{name}.forward.0": shape for name, shape in modules.items()}
    data: dict[str, object] = {name: {"parameters": {"weight": {"shape": shape}}} for name, shape in names.items()}
    data |= {name: {} for name in extra or {}}
    (home / "dump.json").write_text(json.dumps({"framework": "pytorch", "data": data}))
    (home / "construct.json").write_text(json.dumps(dict.fromkeys(names) | (extra or {})))
    (home / "stack.json").write_text("{}")


def test_equal_ranks_and_steps_are_read_once(tmp_path: Path) -> None:
    for step in range(2):
        for rank in range(2):
            shutil.copytree(RANK, tmp_path / f"step{step}" / f"rank{rank}")
    (tmp_path / "step1" / "rank1" / "dump.json").write_text("never looked at")
    source = read(str(tmp_path))
    assert source.tree == read(str(RANK)).tree
    assert source.entries == read(str(RANK)).entries
    assert source.notes == (
        f"read step0/rank0 of 4 dumps below {tmp_path.name}; 3 recorded the same calls and are read once",
    )


def test_stages_of_a_pipeline_are_one_model(tmp_path: Path) -> None:
    write(tmp_path / "step0" / "rank0", {"embedding.Embedding": [8, 4], "decoder.layers.0.Layer": [4]})
    write(tmp_path / "step0" / "rank1", {"decoder.layers.0.Layer": [4], "decoder.layers.1.Layer": [4]})
    write(tmp_path / "step0" / "rank2", {"decoder.layers.0.Layer": [4], "head.Linear": [8, 4]})
    source = read(str(tmp_path))
    assert source.tree.paths == (
        "", "embedding", "decoder", "decoder.layers", "decoder.layers.0", "decoder.layers.1", "head",
    )  # fmt: skip
    assert [entry.name for entry in source.entries if "layers.0" in entry.name] == [
        "Module.decoder.layers.0.Layer.forward.0"
    ]
    assert source.notes == (f"merged step0/rank0, step0/rank1, step0/rank2 of 3 dumps below {tmp_path.name}",)


def test_experts_of_other_ranks_and_steps_are_added(tmp_path: Path) -> None:
    for step, rank, expert in ((0, 0, 0), (0, 1, 2), (1, 0, 1), (1, 1, 3)):
        write(tmp_path / f"step{step}" / f"rank{rank}", {f"mlp.experts.{expert}.MLP": [4], "router.Router": [2]})
    assert {f"mlp.experts.{expert}" for expert in range(4)} <= set(read(str(tmp_path)).tree.paths)


def test_chunks_of_interleaved_stages_stay_apart(tmp_path: Path) -> None:
    for rank, first in enumerate(("0.emb.E", "1.head.H")):
        write(tmp_path / "step0" / f"rank{rank}", {first: [4], "0.layers.0.L": [4], "1.layers.0.L": [4]})
    assert set(read(str(tmp_path)).tree.paths) >= {"0.emb", "0.layers.0", "1.layers.0", "1.head"}


def test_ranks_that_disagree_about_a_class_are_noted(tmp_path: Path) -> None:
    write(tmp_path / "step0" / "rank0", {"layers.0.Dense": [4], "layers.1.Dense": [4]})
    write(tmp_path / "step0" / "rank1", {"layers.0.Expert": [4], "layers.1.Dense": [4]})
    source = read(str(tmp_path))
    assert source.tree.classes[2] == "Dense"
    assert source.notes[1] == (
        "step0/rank1 has another class than an earlier rank at 1 modules, first at layers.0;"
        " the earlier one is taken, give that rank alone for a mapping of it"
    )


def test_an_api_that_two_ranks_number_alike_is_kept_twice(tmp_path: Path) -> None:
    for rank, name in enumerate(("a.A", "b.B")):
        extra = {"Torch.add.0.forward": f"Module.{name}.forward.0"}
        write(tmp_path / "step0" / f"rank{rank}", {name: [4]}, extra)
    names = {entry.name: ".".join(entry.scope) for entry in read(str(tmp_path)).entries}
    assert names["Torch.add.0.forward"] == "a.add"
    assert names["Torch.add.0.forward@step0/rank1"] == "b.add"


def test_ranks_of_equal_calls_in_other_bytes_are_read_once(tmp_path: Path) -> None:
    for rank in range(2):
        write(tmp_path / "step0" / f"rank{rank}", {"a.A": [4]})
    place = tmp_path / "step0" / "rank1" / "construct.json"
    place.write_text(json.dumps(json.loads(place.read_text()), indent=4))
    assert "1 recorded the same calls" in read(str(tmp_path)).notes[0]


def test_many_different_ranks_are_counted(tmp_path: Path) -> None:
    for rank in range(6):
        write(tmp_path / "step0" / f"rank{rank}", {f"layers.{rank}.L": [4]})
    assert read(str(tmp_path)).notes == (
        f"merged step0/rank0, step0/rank1, step0/rank2, step0/rank3 and 2 more of 6 dumps below {tmp_path.name}",
    )


def test_two_runs_in_one_directory_are_not_mixed(tmp_path: Path) -> None:
    for run in ("npu", "gpu"):
        write(tmp_path / run / "step0" / "rank0", {"a.A": [4]})
    with pytest.raises(ReadError, match=r"holds the dumps of 2 runs: gpu, npu; give the directory of one of them"):
        read(str(tmp_path))


def test_a_rank_without_construct_is_told_from_others_by_its_dump(tmp_path: Path) -> None:
    for rank in range(2):
        write(tmp_path / "step0" / f"rank{rank}", {f"a{rank}.A": [4]})
        (tmp_path / "step0" / f"rank{rank}" / "construct.json").unlink()
    assert read(str(tmp_path)).tree.paths == ("", "a0", "a1")


def test_modules_that_only_construct_knows_are_noted(tmp_path: Path) -> None:
    write(tmp_path / "step0", {"a.A": [4]})
    place = tmp_path / "step0" / "construct.json"
    place.write_text(json.dumps({"Module.a.A.forward.0": None, "Module.b.B.forward.0": None}))
    assert read(str(tmp_path)).notes == (
        "1 modules of construct.json are not in dump.json, first Module.b.B.forward.0",
    )


def test_parameters_without_a_shape_are_noted(tmp_path: Path) -> None:
    write(tmp_path / "rank0", {"a.A": [4]})
    data = {"Module.a.A.forward.0": {"parameters": {"w": {"shape": None}, "v": {"shape": "[2, 3]"}}}}
    (tmp_path / "rank0" / "dump.json").write_text(json.dumps({"data": data}))
    source = read(str(tmp_path))
    assert source.tree.params[1] == (("v", (2, 3)),)
    assert source.notes == ("1 parameters have no readable shape",)


def test_a_dump_without_data_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "rank0", {"a.A": [4]})
    (tmp_path / "rank0" / "dump.json").write_text('{"task": "statistics", "data": null}')
    with pytest.raises(ReadError, match=r"dump.json: data: the entry 'data' is missing or no object"):
        read(str(tmp_path))


def test_a_binary_file_in_a_dump_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "rank0", {"a.A": [4]})
    (tmp_path / "rank0" / "stack.json").write_bytes(b"\x00\x01\x02" * 9)
    with pytest.raises(ReadError, match=r"stack.json: not readable as JSON"):
        read(str(tmp_path))


@pytest.fixture
def _many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine with many cores and large dumps, whatever threads the test runner has."""
    monkeypatch.setattr(side_by_side, "LEAST", 0)
    monkeypatch.setattr(side_by_side, "cores", lambda: 4)
    monkeypatch.setattr(side_by_side, "_may_fork", lambda: True)


def _stages(root: Path, count: int) -> None:
    for rank in range(count):
        write(root / "step0" / f"rank{rank}", {f"layers.{layer}.Layer": [4] for layer in range(rank, count + 1)})
        shutil.copytree(root / "step0" / f"rank{rank}", root / "step1" / f"rank{rank}")


def test_ranks_that_are_read_side_by_side_are_merged_as_one_after_the_other(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    _stages(tmp_path, 7)
    one_by_one = read(str(tmp_path))
    request.getfixturevalue("_many_cores")
    assert read(str(tmp_path)) == one_by_one
    assert one_by_one.notes[0].endswith("7 recorded the same calls and are read once")


@pytest.mark.usefixtures("_many_cores")
def test_what_is_wrong_with_a_rank_is_said_from_another_process_too(tmp_path: Path) -> None:
    _stages(tmp_path, 3)
    broken = tmp_path / "step0" / "rank1" / "dump.json"
    broken.write_text("{\n")
    with pytest.raises(ReadError, match=r"rank1/dump\.json:2: not valid JSON") as caught:
        read(str(tmp_path))
    assert caught.value.hint.startswith("the file is cut off")


def test_a_file_of_another_size_is_another_rank_without_being_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "step0" / "rank0", {"a.A": [4]})
    write(tmp_path / "step0" / "rank1", {"a.A": [4], "b.B": [4]})
    monkeypatch.setattr(dump_directory, "_digest", None)
    assert read(str(tmp_path)).tree.paths == ("", "a", "b")


def test_a_process_that_reads_says_nothing_of_an_interrupt() -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        side_by_side._die_quietly()  # noqa: SLF001
        assert signal.getsignal(signal.SIGINT) is not before
    finally:
        signal.signal(signal.SIGINT, before)


def test_cores_are_counted_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert side_by_side.cores() >= 1
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    assert side_by_side.cores() >= 1
