"""The pictures in the README: ``pytest tests/browser --update-golden`` makes them anew."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from .conftest import MakeReview, Opener

DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_as_large_as_its_picture_in_the_readme(
    make_review: MakeReview, data: Path, open_page: Opener, scheme: str, *, update_golden: bool
) -> None:
    folder = data / "pairs" / "seed-qwen2_5-vl"
    _, place = make_review(folder / "left.txt", folder / "right.txt")
    page = open_page(place.as_uri(), scheme=scheme)
    page.evaluate("document.querySelector('#sides').textContent = 'mindspeed_mm.txt → llamafactory.txt'")
    page.keyboard.press("n")
    picture = page.screenshot()
    goal = DOCS / f"review-{scheme}.png"
    if update_golden:
        goal.parent.mkdir(exist_ok=True)
        goal.write_bytes(picture)
    assert struct.unpack(">II", picture[16:24]) == struct.unpack(">II", goal.read_bytes()[16:24]) == (1280, 720)
    assert f"docs/review-{scheme}.png" in (DOCS.parent / "README.md").read_text(encoding="utf-8")
