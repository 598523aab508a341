"""A review: two sides, what the matcher makes of them, and the mapping file that people work on.

`review_text` is what saving a review writes: the decisions worked into the file (`suggest.decisions`), and the counts
in its first lines brought up to date. The page (`suggest.review_page`) and the server (`suggest.serve`) are two ways to
the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from matcher import Alignment

from .decider import decide
from .decisions import Decision
from .document import RULE, TEXT, Document, Line
from .draft import Draft, draft
from .mapping import printable
from .read_document import load_document
from .render import FOOTERS, header_name, render
from .replay import NOWHERE, land
from .scopes import Scopes
from .source import Source

_HEADER = ("# layermap draft: ", "# layermap review: ")
_COUNTS = re.compile(r"# \d+ of \d+ NPU modules match, replayed as msprobe does; ")
_REVIEW = re.compile(r"(?:[0-9]\.[0-9][0-9] )?(?:new )?review(?:$|:)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """``document`` is the file at the start; ``header`` its first line, "" for a file that layermap did not begin."""

    npu: Source
    bench: Source
    alignment: Alignment
    here: Scopes
    there: Scopes
    document: Document
    header: str
    name: str


def start_review(
    npu: Source, bench: Source, mapping: str | None = None, name: str = "mapping.yaml", found: Draft | None = None
) -> Review:
    """A review of a mapping file's text, or of a new draft if there is none; the draft may be given.

    Raises `MappingError` for a file that msprobe would not take as it stands.
    """
    found = found or draft(npu, bench)
    text = render(found, "yaml", comments=True) if mapping is None else mapping
    return _review(npu, bench, found.alignment, load_document(text, name), name)


def refreshed(npu: Source, bench: Source, alignment: Alignment, document: Document, name: str) -> str:
    """The text of a mapping file, the counts in its first lines brought up to date where it has them."""
    return review_text(_review(npu, bench, alignment, document, name), ())


def _review(npu: Source, bench: Source, alignment: Alignment, document: Document, name: str) -> Review:
    header = ""
    if _has_header(document):
        sides = ((npu, alignment.npu), (bench, alignment.bench))
        left, right = (f"{header_name(source.label)} ({tree.called_count()} modules)" for source, tree in sides)
        header = f"# {printable(f'layermap review: NPU {left} -> bench {right}')}"
        document = _without_lists(document)
    return Review(
        npu=npu,
        bench=bench,
        alignment=alignment,
        here=Scopes.build(npu.entries),
        there=Scopes.build(bench.entries),
        document=document,
        header=header,
        name=name,
    )


def review_text(review: Review, decisions: Iterable[Decision]) -> str:
    """The mapping file after these decisions."""
    document = decide(review.here, review.there, review.document, decisions)
    if not review.header:
        return document.text
    lines = (Line(TEXT, review.header), Line(TEXT, _counts(review, document)), *document.lines[2:])
    return Document(lines, document.eol).text


def called_places(review: Review) -> frozenset[int]:
    """The NPU scopes that stand for a module which msprobe records."""
    tree = review.alignment.npu
    found = (review.here.find(path) for path, called in zip(tree.paths, tree.called, strict=True) if called)
    return frozenset(place for place in found if place is not None)


def _counts(review: Review, document: Document) -> str:
    landing = land(review.here, review.there, document.layer_map())
    called = called_places(review)
    matched = sum(
        landing.nodes[node] != NOWHERE
        and bool(review.here.entries[node].get("forward") and review.there.entries[landing.nodes[node]].get("forward"))
        for node in called
    )
    open_rules = sum(line.kind == RULE and any(map(_REVIEW.match, line.parts())) for line in document.lines)
    rules = "1 rule" if open_rules == 1 else f"{open_rules} rules"
    return (
        f"# {matched} of {len(called)} NPU modules match, replayed as msprobe does; {rules} to review;"
        f" {len(called) - matched} have no counterpart"
    )


def _has_header(document: Document) -> bool:
    lines = [line.text for line in document.lines[:2]]
    return len(lines) == 2 and lines[0].startswith(_HEADER) and bool(_COUNTS.match(lines[1]))


def _without_lists(document: Document) -> Document:
    """The lists of one-sided modules at the end of a draft left out: a decision would make them wrong."""
    titles = {f"# {title}" for title in FOOTERS}
    kept: list[Line] = []
    listing = False
    for line in document.lines:
        text = line.text.rstrip("\r")
        listing = line.kind == TEXT and (text in titles or (listing and text.startswith("#   ")))
        if not listing:
            kept.append(line)
    while len(kept) > 2 and not kept[-1].text.strip() and not kept[-2].text.strip():
        kept.pop()
    return Document(tuple(kept), document.eol)
