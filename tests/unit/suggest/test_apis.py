"""Rules for APIs: where names differ, where an operator sits one module deeper, and where there is no counterpart."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from matcher import Module, Tree
from suggest.apis import Apis
from suggest.draft import draft
from suggest.errors import LayermapError
from suggest.invert import invert, reversed_draft
from suggest.keep import draft_around
from suggest.mapping import LayerMap, Rule, load_mapping
from suggest.read import read_pair
from suggest.replay import replay
from suggest.scopes import Scopes
from suggest.source import Entry, Source, is_api_name

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


def test_an_api_that_shares_a_modules_place_is_not_the_module() -> None:
    npu = source("m.linear", "m.linear.relu", "m.linear:L", "m:M")
    bench = source("m.linear.relu", "m.linear:L", "m:M")
    found = draft(npu, bench)
    assert (found.matched, found.npu_modules, found.npu_only) == (1, 2, ("m.linear",))
    assert found.apis == Apis(2, 2)  # the API takes the first place, where the module is on the other side


def test_an_api_does_not_meet_a_module_that_has_a_counterpart() -> None:
    npu = source("attn.q:Linear", "attn.softmax", "attn.scale_softmax:Softmax", "attn:Attention")
    bench = source("attn.q:Linear", "attn.softmax.exp", "attn.softmax:Softmax", "attn:Attention")
    found = draft(npu, bench)
    assert {"attn.scale_softmax", "attn.q", "attn"} == {
        found.npu.tree.paths[pair.npu] for pair in found.alignment.pairs
    }
    assert matched(npu, bench) == {}
    turned = reversed_draft(found)
    assert turned.faults == ()
    assert turned.matched == found.matched == 3
    back = invert(found.layer_map, npu, bench).layer_map
    assert {(rule.section, rule.key, rule.target) for rule in back.rules} == {
        (rule.section, rule.key, rule.target) for rule in turned.layer_map.rules
    }


def test_a_residual_addition_is_not_one_within_the_branch() -> None:
    def network(inside: tuple[str, ...], after: tuple[str, ...]) -> Source:
        body = ("layer.attn.q:Linear", *(f"layer.attn.{name}" for name in inside), "layer.attn.o:Linear")
        rest = [f"layer.{name}" for name in after]
        return source(*body, "layer.attn:Attn", *rest, "layer.mlp.fc:Linear", "layer.mlp:MLP", *rest, "layer:Layer")

    residual, rotary = network(("npu_rotary_mul",), ("__add__",)), network(("__mul__", "__add__", "__add__"), ())
    assert matched(residual, rotary) == matched(rotary, residual) == {}


def test_both_directions_pair_the_same_apis() -> None:
    npu = source("m.q:Linear", "m.gelu", "m.relu", "m:M")
    bench = source("m.q:Linear", "m.fast_gelu", "m.relu", "m:N")
    found = draft(npu, bench)
    assert [(rule.key, rule.target) for rule in reversed_draft(found).layer_map.rules] == [("fast_gelu", "gelu")]


def test_the_other_direction_follows_the_rules_that_are_there() -> None:
    npu, bench = source("m.q:Linear", "m.gelu", "m:M"), source("m.q:Linear", "m.strange", "m:N")
    found = draft(npu, bench)
    assert found.layer_map.rules == ()
    given = replace(found, layer_map=LayerMap((Rule(section="M", key="gelu", target="strange"),)))
    assert [(rule.section, rule.key, rule.target) for rule in reversed_draft(given).layer_map.rules] == [
        ("N", "strange", "gelu")
    ]


@pytest.mark.parametrize(
    "text", ['M:\n  "silu": "npu_silu"  # layermap: no\n', 'M:\n  "a": "b"\n  # "silu": "npu_silu"  # layermap: no\n']
)
def test_an_api_that_is_ruled_out_stays_out(text: str) -> None:
    npu, bench = source("m.q:Linear", "m.silu", "m:M"), source("m.q:Linear", "m.npu_silu", "m:N")
    assert matched(npu, bench) == {"m.silu": "m.npu_silu"}
    kept = draft_around(npu, bench, text, "m.yaml")
    assert kept.draft.apis == Apis(0, 1)
    assert kept.draft.faults == ()
    assert "npu_silu" not in [rule.target for rule in load_mapping(kept.text, "m.yaml").layer_map.rules]
    assert draft_around(npu, bench, kept.text, "m.yaml").text == kept.text


def test_an_api_of_the_same_name_that_is_ruled_out_is_blocked() -> None:
    npu, bench = source("m.q:Linear", "m.relu", "m:M"), source("m.q:Linear", "m.relu", "m:M")
    kept = draft_around(npu, bench, 'M:\n  "relu": "relu"  # layermap: no\n', "m.yaml")
    assert kept.draft.apis == Apis(0, 1)
    (rule,) = load_mapping(kept.text, "m.yaml").layer_map.rules
    assert (rule.key, rule.target) == ("relu", "relu_no_counterpart")
    assert draft_around(npu, bench, kept.text, "m.yaml").text == kept.text


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("Functional.linear.0.forward", True),
        ("Tensor.__add__.12.backward", True),
        ("Functional.linear.0.forward@step0/rank1", True),
        ("Module.fc.Linear.forward.0", False),
        ("Cell.fc.Dense.backward.0", False),
        ("Module.fc.Linear.parameters_grad", False),
        ("model.layers.0.forward_proj", False),  # of a list of parameters
        ("model", False),
    ],
)
def test_entries_of_apis_are_told_by_their_names(name: str, *, is_one: bool) -> None:
    assert is_api_name(name) == is_one


def test_a_list_of_parameters_holds_no_apis() -> None:
    inputs = Path(__file__).parents[2] / "data" / "inputs"
    found = draft(*read_pair(str(inputs / "tiny.keys.txt"), str(inputs / "tiny.print.txt")))
    assert (found.matched, found.apis) == (40, Apis(0, 0))
