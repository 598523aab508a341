"""Open an input, whatever it is: a file or standard input, text or binary, large or small, of any usual encoding.

An `Input` can be read several times, so that detection may look at it before a reader does, and it is read in pieces,
so that a log of some gigabytes needs no memory to speak of. Text is UTF-8, or UTF-16 with a byte order mark, as
PowerShell writes it; a byte that is no UTF-8 (logs mix encodings) becomes a replacement character, which no name of a
module contains. Standard input and pipes cannot be read twice and are kept.
"""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .errors import ReadError
from .progress import reading

KINDS = "give an msprobe dump, the output of print(model), a checkpoint, or a list of names"
DAMAGED = "the file is damaged; copy it again from the machine that wrote it"
UNREADABLE = "\ufffd"  # what stands for a byte that is no text
_CHUNK = 1 << 18
_LONGEST = 200  # of a name in an error
HEAD = 1 << 12  # bytes that are looked at to tell what an input is


@dataclass(frozen=True, slots=True)
class Input:
    """One input: ``label`` is how to name it to the user, ``place`` where it is, ``content`` what stdin held."""

    label: str
    place: Path
    content: bytes | None = None

    def open(self) -> BinaryIO:
        """The bytes from the beginning; raises `ReadError` if there are none to be had."""
        if self.content is not None:
            return io.BytesIO(self.content)
        try:
            return self.place.open("rb")
        except FileNotFoundError:
            raise ReadError(self.label, "no such file or directory", "check the path") from None
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", "") or "cannot be read"
            raise ReadError(_shortened(self.label), problem, "check the path") from None

    def head(self) -> bytes:
        """The first bytes."""
        with self.open() as stream:
            return stream.read(HEAD)

    def is_binary(self) -> bool:
        """Whether the first bytes are no text."""
        head = self.head()
        return b"\0" in head and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))

    def chunks(self, *, strict: bool = True, exact: bool = False) -> Iterator[str]:
        """The text in pieces; if strict, bytes that are no text are an error; if exact, line ends stay as they are."""
        with self._text(strict=strict, newline="" if exact else None) as stream:
            try:
                while piece := stream.read(_CHUNK):
                    yield piece
            except UnicodeError:
                raise ReadError(f"{self.label}:{self._bad_line()}", "bytes that are no text", DAMAGED) from None

    def lines(self) -> Iterator[str]:
        """The lines of the text without their ends; a lone carriage return, as of a progress bar, ends a line too."""
        with self._text(strict=False) as stream:
            for line in stream:
                yield line.rstrip("\n")

    def _bad_line(self) -> int:
        """The first line that is no UTF-8; 1 if they all are, which UTF-16 may be."""
        with self.open() as stream:
            for number, line in enumerate(stream, 1):
                if line.decode("utf-8", "replace").encode() != line:
                    return number
        return 1

    def _text(self, *, strict: bool, newline: str | None = None) -> io.TextIOWrapper:
        utf16 = self.head().startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        encoding = "utf-16" if utf16 else "utf-8-sig"
        errors = "strict" if strict else "replace"
        stream = self.open()
        reading(self.label, stream.fileno() if self.content is None else None)
        return io.TextIOWrapper(stream, encoding=encoding, errors=errors, newline=newline)


def _shortened(label: str) -> str:
    return label if len(label) < _LONGEST else f"{label[:_LONGEST]}..."


def input_at(path: str) -> Input:
    """The input at a path; ``-`` is standard input. What can be read but once, as a pipe, is read now and kept."""
    if path == "-":
        reading("standard input")
        if sys.stdin is None:
            raise ReadError("standard input", "is closed", "pipe a text into it, or give a file")
        return Input("standard input", Path("-"), sys.stdin.buffer.read())
    source = Input(path, Path(path))
    if is_place(path) and not source.place.is_file():
        with source.open() as stream:
            return Input(path, source.place, stream.read())
    return source


def is_place(path: str) -> bool:
    """Whether there is anything at a path; a text that can be no path is none."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False
