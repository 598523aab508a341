"""Rules for APIs: where names differ, where an operator sits one module deeper, and where there is no counterpart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from matcher import Module, Tree
from suggest.draft import draft
from suggest.errors import LayermapError
from suggest.invert import invert
from suggest.read import read_pair
from suggest.replay import replay
from suggest.scopes import Scopes
from suggest.source import Entry, Source

DUMPS = Path(__file__).parents[2] / "data" / "dumps"
CALLS = [
    ("gpt__legacy_core", 85, 85, 85, 85),
    ("llama__litgpt_hf", 83, 93, 83, 111),
    ("gpt2__meglegacy_hf", 30, 52, 30, 71),
]


def source(*calls: str) -> Source:
    """A dump of these calls, innermost first: ``path:Class`` is a module, ``path.api`` an API."""
    entries: list[Entry] = []
    modules: list[Module] = []
    count: dict[str, int] = {}
    for call in calls:
        path, _, cls = call.partition(":")
        steps = tuple(path.split("."))
        number = count[path] = count.get(path, -1) + 1
        name = f"Module.{path}.{cls}.forward.{number}" if cls else f"Torch.{steps[-1]}.{len(entries)}.forward"
        entries.append(Entry(name, steps, cls or steps[-1]))
        if cls:
            modules.append(Module(path, cls))
    modules.sort(key=lambda module: module.path)
    return Source(label="dump", kind="dump", tree=Tree.build(modules), entries=tuple(entries))


def matched(npu: Source, bench: Source) -> dict[str, str]:
    found = draft(npu, bench)
    pairs = replay(Scopes.build(npu.entries), Scopes.build(bench.entries), found.layer_map)
    scope = {entry.name: ".".join(entry.scope) for entry in npu.entries}
    other = {entry.name: ".".join(entry.scope) for entry in bench.entries}
    return {scope[one]: other[two] for one, two in pairs.items() if two and one.startswith("Torch")}


@pytest.mark.parametrize(("name", "there", "ours", "back", "theirs"), CALLS)
def test_apis_of_real_dumps_match(name: str, there: int, ours: int, back: int, theirs: int) -> None:
    npu, bench = (next((DUMPS / name / side).glob("**/dump.json")).parent for side in ("left", "right"))
    sides = read_pair(str(npu), str(bench))
    found, turned = draft(*sides), draft(*sides[::-1])
    assert (found.apis.matched, found.apis.total) == (there, ours)
    assert (turned.apis.matched, turned.apis.total) == (back, theirs)
    assert found.faults == turned.faults == ()


def test_an_operator_of_another_name_gets_a_rule() -> None:
    npu = source("attn.npu_fusion_attention", "attn:Attention")
    bench = source("self_attn.scaled_dot_product_attention", "self_attn:Attn")
    assert matched(npu, bench) == {"attn.npu_fusion_attention": "self_attn.scaled_dot_product_attention"}
    rule = next(rule for rule in draft(npu, bench).layer_map.rules if rule.section == "Attention")
    assert (rule.key, rule.target, rule.note) == ("npu_fusion_attention", "scaled_dot_product_attention", "API")


def test_an_operator_one_module_deeper_is_found() -> None:
    npu = source("mlp.fc1:Linear", "mlp.silu", "mlp.fc2:Linear", "mlp:MLP")
    bench = source("mlp.fc1:Linear", "mlp.act_fn.silu", "mlp.act_fn:SiLU", "mlp.fc2:Linear", "mlp:LlamaMLP")
    assert matched(npu, bench) == {"mlp.silu": "mlp.act_fn.silu"}
    assert matched(bench, npu) == {"mlp.act_fn.silu": "mlp.silu"}


def test_an_activation_may_wait_for_a_branch_beside_it() -> None:
    npu = source("mlp.fc1:Linear", "mlp.up:Linear", "mlp.silu", "mlp:MLP")
    bench = source("mlp.fc1:Linear", "mlp.act_fn.silu", "mlp.act_fn:SiLU", "mlp.up:Linear", "mlp:MLP")
    assert matched(npu, bench) == {"mlp.silu": "mlp.act_fn.silu"}


def test_an_operator_on_the_other_side_of_a_matched_module_is_another_one() -> None:
    npu = source("attn.drop.dropout", "attn.drop:Dropout", "attn.dense:Linear", "attn:Attention")
    bench = source("attn.dense:Linear", "attn.dropout", "attn:Attention")
    assert "attn.drop.dropout" not in matched(npu, bench)


def test_the_parts_of_a_fused_module_get_no_rule() -> None:
    npu = source("attn.qkv.linear", "attn.qkv:Linear", "attn.proj:Linear", "attn:Attention")
    calls = [call for one in "qkv" for call in (f"attn.{one}_proj.linear", f"attn.{one}_proj:Linear")]
    bench = source(*calls, "attn.proj:Linear", "attn:Attention")
    assert matched(npu, bench) == {}


def test_the_level_of_modules_has_rules_for_modules_only() -> None:
    npu = source("attn.npu_fusion_attention", "attn:Attention")
    bench = source("self_attn.scaled_dot_product_attention", "self_attn:Attn")
    assert draft(npu, bench, "module").layer_map.sections() == {"TopLayer": {"attn": "self_attn"}}


def test_a_level_that_an_input_does_not_hold_is_an_error() -> None:
    plain = source("attn:Attention")
    with pytest.raises(LayermapError, match="holds no APIs; dump it with level mix"):
        draft(plain, source("attn.linear", "attn:Attention"), "mix")


def test_a_reviewed_mapping_is_inverted_with_its_apis() -> None:
    npu = source("attn.npu_fusion_attention", "attn:Attention")
    bench = source("self_attn.scaled_dot_product_attention", "self_attn:Attn")
    back = invert(draft(npu, bench).layer_map, npu, bench)
    assert back.layer_map.sections() == {
        "TopLayer": {"self_attn": "attn"},
        "Attn": {"scaled_dot_product_attention": "npu_fusion_attention"},
    }
    assert back.pairs == 1


def test_the_count_of_apis_is_in_words() -> None:
    npu, bench = source("attn.linear", "attn:A"), source("attn.linear", "attn:A")
    assert re.fullmatch(r"1 of 1 API calls match", draft(npu, bench).apis.line())
    assert draft(source("attn:A"), source("attn:A")).apis.line() == ""
