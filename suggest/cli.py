"""The command: parse, call the library, print, exit code.

Results go to standard output, talk to standard error. Exit codes: 0 done; 1 findings (``check``), or nothing at all
could be matched, or a fault (``suggest``); 2 unusable input or usage. Everything heavy is imported inside the commands,
so that ``--help`` is instant.
"""

from __future__ import annotations

import os
import sys

import click

from .command_review import review
from .errors import LayermapError
from .knowledge import Knowledge, knowledge_options
from .output import write

_FINDINGS = 1
_UNUSABLE = 2
_INTERRUPTED = 130
_SIDES = (
    "NPU is the run under test, BENCH the reference: an msprobe dump, print(model) text or a list of names; - is stdin."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="layermap", prog_name="layermap")
def cli() -> None:
    """Draft and check the layer mapping that msprobe needs to compare a network in two code bases."""


@cli.command(epilog=_SIDES)
@click.argument("npu")
@click.argument("bench")
@click.option("-o", "--output", metavar="FILE", help="Write the draft to FILE (atomically) instead of standard output.")
@click.option("--format", "style", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True)
@click.option("--no-comments", is_flag=True, help="Rules only.")
@click.option("-q", "--quiet", is_flag=True, help="No summary on standard error.")
@knowledge_options
def suggest(
    npu: str, bench: str, output: str | None, style: str, *, no_comments: bool, quiet: bool, knowledge: Knowledge
) -> int:
    """Draft the mapping from NPU to BENCH."""
    from .read import read  # noqa: PLC0415
    from .render import summary  # noqa: PLC0415

    found, text = knowledge.drafted(read(npu), read(bench), style, comments=not no_comments)
    write(text, output)
    if not quiet:
        click.echo("\n".join(summary(found)), err=True)
    return 0 if found.matched and not found.faults else _FINDINGS


@cli.command(epilog=_SIDES)
@click.argument("mapping")
@click.argument("npu")
@click.argument("bench")
def check(mapping: str, npu: str, bench: str) -> int:
    """Replay MAPPING as msprobe does, and say what it matches, misses and gets wrong."""
    from .check import check as check_mapping  # noqa: PLC0415
    from .check import render_report  # noqa: PLC0415
    from .mapping import load_mapping  # noqa: PLC0415
    from .read import read, read_plain  # noqa: PLC0415

    loaded = load_mapping(read_plain(mapping), mapping)
    report = check_mapping(loaded, read(npu), read(bench))
    click.echo(render_report(report))
    return _FINDINGS if report.findings else 0


cli.add_command(review)


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit."""
    try:
        code = cli.main(args=arguments, prog_name="layermap", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        code = done.exit_code
    except click.ClickException as error:
        error.show()
        code = _UNUSABLE
    except LayermapError as error:
        click.echo(f"layermap: {error}", err=True)
        code = _UNUSABLE
    except (click.Abort, KeyboardInterrupt):
        click.echo("layermap: interrupted", err=True)
        code = _INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code if isinstance(code, int) else 0)
