"""``layermap review``: the page on which a person turns a draft into a trusted mapping."""

from __future__ import annotations

import click

from .output import write


@click.command(epilog="Keys, search and what the colours mean are explained in the page; press ? there.")
@click.argument("npu")
@click.argument("bench")
@click.argument("mapping", required=False)
@click.option("-o", "--output", metavar="FILE", help="Write the page to FILE instead of standard output.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on standard error.")
def review(npu: str, bench: str, mapping: str | None, output: str | None, *, quiet: bool) -> None:
    """Make a page to review MAPPING, or a new draft, in any browser."""
    from .read import read_pair, read_plain  # noqa: PLC0415
    from .review import start_review  # noqa: PLC0415
    from .review_data import page_data  # noqa: PLC0415
    from .review_page import review_page  # noqa: PLC0415
    from .statistics import statistics  # noqa: PLC0415

    text = read_plain(mapping) if mapping is not None else None
    left, right = read_pair(npu, bench)
    found = start_review(left, right, text, mapping or "mapping.yaml")
    write(review_page(page_data(found, statistics(npu, left), statistics(bench, right))), output)
    if not quiet and output is not None:
        click.echo(f"open {output} in a browser; it needs no network", err=True)
