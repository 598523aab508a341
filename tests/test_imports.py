"""Starting the command loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numpy", "scipy", "rapidfuzz", "yaml", "msprobe", "matcher")


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["suggest", "--help"], ["check", "--help"], ["review", "--help"], ["diff", "--help"]],
)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys; from suggest.cli import main\n"
        f"try: main({arguments!r})\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr.strip() == "[]"


def test_the_public_names_are_sorted_and_there() -> None:
    import matcher
    import suggest

    for package in (matcher, suggest):
        assert list(package.__all__) == sorted(package.__all__)
        for name in package.__all__:
            assert callable(getattr(package, name)) or name in ("Params", "Shape"), name
            assert getattr(package, name) is getattr(package, name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    import suggest

    with pytest.raises(AttributeError, match="no attribute 'frobnicate'"):
        _ = suggest.frobnicate
