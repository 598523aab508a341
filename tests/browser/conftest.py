"""A real Chromium, and a page that fails the test on any console error or request."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

from suggest.measured import measured
from suggest.read import read
from suggest.review import Review, start_review
from suggest.review_data import page_data
from suggest.review_page import review_page

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM:
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield found
        found.close()


Opener = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Opener]:
    """Opens an address; at the end of the test nothing may have gone wrong or left the page."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True)
    troubles: list[str] = []

    def opened(address: str, *, scheme: str = "light") -> Page:
        page = context.new_page()
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        own = (address.split("?", maxsplit=1)[0], "blob:", "data:")

        def heard(message: ConsoleMessage) -> None:
            expected = "409" in message.text  # a refused save; the page says so itself
            if message.type in ("error", "warning") and not expected:
                troubles.append(message.text)

        def asked(request: Request) -> None:
            if not request.url.startswith(own):
                troubles.append(f"request: {request.url}")

        page.on("console", heard)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", asked)
        page.goto(address)
        page.wait_for_selector("#rows .row")
        return page

    yield opened
    context.close()
    assert troubles == []


MakeReview = Callable[..., tuple[Review, Path]]


@pytest.fixture
def make_review(tmp_path: Path) -> MakeReview:
    """A review of two inputs, and its page in a file."""

    def made(npu: Path, bench: Path, mapping: str | None = None) -> tuple[Review, Path]:
        left, right = read(str(npu)), read(str(bench))
        review = start_review(left, right, mapping)
        place = tmp_path / "review.html"
        data = page_data(review, measured(str(npu), left), measured(str(bench), right))
        place.write_text(review_page(data), encoding="utf-8")
        return review, place

    return made
