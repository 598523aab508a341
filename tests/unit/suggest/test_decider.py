"""Decisions worked into a mapping file: what goes along with a module, and what is remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from matcher import Module, Tree
from suggest.check import check
from suggest.decisions import ACCEPT, LINK, REJECT, Decision
from suggest.entries import module_entries
from suggest.keep import draft_around
from suggest.mapping import load_mapping
from suggest.read import read
from suggest.replay import replay
from suggest.review import Review, review_text, start_review
from suggest.source import Source

LAYERS = "module.module.language_model.encoder.layers"
DENSE = tuple(f"{LAYERS}.{layer}.self_attention.dense" for layer in range(3))
HERE = "model.module.decoder.layers.0"


@pytest.fixture(scope="module")
def review(examples: Path) -> Review:
    return start_review(read(str(examples / "npu.json")), read(str(examples / "gpu.json")))


def partners(review: Review, text: str) -> dict[str, str | None]:
    return replay(review.here, review.there, load_mapping(text, "m").layer_map)


def gradient(module: str, cls: str) -> str:
    return f"Module.{module}.{cls}.parameters_grad.0"


def test_gradients_follow_a_rewired_module(review: Review) -> None:
    first = gradient(DENSE[0], "RowParallelLinear")
    before = partners(review, review.document.text)[first]
    assert before == gradient(f"{HERE}.self_attention.linear_proj", "TERowParallelLinear")
    text = review_text(review, [Decision(kind=LINK, nodes=DENSE, target=f"{HERE}.mlp.linear_fc2")])
    assert partners(review, text)[first] == gradient(f"{HERE}.mlp.linear_fc2", "TERowParallelLinear")
    other = gradient(f"{LAYERS}.0.mlp.dense_4h_to_h", "RowParallelLinear")
    assert partners(review, text)[other] == partners(review, review.document.text)[other]


def test_a_rule_for_gradients_goes_and_comes_with_the_module(review: Review) -> None:
    reject = Decision(kind=REJECT, nodes=DENSE)
    text = review_text(review, [reject])
    assert '"dense": "linear_proj"         # for parameters_grad' in review.document.text
    assert '"dense": "linear_proj"' not in text
    back = review_text(review, [reject, Decision(kind=LINK, nodes=DENSE, target=f"{HERE}.self_attention.linear_proj")])
    assert partners(review, back) == partners(review, review.document.text)


def test_gradients_of_one_layer_follow_alone(review: Review) -> None:
    decision = Decision(kind=LINK, nodes=DENSE[:1], target=f"{HERE}.mlp.linear_fc2", here=True)
    found = partners(review, review_text(review, [decision]))
    assert found[gradient(DENSE[0], "RowParallelLinear")] == gradient(f"{HERE}.mlp.linear_fc2", "TERowParallelLinear")
    before = partners(review, review.document.text)
    for path in DENSE[1:]:
        assert found[gradient(path, "RowParallelLinear")] == before[gradient(path, "RowParallelLinear")]


def side(**modules: str) -> Source:
    entries = module_entries((path.replace("__", "."), cls) for path, cls in modules.items())
    tree = Tree.build(Module(".".join(entry.scope), entry.type or "") for entry in entries)
    return Source(label="side.txt", kind="text", tree=tree, entries=entries)


NPU = side(block="Block", block__norm="Norm", block__extra="Extra", other="Block", other__norm="Norm")
BENCH = side(block="Block", block__norm="Norm", block__more="Linear", other="Block", other__norm="Norm")


def test_a_pair_that_is_right_by_name_is_remembered_when_accepted() -> None:
    review = start_review(NPU, BENCH, "# ours\n{}\n")
    text = review_text(review, [Decision(kind=ACCEPT, nodes=("block.norm",))])
    assert text == '# ours\nBlock:\n  "norm": "norm"  # reviewed\n'
    assert partners(review, text) == partners(review, "{}")
    assert check(load_mapping(text, "m"), NPU, BENCH).findings == ()
    plain = text.replace("  # reviewed", "")
    assert [item.code for item in check(load_mapping(plain, "m"), NPU, BENCH).findings] == ["LM203"]
    assert draft_around(NPU, BENCH, text, "m").text.splitlines()[:3] == text.splitlines()
    assert review_text(start_review(NPU, BENCH, text), [Decision(kind=ACCEPT, nodes=("other.norm",))]) == text


def test_that_there_is_no_counterpart_is_remembered_too() -> None:
    review = start_review(NPU, BENCH, "{}\n")
    text = review_text(review, [Decision(kind=ACCEPT, nodes=("block.extra",))])
    assert text == 'Block:\n  "extra": "extra_no_counterpart"  # reviewed\n'
    assert check(load_mapping(text, "m"), NPU, BENCH).findings == ()
    kept = draft_around(NPU, BENCH, text, "m")
    assert "block.extra" in kept.draft.npu_only


def test_a_container_needs_no_rule_to_be_remembered() -> None:
    npu = side(layers__0="Block")
    review = start_review(npu, npu, "{}\n")
    assert review_text(review, [Decision(kind=ACCEPT, nodes=("layers",))]) == "{}\n"
