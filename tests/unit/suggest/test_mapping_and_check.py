"""Mapping files: what msprobe would make of them, and what a check says."""

from __future__ import annotations

import yaml
from hypothesis import given
from hypothesis import strategies as st

from suggest.check import check, render_report
from suggest.collapse import collapsed
from suggest.draft import draft
from suggest.mapping import LayerMap, Rule, dump_json, dump_yaml, load_mapping
from suggest.read_text import read_text
from suggest.render import render, summary
from suggest.source import Source

NAMES = st.text(min_size=1, max_size=12)


@given(st.dictionaries(NAMES, st.dictionaries(NAMES, NAMES, min_size=1, max_size=3), max_size=4), NAMES, NAMES)
def test_what_is_written_is_what_a_loader_reads(mapping: dict[str, dict[str, str]], note: str, header: str) -> None:
    rules = [
        Rule(section=section, key=key, target=target, confidence=0.5, note=note)
        for section, keys in mapping.items()
        for key, target in keys.items()
    ]
    text = dump_yaml(LayerMap(tuple(rules)), [header], [note], comments=True)
    assert yaml.safe_load(text) == mapping
    assert load_mapping(text, "m").layer_map.sections() == {
        section: {key: target.split("(")[0] for key, target in keys.items()}
        for section, keys in mapping.items()
        if section != "Cell"
    } | ({"TopLayer": {k: t.split("(")[0] for k, t in mapping["Cell"].items()}} if "Cell" in mapping else {})


def test_no_rules_is_an_empty_mapping_and_not_an_empty_file() -> None:
    assert dump_yaml(LayerMap(), comments=False) == "{}\n"


def test_sections_that_yaml_would_misread_are_quoted() -> None:
    rules = LayerMap((Rule(section="yes", key="1", target="null"), Rule(section="0", key="a", target="b")))
    assert dump_yaml(rules, comments=False) == '"yes":\n  "1": "null"\n\n"0":\n  "a": "b"\n'
    assert '"key": "1"' in dump_json(rules)


def problems(text: str) -> list[tuple[int, bool]]:
    return [(problem.line, problem.fatal) for problem in load_mapping(text, "m").problems]


def test_everything_that_msprobe_rejects_or_changes_is_found_by_line() -> None:
    assert problems("") == [(1, True)]
    assert problems("[a]") == [(1, True)]
    assert problems("A:\n  a: 1\n  b: [x]\n  null: c\n") == [(2, True), (3, True), (4, True)]
    assert problems("A:\nB: [a]\n") == [(1, True), (2, True)]
    assert problems("1:\n  a: b\n") == [(1, False)]
    assert problems("A: {a: b}\nA: {c: d}\n") == [(2, False)]
    assert problems("A:\n  a: b\n  a: c\n") == [(3, False)]
    assert problems("A: {a: 'b(Linear)'}\n") == [(1, False)]
    assert problems("A: {a: b}\n---\nB: {a: b}\n") == [(3, True)]
    assert problems("TopLayer: {a: b}\nCell: {c: d}\n") == [(2, False)]
    assert problems("Cell: {c: d}\nEmpty: {}\n") == []


def test_cell_is_the_old_name_of_the_top() -> None:
    assert load_mapping("TopLayer: {a: b}\nCell: {c: d}\n", "m").layer_map.sections() == {"TopLayer": {"c": "d"}}
    assert load_mapping("TopLayer: {a: b}\nCell: {}\n", "m").layer_map.sections() == {}


def test_paths_that_differ_in_numbers_are_one_line() -> None:
    paths = ["a.0.x", "a.1.x", "a.2.x", "b.1.c.5", "b.3.c.5", "d"]
    assert collapsed(paths) == ["a.0-2.x (3)", "b.1,3.c.5 (2)", "d"]


def source(text: str) -> Source:
    return read_text(text, "model.txt")


NPU = "M(\n  (a): A(\n    (x): X()\n    (y): Y()\n  )\n  (b): B()\n)\n"
BENCH = "M(\n  (a): A(\n    (z): X()\n    (y): Y()\n  )\n  (c): B()\n)\n"


def codes(text: str) -> list[str]:
    return [finding.code for finding in check(load_mapping(text, "m"), source(NPU), source(BENCH)).findings]


def test_every_kind_of_wrong_rule_is_a_finding() -> None:
    assert codes("TopLayer: {b: c}\nA: {x: z}\n") == []
    assert codes("Zork: {x: z}\n") == ["LM201"]
    assert codes("A: {zork: z}\n") == ["LM201"]
    assert codes("A: {x: zork}\n") == ["LM202"]
    assert codes("A: {x: x_no_counterpart}\n") == []
    assert codes("A: {y: y}\n") == ["LM203"]
    assert codes("A: {x: y}\n") == ["LM204"]
    assert codes("A: {y: y}\nTopLayer: {a.y: a.z, a: a}\n") == ["LM201", "LM203"]
    assert codes("A: {1: z}\n") == ["LM101"]


def test_a_report_reads_as_text() -> None:
    report = check(load_mapping("A: {x: zork}\n", "m"), source(NPU), source(BENCH))
    assert render_report(report).splitlines() == [
        "modules forward: 2 of 4 matched",
        "m:1: LM202 A: x -> zork: the bench side has no a.zork; correct the target",
        "not matched:",
        "  a.x",
        "  b",
        "1 finding",
    ]


def test_a_doubtful_draft_says_what_to_review_and_warns() -> None:
    found = draft(source(NPU.replace("(x): X", "(q7z): K")), source(BENCH))
    text = render(found, "yaml", comments=True)
    assert text.startswith("# layermap draft: NPU model.txt (4 modules) -> bench model.txt (4 modules)\n")
    assert summary(found)[-1].startswith(("without counterpart", "  "))


def test_a_long_list_of_one_sided_modules_is_cut() -> None:
    many = "".join(f"  (n{chr(97 + n // 26)}{chr(97 + n % 26)}): Zork{n}()\n" for n in range(60))
    text = render(draft(source(f"M(\n{many})\n"), source(BENCH)), "yaml", comments=True)
    assert "#   and 20 more\n" in text
    assert "{}" in text
