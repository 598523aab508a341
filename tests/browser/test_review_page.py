"""The review page, used as a person uses it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from suggest.decisions import ACCEPT, LINK, REJECT, Decision
from suggest.mapping import LayerMap, load_mapping
from suggest.replay import land
from suggest.review import Review, review_text

from .conftest import MakeReview, Opener

LAYERS = "module.module.language_model.encoder.layers"


def select(page: Page, path: str) -> None:
    """Search for a module, press Enter, and walk to its row."""
    page.keyboard.press("/")
    page.keyboard.type(path)
    page.wait_for_timeout(150)
    page.keyboard.press("Enter")
    for _ in range(80):
        if (page.text_content("#detail h2") or "").startswith(f"{path} "):
            page.keyboard.press("Escape")
            return
        page.keyboard.press("ArrowDown")
    raise AssertionError(path)


def saved(page: Page) -> str:
    with page.expect_download() as download:
        page.keyboard.press("s")
    assert download.value.suggested_filename == "mapping.yaml"
    return Path(download.value.path()).read_text(encoding="utf-8")


def members(leaf: str) -> tuple[str, ...]:
    return tuple(f"{LAYERS}.{layer}.{leaf}" for layer in range(3))


def lands(review: Review, text: str) -> list[str]:
    layer_map = load_mapping(text, "saved").layer_map
    return list(land(review.here, review.there, layer_map).scopes)


@pytest.fixture
def example(make_review: MakeReview, examples: Path) -> tuple[Review, Path]:
    return make_review(examples / "npu.json", examples / "gpu.json")


def test_untouched_it_saves_the_draft_with_its_rules(example: tuple[Review, Path], open_page: Opener) -> None:
    review, place = example
    assert saved(open_page(place.as_uri())) == review_text(review, [])


def test_accept_reject_rewire_undo_and_save_give_the_bytes_of_the_library(
    example: tuple[Review, Path], open_page: Opener
) -> None:
    review, place = example
    page = open_page(place.as_uri())
    decisions = []

    select(page, f"{LAYERS}.0.mlp.dense_h_to_4h")
    page.keyboard.press("a")
    decisions.append(Decision(kind=ACCEPT, nodes=members("mlp.dense_h_to_4h")))
    assert page.text_content("#status") == "accepted dense_h_to_4h: settles 3 nodes"
    assert saved(page) == review_text(review, decisions)

    select(page, f"{LAYERS}.0.self_attention.core_attention")
    page.keyboard.press("x")
    decisions.append(Decision(kind=REJECT, nodes=members("self_attention.core_attention")))
    assert "changes 9 nodes, 9 lose their counterpart" in (page.text_content("#status") or "")
    assert "core_attention_no_counterpart" in (page.text_content("#lines") or "")
    assert saved(page) == review_text(review, decisions)

    page.keyboard.press("u")
    decisions.pop()
    assert saved(page) == review_text(review, decisions)

    select(page, f"{LAYERS}.0.self_attention.dense")
    page.keyboard.press("r")
    page.keyboard.type("layers.0 linear_fc2")
    page.keyboard.press("Enter")
    decisions.append(
        Decision(
            kind=LINK, nodes=members("self_attention.dense"), target="model.module.decoder.layers.0.mlp.linear_fc2"
        )
    )
    text = saved(page)
    assert text == review_text(review, decisions)
    assert '"dense": "linear_fc2"          # for parameters_grad' in text
    assert '"dense": "linear_proj"' not in text
    assert "two on one counterpart" in (page.text_content("#detail") or "")


def test_what_was_accepted_by_its_name_is_still_accepted_later(
    make_review: MakeReview, tmp_path: Path, open_page: Opener
) -> None:
    for side, classes in (("npu", "AB"), ("gpu", "XY")):
        text = f"Net(\n  (one): {classes[0]}()\n  (two): {classes[1]}()\n)\n"
        (tmp_path / f"{side}.txt").write_text(text)
    sides = (tmp_path / "npu.txt", tmp_path / "gpu.txt")
    _, place = make_review(*sides, 'TopLayer:\n  "two": "one"\n')
    page = open_page(place.as_uri())
    select(page, "one")
    assert "two on one counterpart" in (page.text_content("#detail") or "")
    page.keyboard.press("a")
    select(page, "two")
    page.keyboard.press("x")
    page.keyboard.press("a")
    text = saved(page)
    assert text == (
        'TopLayer:\n  "two": "two_no_counterpart"  # reviewed; layermap: no one\n  "one": "one"  # reviewed\n'
    )
    _, place = make_review(*sides, text)
    assert open_page(place.as_uri()).text_content("#count-review") == "0"


def test_dragging_and_clicking_rewire_too(example: tuple[Review, Path], open_page: Opener) -> None:
    review, place = example
    page = open_page(place.as_uri())
    row = page.locator("#rows .row", has=page.locator(".name", has_text=re.compile(r"^query_key_value$")))
    goal = page.locator("#rows .row", has=page.locator(".name", has_text=re.compile(r"^dense$")))
    row.locator(".npu").drag_to(goal.locator(".bench"))
    nodes = members("self_attention.query_key_value")
    target = "model.module.decoder.layers.0.self_attention.linear_proj"
    decisions = [Decision(kind=LINK, nodes=nodes, target=target)]
    assert saved(page) == review_text(review, decisions)
    assert (page.text_content("#status") or "").startswith("saved")
    page.locator("#do-rewire").click()
    page.locator("#rows .row", has=page.locator(".name", has_text=re.compile(r"^mlp$"))).locator(".bench").click()
    decisions.append(Decision(kind=LINK, nodes=nodes, target="model.module.decoder.layers.0.mlp"))
    assert saved(page) == review_text(review, decisions)


def test_only_here_leaves_the_other_instances_alone(example: tuple[Review, Path], open_page: Opener) -> None:
    review, place = example
    page = open_page(place.as_uri())
    page.locator(".times").first.click()
    select(page, f"{LAYERS}.1.mlp.dense_4h_to_h")
    page.keyboard.press("o")
    page.keyboard.press("x")
    assert "changes 1 node, 1 loses its counterpart" in (page.text_content("#status") or "")
    assert saved(page) == review_text(
        review, [Decision(kind=REJECT, nodes=(f"{LAYERS}.1.mlp.dense_4h_to_h",), here=True)]
    )


def test_search_and_filters_show_what_they_say(example: tuple[Review, Path], open_page: Opener) -> None:
    _, place = example
    page = open_page(place.as_uri())
    page.fill("#search", "dense_4h")
    page.wait_for_timeout(200)
    names = page.locator("#rows .npu .name").all_text_contents()
    assert names[-1] == "dense_4h_to_h"
    assert "embedding" not in names
    page.fill("#search", "no such thing")
    page.wait_for_selector("#nothing:not([hidden])")
    page.fill("#search", "")
    page.click("#show-one")
    page.wait_for_timeout(200)
    assert "post_attention_norm" in page.locator("#rows .row.one .npu .name").all_text_contents()
    assert "input_layernorm" in page.locator("#rows .row.bench .bench .name").all_text_contents()
    page.click("#show-review")
    page.wait_for_selector("#nothing:not([hidden])")


def test_apis_are_shown_on_demand(make_review: MakeReview, data: Path, open_page: Opener) -> None:
    sides = (data / "dumps" / "gpt__legacy_core" / side for side in ("left", "right"))
    _, place = make_review(*sides)
    page = open_page(place.as_uri())
    page.fill("#search", "gelu")
    page.wait_for_selector("#nothing:not([hidden])")
    page.click("#show-apis")
    assert "API" in page.locator("#rows .cls").all_text_contents()


def test_evidence_shapes_and_statistics_of_the_selected_pair(example: tuple[Review, Path], open_page: Opener) -> None:
    _, place = example
    page = open_page(place.as_uri())
    select(page, f"{LAYERS}.0.mlp.dense_4h_to_h")
    shown = page.inner_text("#detail")
    assert "weight [64, 256]" in shown
    assert re.search(r"out float32\[\d+,\d+,64\] [\d.e-]+ -", shown)
    assert page.locator("#detail .bars dt").all_text_contents()[:3] == ["confidence", "name", "class"]


def wrong(text: str, swaps: list[tuple[str, str]]) -> str:
    """The draft with the targets of these rules changed, without comments."""
    for rule, target in swaps:
        text, count = re.subn(rf'("{re.escape(rule)}": )"[^"]*".*', rf'\1"{target}"', text, count=1)
        assert count == 1
    return re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)


def test_five_wrong_rules_are_right_after_at_most_twelve_actions(
    make_review: MakeReview, examples: Path, open_page: Opener
) -> None:
    sides = (examples / "npu.json", examples / "gpu.json")
    right, _ = make_review(*sides)
    broken = wrong(
        right.document.text,
        [
            ("query_key_value", "linear_proj"),
            ("dense", "linear_qkv"),
            ("dense_h_to_4h", "linear_fc2"),
            ("final_norm", "layers"),
            ("language_model.rotary_pos_emb", "embedding"),
        ],
    )
    review, place = make_review(*sides, broken)
    assert lands(review, broken) != lands(review, right.document.text)
    page = open_page(place.as_uri())
    actions = 0
    while page.text_content("#count-review") != "0":
        page.keyboard.press("n")
        page.keyboard.press("1")
        actions += 2
        assert actions <= 11
    text = saved(page)
    assert actions + 1 <= 12
    assert lands(review, text) == lands(review, right.document.text)


def test_five_wrong_rules_of_a_vision_language_model_by_clicking(
    make_review: MakeReview, data: Path, open_page: Opener
) -> None:
    folder = data / "pairs" / "seed-qwen2_5-vl"
    sides = (folder / "left.txt", folder / "right.txt")
    right, _ = make_review(*sides)
    swaps = [
        ("input_layernorm", "norm2"),
        ("pre_mlp_layernorm", "norm1"),
        ("self_attention", "mlp"),
        ("projector", "blocks"),
        ("linear_qkv", "proj"),
    ]
    review, place = make_review(*sides, wrong(right.document.text, swaps))
    page = open_page(place.as_uri())
    actions = 0
    for key, _ in swaps:
        page.locator("#lines button", has_text=f'"{key}":').first.click()
        actions += 1
        best = page.locator("ol[aria-label='Other counterparts'] li", has_text="likeliest")
        best.locator("button").first.click()
        actions += 1
    text = saved(page)
    assert actions + 1 <= 12
    assert lands(review, text) == lands(review, right.document.text)


def test_hostile_names_stay_inert(make_review: MakeReview, tmp_path: Path, open_page: Opener) -> None:
    evil = '</script><img src=x onerror="document[`title`]=1">'
    for side, name in (("npu", "a"), ("gpu", "b")):
        names = [f"Module.m.{evil}.{evil}.forward.0", f"Module.m.{name}.Linear.forward.0", "Module.m.M.forward.0"]
        construct = {names[2]: None, names[1]: names[2], names[0]: names[2]}
        (tmp_path / side).mkdir()
        (tmp_path / side / "dump.json").write_text(
            json.dumps({"data": {entry: {"input_args": [], "output": []} for entry in names}})
        )
        (tmp_path / side / "construct.json").write_text(json.dumps(construct))
        (tmp_path / side / "stack.json").write_text("{}")
    _, place = make_review(tmp_path / "npu", tmp_path / "gpu", f'M: # {evil}\n  "a": "b" # {evil}\n')
    page = open_page(place.as_uri())
    assert page.title() == "layermap review"
    assert page.locator("img").count() == 0
    assert evil in page.inner_text("#rows")
    for key in ("ArrowDown", "a", "x", "1"):
        page.keyboard.press(key)
    assert page.locator("img").count() == 0
    assert page.title() == "layermap review"
    assert evil in saved(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_for_accessibility(example: tuple[Review, Path], open_page: Opener, scheme: str) -> None:
    _, place = example
    page = open_page(place.as_uri(), scheme=scheme)
    select(page, f"{LAYERS}.0.self_attention.core_attention")
    page.keyboard.press("x")
    page.wait_for_timeout(1400)
    for state in ("rows", "keys"):
        if state == "keys":
            page.keyboard.press("?")
        found = Axe().run(page).response["violations"]
        serious = [item for item in found if item["impact"] in ("serious", "critical")]
        assert [(item["id"], [node["html"] for node in item["nodes"]]) for item in serious] == []


def test_everything_fits_a_small_window(example: tuple[Review, Path], open_page: Opener) -> None:
    _, place = example
    page = open_page(place.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= 1280 && document.documentElement.scrollHeight <= 720")
    for name in ("#search", "#save", "#rows", "#detail", "#lines", "#status"):
        box = page.locator(name).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 1280
        assert box["y"] + box["height"] <= 720


def test_the_rules_follow_every_decision(example: tuple[Review, Path], open_page: Opener) -> None:
    review, place = example
    page = open_page(place.as_uri())
    select(page, f"{LAYERS}.0.mlp")
    page.keyboard.press("x")
    lines = page.locator("#lines li").all_text_contents()
    expected = review_text(review, [Decision(kind=REJECT, nodes=members("mlp"))])
    assert [line.rstrip() for line in lines] == [line.rstrip() for line in expected.split("\n")]
    assert page.locator("#lines li.changed").count() >= 1
    assert LayerMap() != load_mapping(expected, "m").layer_map
