"""Which operators do the same, and which of two modules' operators belong together."""

from __future__ import annotations

import pytest

from matcher.operators import Operator, kind_of, paired


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("npu_fusion_attention", "scaled_dot_product_attention"),
        ("npu_fusion_attention_v2", "scaled_dot_product_attention"),
        ("npu_rms_norm", "rms_norm"),
        ("__or__", "logical_or"),
        ("__iadd__", "add_"),
        ("__radd__", "__add__"),
        ("addmm", "linear"),
        ("gather", "embedding"),
        ("swapaxes", "transpose"),
        ("npu_swiglu", "swiglu"),
    ],
)
def test_names_of_one_operator_are_of_one_kind(one: str, other: str) -> None:
    assert kind_of(one) == kind_of(other)


@pytest.mark.parametrize(
    ("one", "other"), [("gelu", "silu"), ("layer_norm", "rms_norm"), ("__add__", "__mul__"), ("__invert__", "int")]
)
def test_other_operators_are_of_other_kinds(one: str, other: str) -> None:
    assert kind_of(one) != kind_of(other)


@pytest.mark.parametrize("name", ["_", "__", "npu_", "", "__iter__", "__rsub"])
def test_any_name_has_a_kind(name: str) -> None:
    assert isinstance(kind_of(name), str)


def operators(*names: str, first: int = 0, calls: int = 1) -> list[Operator]:
    return [Operator(first + place, name, calls) for place, name in enumerate(names)]


def test_equal_names_come_before_equal_kinds() -> None:
    assert paired(operators("__add__", "add"), operators("add", "__add__", first=5)) == ((0, 6), (1, 5))


def test_operators_of_one_kind_are_paired_in_order() -> None:
    found = paired(operators("matmul", "bmm", "linear"), operators("baddbmm", "addmm", "mm", first=5))
    assert found == ((0, 5), (1, 7), (2, 6))


def test_other_names_that_are_called_more_often_are_no_counterpart() -> None:
    assert paired(operators("bmm"), operators("matmul", first=5, calls=2)) == ()


def test_operators_of_other_modules_need_equally_many() -> None:
    assert paired(operators("linear"), operators("linear", "linear", first=5), strict=True) == ()
    assert paired(operators("linear", "linear"), operators("linear", "linear", first=5), strict=True) == (
        (0, 5),
        (1, 6),
    )
