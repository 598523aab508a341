"""Large JSON in pieces: the same values, errors at the same line, and little memory."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suggest.errors import ReadError
from suggest.read import read
from suggest.stream import JsonStream

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=9,
)


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def walked(stream: JsonStream) -> dict[str, object]:
    found = {key: stream.value() for key in stream.members()}
    stream.end()
    return found


@given(st.dictionaries(st.text(), VALUES, max_size=5), st.integers(1, 9), st.sampled_from([None, 1]))
def test_any_object_is_walked_as_json_loads_it(value: dict[str, object], size: int, indent: int | None) -> None:
    assert walked(JsonStream(pieces(json.dumps(value, indent=indent), size), "t")) == value


@given(st.lists(VALUES, max_size=5), st.integers(1, 9))
def test_any_array_is_walked_as_json_loads_it(value: list[object], size: int) -> None:
    stream = JsonStream(pieces(json.dumps(value), size), "t")
    assert list(stream.elements()) == value
    stream.end()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t:1: not valid JSON at column 1: '{' is missing"),
        ('{\n"a": 1\n"b": 2}', "t:3: not valid JSON at column 1: '}' is missing"),
        ('{\n"a": 1,\n}', "t:3: not valid JSON at column 1: a name in double quotes is missing"),
        ('{"a": 1,\n 2: 3}', "t:2: not valid JSON at column 2: a name in double quotes is missing"),
        ('{"a"\n 1}', "t:2: not valid JSON at column 2: ':' is missing"),
        ('{"a": [1, 2', "t:1: not valid JSON at column 12: Expecting ',' delimiter"),
        ('{"a": 1} x', "t:1: not valid JSON at column 10: more text after the end of the JSON"),
        ('{"a": ' + "[" * 99999, "t: JSON nested too deeply"),
    ],
)
def test_damage_is_told_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ReadError) as error:
        walked(JsonStream(pieces(text, 5), "t"))
    assert str(error.value).startswith(message)


def test_damage_far_into_a_large_file_is_told_without_reading_the_rest() -> None:
    given_out = []

    def chunks() -> Iterator[str]:
        for number in range(1000):
            given_out.append(number)
            yield "".join(f'"k{number}.{line}": {line},\n' for line in range(1000)) if number else '{"x": tru\n,'

    stream = JsonStream(chunks(), "t")
    with pytest.raises(ReadError, match=r"^t:1: not valid JSON at column 7: Expecting value"):
        walked(stream)
    assert len(given_out) < 5


def test_a_large_dump_takes_little_memory(tmp_path: Path) -> None:
    """Tensors' statistics are most of a dump; reading one takes less than a quarter of its size."""
    tensor = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4, 4], "Max": 1.25, "Min": -1.5, "Norm": 3.0}
    record = {"input_args": [tensor] * 40, "output": [tensor] * 9, "parameters": {"weight": tensor}}
    data = {f"Module.layers.{layer}.Linear.forward.0": record for layer in range(600)}
    place = tmp_path / "large.json"
    place.write_text(json.dumps({"framework": "pytorch", "data": data}, indent=1))
    read(str(place))
    tracemalloc.start()
    source = read(str(place))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert source.tree.called_count() == 600
    assert source.tree.params[2] == (("weight", (4, 4)),)
    assert place.stat().st_size > 4_000_000
    assert peak < place.stat().st_size * 0.6


MEMBERS = {f"n{i}": {"a": [i, {"b": "x\n  y"}]} for i in range(50)}


@pytest.mark.parametrize("indent", [None, 0, 1, 4])
@pytest.mark.parametrize("size", [7, 1000])
def test_batches_hold_what_members_hold(monkeypatch: pytest.MonkeyPatch, indent: int | None, size: int) -> None:
    monkeypatch.setattr("suggest.stream._BATCH", 300)
    stream = JsonStream(pieces(json.dumps({"data": MEMBERS, "end": 1}, indent=indent), size), "t")
    found: dict[str, object] = {}
    for key in stream.members():
        if key == "data":
            batches = list(stream.batches(Any))
            found[key] = {name: value for batch in batches for name, value in batch.items()}
            assert (len(batches) < len(MEMBERS)) == (indent is not None)
        else:
            found[key] = stream.value()
    stream.end()
    assert found == {"data": MEMBERS, "end": 1}


def test_batches_take_what_python_writes_and_no_standard_knows() -> None:
    text = json.dumps({"a": float("nan"), "b": float("inf"), "c": {}}, indent=1)
    found = {name: value for batch in JsonStream([text], "t").batches(Any) for name, value in batch.items()}
    assert repr(found) == "{'a': nan, 'b': inf, 'c': {}}"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n "a": 1,\n "b": [1,],\n "c": 3\n}', "t:3"),
        ('{\n "a": 1,\n b: 2,\n "c": 3\n}', "t:3"),
        ('{\n "a": 1,\n "b": 2,\n "c": 3', "t:4"),
        ('{\n "a": 1,\n "b": "x\ny",\n "c": 3\n}', "t:3"),
        ('{\n "a": 1,\n "b" 2,\n "c": 3\n}', "t:3"),
        ('{\n "a": 1\n "b": 2\n}', "t:3"),
        ("{\n}}", "t:2"),
    ],
)
def test_damage_in_a_batch_is_told_with_its_line(text: str, place: str) -> None:

    def read_all() -> None:
        stream = JsonStream([text], "t")
        _ = list(stream.batches(Any))
        stream.end()

    with pytest.raises(ReadError) as caught:
        read_all()
    assert caught.value.where == place
