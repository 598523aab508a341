"""Write a result: to standard output, or whole or not at all into a file."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from stat import S_ISDIR, S_ISREG

import click

from .errors import LayermapError

_WRITABLE = 0o222  # by anybody


def write(text: str, output: str | None, option: str = "-o") -> None:
    """The text to standard output, which ``-`` is too, or into a file that keeps its mode and is replaced in one step.

    Raises `LayermapError`, which names the option to change, where that cannot be done.
    """
    if output is None or output == "-":
        if sys.stdout is None:
            raise LayermapError("standard output", "is closed", f"give a file with {option}")
        click.echo(text, nl=False)
        return
    replace_file(output, text, f"choose another place with {option}")


def replace_file(path: str, text: str, hint: str, mode: int | None = None) -> None:
    """Put a text into a file, whole or not at all; it gets the mode, or keeps the one that it has or would get.

    A link stays one, the file that it leads to is replaced; a device or a pipe is written to. Replacing would get
    around the mode of a file that nobody may write, so such a file is an error. Raises `LayermapError` with the hint
    if it fails.
    """
    try:
        place = Path(path).resolve()
        known = place.stat().st_mode if place.exists() else None
        if known is not None and not known & _WRITABLE:
            raise LayermapError(path, "the file is read-only", hint)
        if known is not None and not (S_ISREG(known) or S_ISDIR(known)):
            place.write_text(text, encoding="utf-8", newline="")
            return
        if mode is None:
            mode = 0o666 & ~_umask() if known is None else known & 0o777
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
                stream.write(text)
            Path(name).chmod(mode)
            Path(name).replace(place)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except (OSError, ValueError, RuntimeError) as error:  # names with NUL, links in a circle
        raise LayermapError(path, getattr(error, "strerror", "") or "cannot be written", hint) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
