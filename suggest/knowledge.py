"""What ``suggest`` is told besides the two sides: a mapping to keep, and mappings to learn from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from .progress import stage
from .styles import BRIEF

if TYPE_CHECKING:
    from .draft import Draft
    from .prior import Vocabulary
    from .source import Source


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Paths as given on the command line; ``learn`` holds (mapping, NPU, bench)."""

    keep: str | None
    learn: tuple[tuple[str, str, str], ...]

    def drafts(
        self, npu: str, bench: str, style: str, level: str = "", *, comments: bool, both: bool
    ) -> tuple[list[Draft], str]:
        """The draft of two inputs that makes use of this, and the reverse one if both are asked for; the first's text.

        Where nothing names every module, large dumps are drafted by what tells as much as all, as long as that is so.
        """
        from .read import read_pair  # noqa: PLC0415

        brief = self.keep is None and not self.learn and style in BRIEF
        for thin in (True, False) if brief else (False,):
            found, text = self._drafted(*read_pair(npu, bench, thin=thin), style, level, comments=comments)
            drafts = [found]
            if both:
                from .invert import reversed_draft  # noqa: PLC0415

                drafts.append(reversed_draft(found, level))
            if all(one.speaks_for_all() for one in drafts):
                break
        return drafts, text

    def _drafted(self, npu: Source, bench: Source, style: str, level: str, *, comments: bool) -> tuple[Draft, str]:
        from .draft import draft, draft_of  # noqa: PLC0415
        from .render import matching, render  # noqa: PLC0415

        vocabulary = self._learned()
        stage(matching(npu, bench))
        if self.keep is not None:
            from .keep import draft_around  # noqa: PLC0415
            from .read import read_plain  # noqa: PLC0415

            kept = draft_around(npu, bench, read_plain(self.keep), self.keep, vocabulary, level)
            plain = style == "yaml" and comments
            return kept.draft, kept.text if plain else render(kept.draft, style, comments=comments)
        if vocabulary is None:
            found = draft(npu, bench, level)
        else:
            from .prior import align_with  # noqa: PLC0415

            found = draft_of(align_with(npu.tree, bench.tree, vocabulary, {}), npu, bench, level)
        return found, render(found, style, comments=comments)

    def _learned(self) -> Vocabulary | None:
        if not self.learn:
            return None
        from .prior import Lesson, learn  # noqa: PLC0415
        from .read import read_pair  # noqa: PLC0415
        from .read_mapping import usable_mapping  # noqa: PLC0415

        return learn([Lesson(usable_mapping(mapping), *read_pair(one, other)) for mapping, one, other in self.learn])


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
