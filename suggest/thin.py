"""Of many equal numbered modules the few that tell as much as all: what a large dump is aligned by.

61 layers of 256 experts ask for one set of rules, which a handful of each shows as well. Two modules of a list are
equal when the entries inside them have equal names, in one order, and parameters of equal shapes. Which numbers *stay*
is decided once for both sides: wherever a row of equal modules stands on either side, its first few, its last, and the
number after it; a number that stays, stays in every list. Any other number is left out, and the nearest one before it
that stays *stands for* it: between the two no row begins or ends, on neither side, so whatever list has the one has the
other too, and the two are equal there.

That makes a draft of what stays a draft of the whole. msprobe's walk (`suggest.replay`) goes by names, by the types of
nodes, and by what exists on the other side. As long as no rule speaks of a number that stands for others or is left
out, the walk to something in layer 17 is step for step the walk to the same in the layer that stands for it, and ends
at a place that has 17 instead. Whether the rules are such is looked at once they are there
(`suggest.draft.Draft.speaks_for_all`); if not, the whole is drafted. Limits: dumps with APIs, which are placed by who
called them, and with layers that msprobe renumbers are not thinned (`suggest.read_thin`); nor is what has too few equal
modules for it to be worth the while. What is proven is the replay, not the choice: where names say little, fewer
instances may be judged otherwise than all would be, and a confidence may differ in its last digit, since it counts how
much of what is around is matched.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from matcher import Params

from .repeats import Repeats

_NUMBER = "(?:0|[1-9][0-9]{0,8})"
_ITEM = re.compile(rf"^((?:[^\n]*?\.)?{_NUMBER})\.[^\n]*\n(?:\1\.[^\n]*\n)*", re.MULTILINE)  # lines of one module
_MARK = "\t"  # between an entry's name and what tells its parameters; in a name it would be escaped
_FIRST = 13  # of a row: so many make a list that the matcher takes for a long one, as the whole list is
_DEEPEST = 20  # lists within lists that are looked into
_MOST = 0.5  # share of the entries that may stay for thinning to be worth the while


@dataclass(frozen=True, slots=True)
class _Part:
    """Entries in order, one a line, named from the module that they are in: lines that are in no list, and items of
    lists: the path of the list, the number, and what is in the item.
    """

    pieces: tuple[str | tuple[str, int, _Part], ...]

    def lists(self) -> dict[str, dict[int, tuple[_Part, ...]]]:
        """What is in every item, by list and number; an item's entries need not stand together."""
        found: dict[str, dict[int, tuple[_Part, ...]]] = defaultdict(dict)
        for piece in self.pieces:
            if not isinstance(piece, str):
                path, number, part = piece
                found[path][number] = (*found[path].get(number, ()), part)
        return found


@dataclass(frozen=True, slots=True)
class Rows:
    """One side's entries, how many there are, the parameters that lines refer to, and the numbers that have to stay.

    Small however many equal modules there are, and enough to have all names again.
    """

    top: _Part
    count: int
    params: tuple[Params, ...]
    seams: frozenset[int]


@dataclass(frozen=True, slots=True)
class Thin:
    """The names of one side that stay, in their order, their parameters by name, and what they stand for."""

    names: list[str]
    params: dict[str, Params]
    repeats: Repeats


def rows_of(names: Sequence[str], params: Mapping[str, Params]) -> Rows | None:
    """The rows of equal modules in a dump, by its names; ``params`` tells the parameters of an entry. None for names
    that cannot be told apart line by line.
    """
    distinct = tuple(dict.fromkeys(params.values()))
    ends: dict[Params | None, str] = {shapes: f"{_MARK}{number}\n" for number, shapes in enumerate(distinct)}
    ends[None] = "\n"
    told = params.get
    text = "".join([name + ends[told(name)] for name in names])
    if text.count("\n") != len(names) or text.count(_MARK) != len(params):
        return None
    parts: dict[str, _Part] = {}
    top = _part(text, parts, _DEEPEST)
    seams = {number for part in parts.values() for items in part.lists().values() for number in _seams(items)}
    return Rows(top, len(names), distinct, frozenset(seams))


def _part(text: str, known: dict[str, _Part], deepest: int) -> _Part:
    """What these lines tell; equal lines, as those of equal modules are, are taken apart once."""
    found = known.get(text)
    if found is None:
        pieces: list[str | tuple[str, int, _Part]] = []
        at = 0
        for match in _ITEM.finditer(text) if deepest else ():
            if match.start() > at:
                pieces.append(text[at : match.start()])
            at = match.end()
            home = match[1]
            inside = match[0][len(home) + 1 :].replace(f"\n{home}.", "\n")
            path, _, number = home.rpartition(".")
            pieces.append((path, int(number), _part(inside, known, deepest - 1)))
        if at < len(text):
            pieces.append(text[at:])
        found = known[text] = _Part(tuple(pieces))
    return found


def _seams(items: Mapping[int, tuple[_Part, ...]]) -> Iterator[int]:
    """The numbers of a list that have to stay."""
    before, kind = -1, tuple[_Part, ...]()
    for number in sorted(items):
        if number - 1 != before or not _same(items[number], kind):
            yield from range(number, number + _FIRST)
            yield from (before, before + 1)
        before, kind = number, items[number]
    yield from (before, before + 1)


def _same(one: tuple[_Part, ...], other: tuple[_Part, ...]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def thinned(npu: Rows, bench: Rows) -> tuple[Thin, Thin]:
    """Both sides without what need not be looked at; whole if too much would stay."""
    stays = sorted(npu.seams | bench.seams)
    found = _thin(npu, stays), _thin(bench, stays)
    stay = sum(len(side.names) for side in found)
    return found if stay <= _MOST * (npu.count + bench.count) else (whole(npu), whole(bench))


def whole(rows: Rows) -> Thin:
    """One side with nothing left out."""
    return _thin(rows, ())


def _thin(rows: Rows, stays: Sequence[int]) -> Thin:
    taker = _Taker(rows.params, stays)
    taker.take(rows.top, "")
    numbers = {path: tuple(sorted(numbers)) for path, numbers in sorted(taker.stands.items())}
    return Thin(taker.names, taker.shapes, Repeats(numbers))


class _Taker:
    """Gathers what stays, and the numbers that its items stand for; where no numbers are given, all stay."""

    def __init__(self, params: Sequence[Params], stays: Sequence[int]) -> None:
        self.params, self.stays, self.staying = params, stays, frozenset(stays)
        self.names: list[str] = []
        self.shapes: dict[str, Params] = {}
        self.stands: dict[str, set[int]] = defaultdict(set)  # what is in a module may stand in several places

    def take(self, part: _Part, above: str) -> None:
        for path, items in part.lists().items() if self.stays else ():
            home = _below(above, path).partition(".")[2]
            for number in items:
                if number not in self.staying:
                    self.stands[f"{home}{self.stays[bisect_left(self.stays, number) - 1]}"].add(number)
        for piece in part.pieces:
            if isinstance(piece, str):
                self._lines(piece, above)
            elif not self.stays or piece[1] in self.staying:
                self.take(piece[2], f"{_below(above, piece[0])}{piece[1]}.")

    def _lines(self, text: str, above: str) -> None:
        for line in text.split("\n")[:-1]:
            rest, _, mark = line.partition(_MARK)
            name = f"{above}{rest}"
            self.names.append(name)
            if mark:
                self.shapes[name] = self.params[int(mark)]


def _below(above: str, path: str) -> str:
    return f"{above}{path}." if path else above
