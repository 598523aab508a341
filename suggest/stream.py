"""Walk a large JSON file entry by entry, so that memory holds one entry and never the file.

    stream = JsonStream(chunks, "dump.json")
    for key in stream.members():          # the object at the cursor
        if key == "data":
            for name in stream.members(): # an object inside it
                record = stream.value()
            for batch in stream.batches(Raw): # or many members at once, still undecoded
                ...

An indented file, as msprobe writes it, is cut at the line breaks between members, which can stand nowhere else in JSON
text, and some megabytes of members are decoded at once by msgspec, which skips what nobody asks for. Wherever that
fails, in a file on one line as in a damaged one, values are decoded one by one by the standard library's
``raw_decode`` on a sliding buffer; only the walk over the outermost objects is done here. So errors tell line and
column, which is what somebody with a damaged file needs and no fast parser knows. The streaming parsers on PyPI build
every value from events, which takes five times as long. Limits: one *value* must fit into memory; of a key that stands
twice, both values are handed out, in order, except within one batch, where the later counts, as in ``json.load``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from .errors import ReadError

CUT = "the file is cut off or damaged; copy it again from the machine that made it"
_SPACE = re.compile(r"[ \t\r\n]*")
_BATCH = 1 << 19  # characters decoded at once: enough for the cost of a batch to vanish
_SAFE_TAIL = 32  # an error this near to the end of the buffer may only mean that the buffer ends too early


class JsonStream:
    """A cursor in JSON text that arrives in pieces."""

    def __init__(self, chunks: Iterable[str], label: str) -> None:
        self._chunks = iter(chunks)
        self._label = label
        self._text = ""
        self._at = 0
        self._lines = 1  # the line on which the buffer begins
        self._ended = False
        self._decode = json.JSONDecoder().raw_decode

    def peek(self) -> str:
        """The first character of the next value, "" at the end of the text."""
        while True:
            self._at = self._after_space()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def members(self) -> Iterator[str]:
        """The keys of the object at the cursor; take each value, with `value` or `members`, before the next key."""
        for _ in self._items("{", "}"):
            key = self.value() if self.peek() == '"' else None
            if not isinstance(key, str):
                raise self._damaged("a name in double quotes is missing")
            self._expect(":")
            yield key

    def batches(self, kind: object) -> Iterator[Mapping[str, object]]:
        """The members of the object at the cursor, many at a time.

        A value is of the msgspec type ``kind`` (``Raw`` is undecoded), or a plain one where it had to be read alone.
        """
        import msgspec  # noqa: PLC0415  start-up: a printed model needs none of it

        decode = msgspec.json.Decoder(dict[str, kind]).decode  # type: ignore[valid-type]
        self._expect("{")
        blank = self._blank()
        while blank and (batch := self._batch(f',{blank}"', decode)) is not None:
            yield batch
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            if self.peek() != '"':
                raise self._damaged("a name in double quotes is missing")
            key = str(self.value())
            self._expect(":")
            yield {key: self.value()}
            if self.peek() != ",":
                break
            self._at += 1
        self._expect("}")

    def _blank(self) -> str:
        """What stands between an opening brace and the first name, if that is a line break and an indentation."""
        before = self._at
        sign = self.peek()
        blank = self._text[before : self._at] if sign == '"' else ""
        return blank if blank.startswith("\n") else ""

    def _batch(self, separator: str, decode: Callable[[str], dict[str, object]]) -> dict[str, object] | None:
        """All members that the buffer holds but the last, whose end it does not tell; None if there are none."""
        self._drop_read()
        while len(self._text) - self._at < _BATCH and self._more():
            pass
        end = self._text.rfind(separator, self._at)
        if end < 0:
            return None
        text = f"{{{self._text[self._at : end]}}}"
        try:
            found = decode(text)
        except (ValueError, RecursionError):
            try:
                found = json.loads(text)  # takes NaN and Infinity, which Python writes and no standard knows
            except (ValueError, RecursionError):
                return None
        self._at = end + 1
        return found

    def elements(self) -> Iterator[object]:
        """The elements of the array at the cursor."""
        for _ in self._items("[", "]"):
            yield self.value()

    def _items(self, opening: str, closing: str) -> Iterator[None]:
        """Stand at the beginning of every item between two brackets; each has to be taken before the next."""
        self._expect(opening)
        if self.peek() == closing:
            self._at += 1
            return
        while True:
            yield
            if self.peek() != ",":
                break
            self._at += 1
        self._expect(closing)

    def value(self) -> object:
        """The whole next value."""
        self.peek()
        self._drop_read()
        while True:
            found, end = self._decoded()
            if end >= 0 and not (self._may_go_on(found, end) and self._more()):
                self._at = end
                return found

    def _may_go_on(self, found: object, end: int) -> bool:
        """Whether more digits, or an exponent, may follow what was decoded at the end of the buffer."""
        return isinstance(found, (int, float)) and self._text[end : end + 1] in ("", ".", "e", "E")

    def _decoded(self) -> tuple[object, int]:
        """The value at the cursor and its end; -1 where the buffer ended too early and has been lengthened."""
        try:
            return self._decode(self._text, self._at)
        except json.JSONDecodeError as error:
            early = error.pos < len(self._text) - _SAFE_TAIL and not error.msg.startswith("Unterminated")
            if early or not self._more():
                raise self._damaged(error.msg, error.pos) from None
            return None, -1
        except RecursionError:
            raise ReadError(self._label, "JSON nested too deeply", "this is no file of a known kind") from None

    def end(self) -> None:
        """Raise `ReadError` if anything but blanks follows."""
        if self.peek():
            raise self._damaged("more text after the end of the JSON")

    def _expect(self, sign: str) -> None:
        if self.peek() != sign:
            raise self._damaged(f"{sign!r} is missing")
        self._at += 1

    def _after_space(self) -> int:
        found = _SPACE.match(self._text, self._at)
        return found.end() if found else self._at

    def _drop_read(self) -> None:
        if self._at > 1 << 16:
            self._lines += self._text.count("\n", 0, self._at)
            self._text = self._text[self._at :]
            self._at = 0

    def _more(self) -> bool:
        """Lengthen the buffer; by half of itself at least, so that a long value is not decoded too often."""
        if self._ended:
            return False
        pieces, size = [self._text], 0
        for piece in self._chunks:
            pieces.append(piece)
            size += len(piece)
            if 2 * size >= len(self._text):
                break
        else:
            self._ended = True
        self._text = "".join(pieces)
        return size > 0

    def _damaged(self, what: str, at: int | None = None) -> ReadError:
        place = self._at if at is None else at
        line = self._lines + self._text.count("\n", 0, place)
        column = place - self._text.rfind("\n", 0, place)
        return ReadError(f"{self._label}:{line}", f"not valid JSON at column {column}: {what}", CUT)
