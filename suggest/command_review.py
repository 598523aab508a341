"""``layermap review``: the page on which a person turns a draft into a trusted mapping."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .errors import LayermapError
from .output import write
from .progress import shown, stage

if TYPE_CHECKING:
    from .review import Review


@click.command(epilog="Keys, search and what the colours mean are explained in the page; press ? there.")
@click.argument("npu")
@click.argument("bench")
@click.argument("mapping", required=False)
@click.option("-o", "--output", metavar="FILE", help="Write the page to FILE; with --serve, save the mapping there.")
@click.option(
    "--serve", "is_served", is_flag=True, help="Serve the page on 127.0.0.1; it saves to MAPPING, or to -o FILE."
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port to serve at; any free one by default.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on standard error.")
def review(
    npu: str, bench: str, mapping: str | None, output: str | None, *, is_served: bool, port: int, quiet: bool
) -> None:
    """Make a page to review MAPPING, or a new draft, in any browser."""
    from .draft import draft  # noqa: PLC0415
    from .measured import measured  # noqa: PLC0415
    from .read import read_pair, read_plain  # noqa: PLC0415
    from .render import matching  # noqa: PLC0415
    from .review import start_review  # noqa: PLC0415
    from .review_data import page_data  # noqa: PLC0415
    from .review_page import review_page  # noqa: PLC0415

    goal = output or mapping
    if is_served and (goal is None or goal == "-"):
        raise click.UsageError("--serve needs a file to save to: give MAPPING or -o FILE.")
    text = read_plain(mapping) if mapping is not None else None
    with shown(quiet=quiet):
        left, right = read_pair(npu, bench)
        stage(matching(left, right))
        found = draft(left, right)
        figures = measured(npu, left), measured(bench, right)

    def page(opened: Review, serve: dict[str, str] | None) -> str:
        return review_page(page_data(opened, *figures), serve)

    if is_served and goal is not None:

        def begin(current: str | None) -> Review:
            return start_review(left, right, text if current is None else current, goal, found)

        _serve(Path(goal), begin, page, port, quiet=quiet)
        return
    write(page(start_review(left, right, text, mapping or "mapping.yaml", found), None), output)
    if not quiet and output not in (None, "-"):
        click.echo(f"open {output} in a browser; it needs no network", err=True)


def _serve(
    place: Path,
    begin: Callable[[str | None], Review],
    page: Callable[[Review, dict[str, str]], str],
    port: int,
    *,
    quiet: bool,
) -> None:
    from .serve import Desk, Server  # noqa: PLC0415

    desk = Desk(place, begin, page)
    desk.opened()  # whatever is wrong with the input is said here, not in the browser
    try:
        server = Server(desk, port)
    except OSError as error:
        raise LayermapError(
            f"127.0.0.1:{port}", error.strerror or "cannot be served", "choose another --port"
        ) from None
    click.echo(f"{server.address}?token={desk.token}")
    if not quiet:
        click.echo(f"saves to {place}; ends when the page is closed, or with Ctrl-C", err=True)
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt), server:
        server.serve_forever(poll_interval=0.2)
