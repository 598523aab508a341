"""Mapping files edited in place."""

from __future__ import annotations

from pathlib import Path

import pytest

from suggest.errors import MappingError
from suggest.read_document import load_document

FILE = """# ours
TopLayer:   # outer
  "module": "model"   # 1.00

Layer:
    attn:   self_attn      # 0.61 review: or x; asked Li
    # between
    "mlp": mlp2
"""


def test_what_is_not_touched_stays_byte_for_byte() -> None:
    assert load_document(FILE, "m").text == FILE
    lines = load_document(FILE, "m").with_rule("Layer", "attn", "attention", ["reviewed"]).text.splitlines()
    assert lines[5] == '    attn:   "attention"    # reviewed; asked Li'
    assert lines[:5] + lines[6:] == FILE.splitlines()[:5] + FILE.splitlines()[6:]


@pytest.mark.parametrize("name", sorted(path.name for path in (Path(__file__).parents[2] / "golden").glob("*.yaml")))
def test_every_golden_draft_comes_back_unchanged(name: str) -> None:
    text = (Path(__file__).parents[2] / "golden" / name).read_text(encoding="utf-8")
    assert load_document(text, name).text == text


def test_new_rules_go_behind_their_section_and_take_its_indent() -> None:
    document = load_document(FILE, "m").with_rule("Layer", "norm", "ln", ["0.90 new"])
    assert document.text == FILE + '    "norm": "ln"  # 0.90 new\n'


def test_a_new_top_layer_comes_first_and_another_section_last() -> None:
    document = load_document("# c\nA:\n  a: b\n", "m").with_rule("TopLayer", "x", "y", []).with_rule("no", "k", "v", [])
    assert document.text == '# c\nTopLayer:\n  "x": "y"\n\nA:\n  a: b\n\n"no":\n  "k": "v"\n'


def test_the_last_rule_takes_its_section_along_and_leaves_braces() -> None:
    document = load_document("# c\n\nA:\n  a: b\n", "m").without("A", "a")
    assert document.text == "# c\n{}\n"
    assert document.with_rule("A", "a", "b", []).text == '# c\nA:\n  "a": "b"\n'


def test_flow_style_is_written_out_line_by_line() -> None:
    assert load_document("A: {a: b, c: d}\n# e\nB:\n  x:\n    y\n", "m").text == (
        'A:\n  "a": "b"\n  "c": "d"\n# e\nB:\n  "x": "y"\n'
    )
    assert load_document("{A: {a: b}}\n", "m").with_rule("A", "a", "c", []).text == 'A:\n  "a": "c"\n'
    assert load_document("A: {}\n", "m").text == "A: {}\n"


def test_cell_is_the_top_layer_and_a_number_no_section() -> None:
    document = load_document("Cell:\n  a: b(Linear)\n1:\n  c: d\n", "m")
    assert [(rule.section, rule.key, rule.target) for rule in document.layer_map().rules] == [("TopLayer", "a", "b")]
    assert document.with_rule("TopLayer", "a", "c", []).text == 'Cell:\n  a: "c"\n1:\n  c: d\n'


def test_line_ends_of_windows_stay() -> None:
    document = load_document("A:\r\n  a: b # x\r\n", "m").with_rule("A", "c", "d", [])
    assert document.text == 'A:\r\n  a: b # x\r\n  "c": "d"\r\n'


def test_comments_say_what_is_ruled_out() -> None:
    text = "A:\n  a: b # layermap: no\n  c: d # mine; layermap: no x, y.z\n  e: f # layermap: nothing\n"
    lines = load_document(text, "m").lines
    assert [line.forbidden() for line in lines[1:4]] == [["b"], ["x", "y.z"], []]
    assert [line.is_ruled_out() for line in lines[1:4]] == [True, False, False]
    assert lines[2].words() == ["mine"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("A:\n  a: b\n  0: c\n", "m:3"),
        ("A:\n", "m:1"),
        ("A:\n  a: b\nA:\n  c: d\n", "m:3"),
        ("Cell: {a: b}\nTopLayer: {c: d}\n", "m:1"),
    ],
)
def test_what_msprobe_would_not_take_is_an_error(text: str, place: str) -> None:
    with pytest.raises(MappingError, match=place):
        load_document(text, "m")
