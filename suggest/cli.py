"""The command: parse, call the library, print, exit code.

Results go to standard output, talk to standard error. Exit codes: 0 done; 1 findings (``check``), or nothing at all
could be matched, or a fault (``suggest``); 2 unusable input or usage. Everything heavy is imported inside the commands,
so that ``--help`` is instant.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import click

from .command_diff import diff
from .command_explain import explain
from .command_review import review
from .errors import LayermapError
from .knowledge import Knowledge, knowledge_options
from .output import write
from .progress import shown
from .styles import STYLES

_FINDINGS = 1
_UNUSABLE = 2
_INTERRUPTED = 130
_SIDES = (
    "NPU is the run under test, BENCH the reference: an msprobe dump, print(model) text, a checkpoint or a list of"
    " names; - is stdin, INPUT#PART one of several in a file."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="layermap", prog_name="layermap")
def cli() -> None:
    """Draft and check the layer mapping that msprobe needs to compare a network in two code bases."""


@cli.command(epilog=_SIDES)
@click.argument("npu")
@click.argument("bench")
@click.option("-o", "--output", metavar="FILE", help="Write the draft to FILE (atomically) instead of standard output.")
@click.option("--format", "style", type=click.Choice(STYLES), default="yaml", show_default=True)
@click.option(
    "--level",
    type=click.Choice(["module", "mix"]),
    help="Rules for modules only, or for APIs too. Default: what the inputs hold.",
)
@click.option("--no-comments", is_flag=True, help="Rules only.")
@click.option("--both", metavar="FILE", help="Write the reverse mapping, from BENCH to NPU, to FILE too.")
@click.option("-q", "--quiet", is_flag=True, help="No summary on standard error.")
@knowledge_options
def suggest(  # noqa: PLR0913  a command takes what its options give
    npu: str,
    bench: str,
    output: str | None,
    style: str,
    level: str | None,
    both: str | None,
    *,
    no_comments: bool,
    quiet: bool,
    knowledge: Knowledge,
) -> int:
    """Draft the mapping from NPU to BENCH."""
    from .render import render, summary  # noqa: PLC0415

    if both is not None and output is not None and Path(both).resolve() == Path(output).resolve():
        raise click.UsageError("-o and --both name the same file.")
    with shown(quiet=quiet):
        wanted = {"comments": not no_comments, "both": both is not None}
        drafts, text = knowledge.drafts(npu, bench, style, level or "", **wanted)
    if both is not None:
        write(render(drafts[1], style, comments=not no_comments), both, "--both")
    write(text, output)
    if not quiet:
        said = [line for one in drafts for line in summary(one)]
        warnings = dict.fromkeys(line for line in said if line.startswith("warning: "))
        click.echo("\n".join([*warnings, *(line for line in said if line not in warnings)]), err=True)
    return 0 if drafts[0].matched and not any(one.faults for one in drafts) else _FINDINGS


@cli.command(epilog=_SIDES)
@click.argument("mapping")
@click.argument("npu")
@click.argument("bench")
def check(mapping: str, npu: str, bench: str) -> int:
    """Replay MAPPING as msprobe does, and say what it matches, misses and gets wrong."""
    from .check import check as check_mapping  # noqa: PLC0415
    from .check import render_report  # noqa: PLC0415
    from .mapping import load_mapping  # noqa: PLC0415
    from .read import read_pair, read_plain  # noqa: PLC0415

    loaded = load_mapping(read_plain(mapping), mapping)
    with shown():
        report = check_mapping(loaded, *read_pair(npu, bench))
    click.echo(render_report(report))
    return _FINDINGS if report.findings else 0


@cli.command("invert", epilog=_SIDES)
@click.argument("mapping")
@click.argument("npu")
@click.argument("bench")
@click.option("-o", "--output", metavar="FILE", help="Write to FILE (atomically) instead of standard output.")
def invert_mapping(mapping: str, npu: str, bench: str, output: str | None) -> int:
    """Derive the mapping from BENCH to NPU from a reviewed MAPPING from NPU to BENCH."""
    from .invert import invert  # noqa: PLC0415
    from .mapping import dump_yaml, load_mapping  # noqa: PLC0415
    from .read import read_pair, read_plain  # noqa: PLC0415

    loaded = load_mapping(read_plain(mapping), mapping)
    with shown():
        found = invert(loaded.layer_map, *read_pair(npu, bench))
    title = f"{Path(mapping).name} inverted: {found.pairs} pairs of modules, replayed as msprobe does"
    write(dump_yaml(found.layer_map, [title], [], comments=True), output)
    for path in found.contested:
        click.echo(f"warning: {path}: several NPU modules land here; the deepest is taken", err=True)
    return 0 if found.pairs else _FINDINGS


@cli.command(epilog="INPUT is what suggest takes for NPU or BENCH.")
@click.argument("source", metavar="INPUT")
@click.option("--format", "style", type=click.Choice(["text", "json", "paths"]), default="text", show_default=True)
@click.option("--depth", type=click.IntRange(min=0), metavar="N", help="No module deeper than N below the model.")
@click.option("--class", "cls", metavar="CLASS", help="Only modules of this class.")
@click.option("--grep", metavar="REGEX", help="Only modules whose path this regular expression is found in.")
def tree(source: str, style: str, depth: int | None, cls: str | None, grep: str | None) -> int:
    """Show what is read from INPUT: its modules, equal ones folded, with the shapes of their parameters."""
    from .read import read  # noqa: PLC0415
    from .show import Wish, headline, show  # noqa: PLC0415

    with shown():
        found = read(source)
        text = show(found, style, Wish(depth=depth, cls=cls, grep=grep))
    click.echo("\n".join([f"warning: {found.label}: {note}" for note in found.notes] + [headline(found)]), err=True)
    click.echo(text, nl=False)
    return 0 if text else _FINDINGS


cli.add_command(diff)
cli.add_command(explain)
cli.add_command(review)


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit."""
    gc.disable()  # one short run that makes no cycles: looking for them would take a quarter of it
    try:
        code = cli.main(args=arguments, prog_name="layermap", standalone_mode=False)
        if sys.stdout is not None:
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
