"""What ``suggest`` is told besides the two sides: a mapping to keep, and mappings to learn from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from .progress import stage

if TYPE_CHECKING:
    from .draft import Draft
    from .source import Source


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Paths as given on the command line; ``learn`` holds (mapping, NPU, bench)."""

    keep: str | None
    learn: tuple[tuple[str, str, str], ...]

    def drafted(self, npu: Source, bench: Source, style: str, level: str = "", *, comments: bool) -> tuple[Draft, str]:
        """The draft of two sides that makes use of this, and its text."""
        from .draft import draft, draft_of  # noqa: PLC0415
        from .keep import draft_around  # noqa: PLC0415
        from .prior import Lesson, align_with, learn  # noqa: PLC0415
        from .read import read_pair, read_plain  # noqa: PLC0415
        from .read_mapping import usable_mapping  # noqa: PLC0415
        from .render import matching, render  # noqa: PLC0415

        lessons = [Lesson(usable_mapping(mapping), *read_pair(one, other)) for mapping, one, other in self.learn]
        vocabulary = learn(lessons) if lessons else None
        given = read_plain(self.keep) if self.keep is not None else ""
        stage(matching(npu, bench))
        if self.keep is not None:
            kept = draft_around(npu, bench, given, self.keep, vocabulary, level)
            plain = style == "yaml" and comments
            return kept.draft, kept.text if plain else render(kept.draft, style, comments=comments)
        if vocabulary is None:
            found = draft(npu, bench, level)
        else:
            found = draft_of(align_with(npu.tree, bench.tree, vocabulary, {}), npu, bench, level)
        return found, render(found, style, comments=comments)


def knowledge_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options to a command, which receives them as ``knowledge``."""

    @click.option("--keep", metavar="MAPPING", help="Keep the rules and comments of MAPPING, and draft the rest.")
    @click.option(
        "--learn",
        nargs=3,
        multiple=True,
        metavar="MAPPING NPU BENCH",
        help="Take the names that an earlier mapping pairs as evidence; may be given several times.",
    )
    @wraps(command)
    def wrapped(*arguments: Any, keep: str | None, learn: tuple[tuple[str, str, str], ...], **options: Any) -> Any:
        return command(*arguments, knowledge=Knowledge(keep, learn), **options)

    return wrapped
