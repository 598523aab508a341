"""Shapes and statistics out of the records of a dump."""

from __future__ import annotations

from matcher import Numbers
from suggest.tensors import Tensor, numbers_of, result_of, shape_of, tensors_in, weight_of

RECORD = {"type": "torch.Tensor", "shape": [2, 3], "Max": 1, "Min": -1.0, "Mean": 0.0, "Norm": 2.5}


def test_shapes_as_lists_and_as_text() -> None:
    assert shape_of(RECORD) == (2, 3)
    assert shape_of([RECORD]) == (2, 3)
    assert shape_of({"shape": "(2, 3)"}) == (2, 3)
    assert shape_of({"shape": "[2, x]"}) is None
    assert shape_of(None) is None


def numbers(record: object) -> Numbers | None:
    return next((numbers_of(tensor) for tensor in tensors_in(record)), None)


def test_statistics_of_one_tensor() -> None:
    assert numbers(RECORD) == Numbers(6, 1.0, -1.0, 0.0, 2.5)
    assert numbers(RECORD | {"md5": "ab"}) == Numbers(6, 1.0, -1.0, 0.0, 2.5, "ab")
    assert numbers(RECORD | {"Max": None}) == Numbers(6, None, -1.0, 0.0, 2.5)
    assert numbers(RECORD | dict.fromkeys(("Max", "Min", "Mean", "Norm"))) is None
    assert numbers({"Max": 1.0}) is None
    assert numbers("text") is None


def test_a_tensor_as_people_look_at_it() -> None:
    strange = {
        "shape": [2],
        "dtype": "torch.bfloat16",
        "Max": True,
        "Min": 10**400,
        "Mean": "much",
        "Norm": float("inf"),
    }
    assert list(tensors_in([[RECORD], {"a": strange}, None, 3])) == [
        Tensor((2, 3), "", (1.0, -1.0, 0.0, 2.5)),
        Tensor((2,), "bfloat16", (None, None, None, float("inf"))),
    ]
    nested: object = RECORD
    for _ in range(100):
        nested = [nested]
    assert list(tensors_in(nested)) == []


def test_figures_that_are_no_numbers_come_as_text() -> None:
    (tensor,) = tensors_in({"shape": [2], "Max": "inf", "Min": "-inf", "Mean": "nan", "Norm": "NaN"})
    assert tensor.figures[:2] == (float("inf"), float("-inf"))
    assert all(value != value for value in tensor.figures[2:])  # noqa: PLR0124
    assert tensor.text() == "?[2] inf -inf nan nan"


def test_a_tensor_shows_its_figures_and_its_digest() -> None:
    assert [tensor.text() for tensor in tensors_in([RECORD | {"md5": "ab"}, {"shape": [2], "md5": "cd"}])] == [
        "?[2,3] 1 -1 0 2.5 md5 ab",
        "?[2] md5 cd",
    ]


def test_a_result_with_all_figures_counts_before_one_without() -> None:
    partial = {"shape": [4], "Max": 3, "Min": 0}
    assert result_of({"output": [partial, RECORD]}) == Numbers(6, 1.0, -1.0, 0.0, 2.5)
    assert result_of({"output": [partial]}) == Numbers(4, 3.0, 0.0)
    assert result_of({"output": [partial, {"shape": [2], "md5": "cd"}]}) == Numbers(2, digest="cd")


def test_the_first_tensor_that_was_returned_counts() -> None:
    other = RECORD | {"Max": 9.0}
    expected = Numbers(6, 1.0, -1.0, 0.0, 2.5)
    assert result_of({"output": [RECORD, other]}) == expected
    assert result_of({"output": [None, [RECORD], other]}) == expected
    assert result_of({"output": [{"last_hidden_state": RECORD}]}) == expected
    assert result_of({"output": []}) is None
    assert result_of({}) is None


def test_the_largest_parameter_counts() -> None:
    large = RECORD | {"shape": [20, 3]}
    assert weight_of({"bias": RECORD, "weight": large}) == Numbers(60, 1.0, -1.0, 0.0, 2.5)
    assert weight_of({"weight": [large]}) == Numbers(60, 1.0, -1.0, 0.0, 2.5)
    assert weight_of({}) is None
