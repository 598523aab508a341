"""Shared by all tests: where the data is, and how golden files are rewritten."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("MSPROBE_LOG_LEVEL", "3")
settings.register_profile("patient", deadline=None)  # how fast a machine is, is nothing that a test can tell
settings.load_profile("patient")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the files in tests/golden")


@pytest.fixture(scope="session", autouse=True)
def heed_interrupts() -> None:
    """A run in the background ignores interrupts, and so would every command that it starts."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def data() -> Path:
    return Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def examples() -> Path:
    return Path(__file__).parent.parent / "examples"
