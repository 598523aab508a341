"""Write a result: to standard output, or whole or not at all into a file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from .errors import LayermapError


def write(text: str, output: str | None) -> None:
    """The text to standard output, or into a file that keeps its mode and is replaced in one step.

    Raises `LayermapError` where that cannot be done.
    """
    if output is None:
        click.echo(text, nl=False)
        return
    replace_file(output, text, "choose another place with -o")


def replace_file(path: str, text: str, hint: str, mode: int | None = None) -> None:
    """Put a text into a file, whole or not at all; it gets the mode, or keeps the one that it has or would get.

    Raises `LayermapError` with the hint if that fails.
    """
    place = Path(path)
    try:
        if mode is None:
            mode = place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~_umask()
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
                stream.write(text)
            Path(name).chmod(mode)
            Path(name).replace(place)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise LayermapError(path, error.strerror or "cannot be written", hint) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
