"""A whole review without a mouse: from the loaded page to the saved file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page

from suggest.decisions import ACCEPT, LINK, REJECT, Decision
from suggest.review import review_text

from .conftest import MakeReview, Opener

LAYERS = "module.module.language_model.encoder.layers"
HEADER = ["search", "show-all", "show-review", "show-one", "show-apis", "undo", "save", "help"]


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def shown(page: Page) -> str:
    return (page.text_content("#detail h2") or "").split(" → ")[0]


def walk_to(page: Page, path: str) -> None:
    """Down from the first row, opening whatever is closed on the way."""
    press(page, "Home")
    for _ in range(200):
        if shown(page) == path:
            return
        here = shown(page)
        if path.startswith(f"{here}."):
            press(page, "ArrowRight")  # opens a closed row, or goes to the first row in an open one
        if shown(page) == here:
            press(page, "ArrowDown")
    raise AssertionError(f"{path} was not reached, but {shown(page)}")


def members(leaf: str, count: int = 3) -> tuple[str, ...]:
    return tuple(f"{LAYERS}.{layer}.{leaf}" for layer in range(count))


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.tagName"))


def test_from_load_to_the_saved_file(make_review: MakeReview, examples: Path, open_page: Opener) -> None:
    review, place = make_review(examples / "npu.json", examples / "gpu.json")
    page = open_page(place.as_uri())
    decisions = []

    walk_to(page, f"{LAYERS}.0.mlp.dense_h_to_4h")
    press(page, "a")
    decisions.append(Decision(kind=ACCEPT, nodes=members("mlp.dense_h_to_4h")))

    walk_to(page, f"{LAYERS}.0.self_attention.core_attention")
    press(page, "x", "u", "x")
    decisions.append(Decision(kind=REJECT, nodes=members("self_attention.core_attention")))

    press(page, "/")
    page.keyboard.type("self_attention.dense")
    page.wait_for_timeout(150)
    press(page, "Enter")
    while shown(page) != f"{LAYERS}.0.self_attention.dense":
        press(page, "ArrowDown")
    press(page, "Escape", "r")
    page.keyboard.type("layers.0 linear_fc2")
    press(page, "Enter")
    target = "model.module.decoder.layers.0.mlp.linear_fc2"
    decisions.append(Decision(kind=LINK, nodes=members("self_attention.dense"), target=target))

    press(page, "n")
    assert re.search("two on one counterpart", page.text_content("#detail") or "")
    press(page, "u")
    decisions.pop()

    walk_to(page, LAYERS)
    press(page, "ArrowDown", "e")
    walk_to(page, f"{LAYERS}.1.mlp.dense_4h_to_h")
    press(page, "o", "x", "o")
    decisions.append(Decision(kind=REJECT, nodes=(f"{LAYERS}.1.mlp.dense_4h_to_h",), here=True))

    press(page, "?")
    assert page.locator("#keys[open]").count() == 1
    press(page, "Escape")
    assert page.locator("#keys[open]").count() == 0

    with page.expect_download() as download:
        press(page, "s")
    assert Path(download.value.path()).read_text(encoding="utf-8") == review_text(review, decisions)


def test_every_control_is_reached_with_tab_and_works_with_enter(
    make_review: MakeReview, examples: Path, open_page: Opener
) -> None:
    _, place = make_review(examples / "npu.json", examples / "gpu.json")
    page = open_page(place.as_uri())
    assert focused(page) == "rows", "keys work from the start"
    press(page, "x")
    seen: list[str] = []
    for _ in range(60):
        press(page, "Tab")
        if focused(page) in seen:
            break
        if focused(page) not in ("BODY", "BUTTON"):
            seen.append(focused(page))
    assert set(HEADER) | {"rows", "detail", "do-accept", "do-rewire", "here", "pick", "lines"} <= set(seen)
    while focused(page) != "show-one":
        press(page, "Tab")
    press(page, "Enter")
    assert page.get_attribute("#show-one", "aria-pressed") == "true"
    while focused(page) != "save":
        press(page, "Tab")
    with page.expect_download():
        press(page, "Enter")


@pytest.mark.parametrize("keys", [["ArrowDown", "ArrowDown", "x"], ["ArrowDown", "x", "u"]])
def test_the_selected_row_is_told_to_screen_readers(
    make_review: MakeReview, examples: Path, open_page: Opener, keys: list[str]
) -> None:
    _, place = make_review(examples / "npu.json", examples / "gpu.json")
    page = open_page(place.as_uri())
    press(page, *keys)
    row = page.locator(f"#{page.get_attribute('#rows', 'aria-activedescendant')}")
    assert row.get_attribute("aria-selected") == "true"
    assert shown(page) in (row.get_attribute("aria-label") or "")
