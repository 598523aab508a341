"""Read any input that is known, told by its content and never by its name."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .errors import ReadError
from .read_dump import read_directory, read_json
from .read_keys import looks_like_keys, read_keys
from .read_text import looks_like_a_printed_model, read_text
from .source import Source

_KINDS = "give an msprobe dump, the output of print(model), or a list of names"


def read(path: str) -> Source:
    """The module tree and the entries of one side; ``-`` is standard input.

    Raises `ReadError` for anything that cannot be read, with the place in it.
    """
    if path == "-":
        label = "standard input"
        return _read_text(_decoded(sys.stdin.buffer.read(), label), Path("-"), label)
    place = Path(path)
    if place.is_dir():
        return read_directory(place)
    return _read_text(_decoded(_content(place), path), place, path)


def read_plain(path: str) -> str:
    """The text of a file, or of standard input for ``-``; raises `ReadError`."""
    content = sys.stdin.buffer.read() if path == "-" else _content(Path(path))
    return _decoded(content, path, may_be_empty=True)


def _content(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except FileNotFoundError:
        raise ReadError(str(place), "no such file or directory", "check the path") from None
    except OSError as error:
        raise ReadError(str(place), error.strerror or "cannot be read", "check the path") from None


def _decoded(content: bytes, label: str, *, may_be_empty: bool = False) -> str:
    if not content.strip() and not may_be_empty:
        raise ReadError(label, "the input is empty", _KINDS)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ReadError(label, "neither text nor JSON: the file is binary", _KINDS)
    return text


def _read_text(text: str, place: Path, label: str) -> Source:
    if text.lstrip().startswith("{"):
        return read_json(_json(text, label), place, label)
    if looks_like_a_printed_model(text):
        return read_text(text, label)
    if looks_like_keys(text):
        return read_keys(text, label)
    if _looks_like_a_mapping(text):
        raise ReadError(label, "this is a layer mapping, not a model", "the arguments seem to be swapped")
    raise ReadError(label, "no module found in the text", _KINDS)


def _json(text: str, label: str) -> dict[str, object]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ReadError(
            f"{label}:{error.lineno}",
            f"not valid JSON at column {error.colno}",
            "the file is cut off or damaged; copy it again from the machine that made the dump",
        ) from None
    except RecursionError:
        raise ReadError(label, "JSON nested too deeply", _KINDS) from None
    return dict(data)


def _looks_like_a_mapping(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return (
        bool(lines)
        and lines[0].rstrip().endswith((":", "{}"))
        and all(":" in line or "{}" in line for line in lines[:9])
    )
