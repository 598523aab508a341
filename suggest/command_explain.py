"""``layermap explain``: why a module got its counterpart."""

from __future__ import annotations

import click


@click.command(epilog="Log odds above 0 speak for a pair, below 0 against it. Tensors: type[shape] max min mean norm.")
@click.argument("npu")
@click.argument("bench")
@click.argument("path")
@click.option("--side", type=click.Choice(["npu", "bench"]), help="The side of PATH. Default: NPU, if it has it.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
def explain(npu: str, bench: str, path: str, side: str | None, style: str) -> None:
    """Show what speaks for the counterpart of the module at PATH, and for the three next best.

    PATH is a module's path on the NPU side, or on the bench side; an entry's name in dump.json will do.
    """
    from .explain import explained_json, explained_text, subject_of  # noqa: PLC0415
    from .measured import measured  # noqa: PLC0415
    from .read import read_pair  # noqa: PLC0415

    left, right = read_pair(npu, bench)
    subject = subject_of(left, right, path, side or "")
    if style == "json":
        click.echo(explained_json(subject), nl=False)
    else:
        click.echo(explained_text(subject, measured(npu, left), measured(bench, right)), nl=False)
