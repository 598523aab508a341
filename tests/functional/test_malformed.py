"""Real files of every kind, damaged: an error with its place, or a right reading; never silence about what was lost."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from suggest.cli import main
from suggest.errors import LayermapError
from suggest.read import read

DATA = Path(__file__).parent.parent / "data"
DUMP = "dumps/gpt__legacy_core/left/step0/rank0"
JSON = (
    f"{DUMP}/dump.json",
    f"{DUMP}/construct.json",
    "dumps/megatron_microstep/construct.json",
    "inputs/compare.vis",
    "inputs/pytorch_model.bin.index.json",
    "inputs/mindspore.param_name_map.json",
    "inputs/tiny.tree.json",
)
BINARY = ("inputs/compare.vis.db", "inputs/tiny.gguf", "inputs/megatron/.metadata", "inputs/dcp/.metadata")
PRINTED = ("inputs/tiny.print.txt", "inputs/meg.print.txt", "inputs/mindspore.print.txt", "inputs/mindspore.old.txt")
TEXT = (*PRINTED, "inputs/tiny.torchinfo.txt", "inputs/tiny.error.txt", "inputs/tiny.odict.txt", "inputs/tiny.keys.txt")

Mutation = Callable[[bytes], bytes]


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def beginning(content: bytes) -> bytes:
    return content[:60]


def without_end(content: bytes) -> bytes:
    return content[: -max(3, len(content) // 50)]


def without_beginning(content: bytes) -> bytes:
    return content[len(content) // 3 :]


def garbled(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + b'#~!(}\xe4"' + content[middle + 7 :]


def repeated(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + content[middle - len(content) // 8 :]


def windows(content: bytes) -> bytes:
    return content.replace(b"\n", b"\r\n")


def followed(content: bytes) -> bytes:
    return content + b"\nTraceback (most recent call last):\n  boom(\n"


VARIANTS: list[tuple[str, Mutation]] = [
    *((name, mutation) for name in JSON for mutation in (half, without_end, garbled, repeated, windows, followed)),
    *((name, mutation) for name in BINARY for mutation in (half, beginning, without_end, without_beginning)),
    *((name, mutation) for name in TEXT for mutation in (half, without_end, garbled, windows)),
    *((name, mutation) for name in PRINTED for mutation in (beginning, without_beginning, repeated, followed)),
]


@pytest.fixture(autouse=True)
def readable(request: pytest.FixtureRequest) -> None:
    if "gguf" in request.node.name:
        pytest.importorskip("gguf")


def test_there_are_enough_variants() -> None:
    assert len(VARIANTS) >= 40


@pytest.mark.parametrize(("name", "mutation"), VARIANTS, ids=lambda value: getattr(value, "__name__", value))
def test_a_damaged_file_is_an_error_with_its_place_or_read_right(
    name: str, mutation: Mutation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = DATA / name
    place = tmp_path / original.name
    place.write_bytes(mutation(original.read_bytes()))
    with pytest.raises(SystemExit) as done:
        main(["tree", "--format", "json", str(place)])
    out, err = capsys.readouterr()
    if done.value.code == 2:
        assert out == ""
        assert re.fullmatch(rf"layermap: {re.escape(str(place))}(:\d+|#\w+|: [^;]+)?: [^;]+; .+\n", err), err
    else:
        assert done.value.code == 0
        (tmp_path / "whole").mkdir()
        whole = read(str(shutil.copy(str(original), str(tmp_path / "whole"))))
        assert set(read(str(place)).notes) - set(whole.notes) or read(str(place)).tree == whole.tree


def shaken(random: Random, content: bytes) -> bytes:
    """The content with one to four random injuries."""
    left = bytearray(content)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(left) + 1)
        end = min(len(left), at + random.randint(1, 60))
        injury = random.randrange(4)
        if injury == 0:
            del left[at:end]
        elif injury == 1:
            left[at:at] = random.randbytes(random.randint(1, 8))
        elif injury == 2:
            left[at:end] = left[end : end + end - at]
        else:
            left[at:end] = bytes(random.choices(b'"{}[](),:\n<> 0a.', k=end - at))
    return bytes(left)


@pytest.mark.parametrize("seed", range(8))
def test_nothing_but_our_own_error_ever_escapes(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    files = sorted(place for place in (DATA / "inputs").rglob("*") if place.is_file() and place.suffix != ".gguf")
    for _ in range(100):
        original = random.choice(files)
        place = tmp_path / original.name
        place.write_bytes(shaken(random, original.read_bytes()))
        try:
            assert len(read(str(place), random.choice(["npu", "bench"])).tree) > 1
        except LayermapError as error:
            assert "\n" not in str(error)  # noqa: PT017  either outcome will do


@pytest.mark.parametrize("name", ["dump.json", "construct.json", "stack.json"])
@pytest.mark.parametrize("mutation", [half, garbled, without_beginning], ids=lambda mutation: mutation.__name__)
def test_a_damaged_file_of_a_dump_is_named(
    name: str, mutation: Mutation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "step0" / "rank0"
    shutil.copytree(DATA / "dumps/by_version/1.3.0/left/step0/rank", home)
    (home / name).write_bytes(mutation((home / name).read_bytes()))
    with pytest.raises(SystemExit) as done:
        main(["tree", str(tmp_path)])
    out, err = capsys.readouterr()
    assert (done.value.code, out) == (2, "")
    assert re.match(rf"layermap: {re.escape(str(home / name))}:\d+: ", err), err
