"""Whatever stands in a mapping, drafting around it leaves it standing."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from matcher import Module, Tree
from suggest.entries import module_entries
from suggest.errors import MappingError
from suggest.keep import draft_around
from suggest.mapping import load_mapping, quoted
from suggest.source import Source

STEPS = st.sampled_from(["attn", "mlp", "layers", "0", "1", "gone", "norm"])
PATHS = st.lists(STEPS, min_size=1, max_size=4).map(".".join)
CLASSES = st.sampled_from(["Block", "Attention", "MLP", "Linear"])
TREES = st.dictionaries(PATHS, CLASSES, min_size=1, max_size=10)
RULES = st.dictionaries(PATHS, PATHS, min_size=1, max_size=3)
REMARKS = st.sampled_from(["", "  # ours", " # reviewed", "  # 0.61 review: or x"])


def source(tree: dict[str, str]) -> Source:
    entries = module_entries(tree.items())
    modules = (Module(".".join(entry.scope), entry.type or "") for entry in entries)
    return Source(label="side.txt", kind="text", tree=Tree.build(modules), entries=entries)


@st.composite
def mappings(draw: st.DrawFn) -> str:
    lines = ["# ours"]
    for section, rules in draw(st.dictionaries(CLASSES | st.just("TopLayer"), RULES, min_size=1, max_size=3)).items():
        lines += [
            f"{section}:",
            *(f"  {quoted(key)}:  {quoted(target)}{draw(REMARKS)}" for key, target in rules.items()),
            "",
        ]
    return "\n".join(lines)


@pytest.mark.bulk
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(TREES, TREES, mappings())
@example(  # a second look, told more, finds no counterpart for what the first let follow its parent
    {
        "attn": "Block",
        "attn.0.0.gone": "Block",
        "attn.0": "Block",
        "0": "Attention",
        "1.attn": "MLP",
        "1.mlp": "Block",
        "mlp.1": "Block",
        "1.0": "Block",
    },
    {
        "attn": "Block",
        "mlp": "Attention",
        "0": "Linear",
        "mlp.mlp": "Attention",
        "attn.attn.layers": "Linear",
        "attn.attn.attn": "Linear",
        "layers.attn.attn.mlp": "MLP",
    },
    '# ours\nTopLayer:\n  "attn":  "attn"\n',
)
@example(
    {"attn.attn.attn": "Block", "mlp.attn.attn": "Block", "mlp.mlp.mlp": "Block", "attn.attn.mlp.mlp": "Block"},
    {"attn.attn": "Block", "mlp.attn": "Block", "layers.mlp": "Block"},
    '# ours\nTopLayer:\n  "attn":  "attn"\n',
)
def test_given_lines_stay_and_a_second_time_adds_nothing(npu: dict[str, str], bench: dict[str, str], text: str) -> None:
    left, right = source(npu), source(bench)
    try:
        kept = draft_around(left, right, text, "m")
    except MappingError as error:
        contradiction = str(error)
        event("contradiction")
        assert re.match(r"m:\d+: .* contradicts line \d+, ", contradiction)
        return
    lines = iter(kept.text.split("\n"))
    assert all(line in lines for line in text.split("\n") if line)
    before, after = (load_mapping(mapping, "m").layer_map.sections() for mapping in (text, kept.text))
    assert all(rules.items() <= after[section].items() for section, rules in before.items())
    assert draft_around(left, right, kept.text, "m").text == kept.text
