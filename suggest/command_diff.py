"""``layermap diff``: what two mappings do differently."""

from __future__ import annotations

import click

from .progress import shown

_DIFFERENT = 1


@click.command(epilog="Exit code 0: both do the same; 1: they differ.")
@click.argument("before")
@click.argument("after")
@click.argument("npu")
@click.argument("bench")
def diff(before: str, after: str, npu: str, bench: str) -> int:
    """Say which nodes change their counterpart from mapping BEFORE to mapping AFTER."""
    from .diff import diff as diff_mappings  # noqa: PLC0415
    from .diff import render_changes  # noqa: PLC0415
    from .mapping import load_mapping  # noqa: PLC0415
    from .read import read_pair, read_plain  # noqa: PLC0415

    one, other = (load_mapping(read_plain(path), path) for path in (before, after))
    for loaded in (one, other):
        for problem in loaded.problems:
            if problem.fatal:
                click.echo(
                    f"warning: {loaded.name}:{problem.line}: {problem.message}: msprobe ignores it all", err=True
                )
    with shown():
        sides = read_pair(npu, bench)
        changes = diff_mappings(one, other, *sides)
    click.echo(render_changes(changes, *sides))
    return _DIFFERENT if changes else 0
