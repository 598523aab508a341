"""Read any input that is known, told by its content and never by its name.

``INPUT#PART`` asks for one of several things in an input: a printed model by number or class (``train.log#2``), a side
of a state_dict error (``#missing``, ``#unexpected``) or of a drawn comparison (``#npu``, ``#bench``). What is not asked
for goes by the side that the input is given for.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from .dump_directory import holds_dumps, read_directory
from .errors import ReadError
from .files import HEAD, KINDS, Input, input_at, is_place
from .parameters import held_together
from .printouts import CLASS, clean, is_child
from .read_dcp import NAME as METADATA
from .read_dcp import is_dcp, read_dcp, read_zarr, zarr_arrays
from .read_gguf import MAGIC, read_gguf
from .read_index import INDEXES, is_safetensors, read_safetensors, read_shards
from .read_json import read_json
from .read_keys import looks_like_keys, read_keys
from .read_state_dict_error import CHECKPOINT, MODEL, is_state_dict_error, read_state_dict_error
from .read_text import read_text
from .read_thin import read_thin
from .read_torchinfo import is_torchinfo, read_torchinfo
from .read_vis import SIDES, SQLITE_MAGIC, read_vis_db
from .source import Source

NPU, BENCH = SIDES
_FIRST_LINES = 20
_PICKLES = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
_DIRECTORY_HINT = "give an msprobe dump directory, or the directory of a checkpoint"


def read(path: str, side: str = NPU) -> Source:
    """The module tree and the entries of one side, "npu" or "bench"; ``-`` is standard input.

    Raises `ReadError` for anything that cannot be read, with the place in it.
    """
    name, part = _split(path)
    if name != "-" and is_place(name) and Path(name).is_dir():
        return _of_directory(Path(name), name, side)
    return _of_file(input_at(name), side, part)


def read_pair(npu: str, bench: str, *, thin: bool = False) -> tuple[Source, Source]:
    """Both sides; two lists of parameters are held against each other parameter by parameter.

    If ``thin``, of large dumps only the modules that tell as much as all (`suggest.thin`).
    """
    if thin and (found := read_thin(npu, bench)) is not None:
        return found
    names, parts = zip(*map(_split, (npu, bench)), strict=True)
    if names == ("-", "-"):
        both = input_at("-")
        here, there = _of_file(both, NPU, parts[0]), _of_file(both, BENCH, parts[1])
    else:
        here, there = read(npu, NPU), read(bench, BENCH)
    return held_together(here, there) if here.parameters and there.parameters else (here, there)


def read_plain(path: str) -> str:
    """The text of a file, its line ends included, or of standard input for ``-``; raises `ReadError`."""
    source = input_at(path)
    if source.is_binary():
        raise ReadError(source.label, "neither text nor JSON: the file is binary", "give a text file")
    return "".join(source.chunks(exact=True))


def _split(path: str) -> tuple[str, str]:
    """An input and the part of it that is asked for; a file whose name holds a # is that file."""
    name, mark, part = path.rpartition("#")
    return (name, part) if mark and name and not is_place(path) else (path, "")


def _refuse_empty(source: Input) -> None:
    head = source.head()
    if not head.strip() and (len(head) < HEAD or not any(line.strip() for line in source.lines())):
        raise ReadError(source.label, "the input is empty", KINDS)


def _on_disk(source: Input) -> Path:
    if source.content is not None:
        raise ReadError(source.label, "this kind of file cannot be read from standard input or a pipe", "give its path")
    return source.place


def _binary(head: bytes) -> str:
    if head.startswith(_PICKLES):
        return "neither text nor JSON: the file is binary, a pickle or an archive as torch.save writes it"
    return "neither text nor JSON: the file is binary"


def _of_file(source: Input, side: str, part: str) -> Source:
    _refuse_empty(source)
    if part in SIDES:
        side = part
    head = source.head()
    if head.startswith(SQLITE_MAGIC):
        return read_vis_db(_on_disk(source), source.label, side)
    if head.startswith(MAGIC):
        return read_gguf(_on_disk(source), source.label)
    if is_safetensors(head):
        return read_safetensors(source)
    if is_dcp(head):
        return read_dcp(_on_disk(source), source.label)
    if source.is_binary() or head.startswith(_PICKLES):
        raise ReadError(source.label, _binary(head), KINDS)
    return _of_text(source, side, part)


def _of_directory(directory: Path, label: str, side: str) -> Source:
    if holds_dumps(directory):
        return read_directory(directory, label)
    if (directory / METADATA).is_file():
        return read_dcp(directory / METADATA, label)
    if arrays := zarr_arrays(directory):
        return read_zarr(arrays, label)
    for pattern in (*INDEXES, "*.vis.db", "*.vis", "*.gguf"):
        found = sorted(directory.glob(pattern))
        if len(found) == 1:
            return read(str(found[0]), side)
        if found:
            names = ", ".join(path.name for path in found[:4])
            raise ReadError(label, f"holds {len(found)} files of one kind: {names}", "give one of them")
    shards = sorted(directory.glob("*.safetensors"))
    if shards:
        return read_shards(shards, label)
    saved = sorted(directory.glob(f"*/{METADATA}"))
    if len(saved) == 1:
        return read_dcp(saved[0], str(saved[0].parent))
    if saved:
        names = ", ".join(path.parent.name for path in saved[:4])
        raise ReadError(label, f"holds {len(saved)} checkpoints: {names}", "give the directory of one of them")
    raise ReadError(label, "no dump.json or construct.json in this directory", _DIRECTORY_HINT)


def _of_text(source: Input, side: str, part: str) -> Source:
    label = source.label
    first = _first_lines(source)
    if first and first[0].lstrip().startswith(("{", "[")) and _is_json(first[0].lstrip()):
        return read_json(source, side)
    kind = _kind(source, first, part)
    if kind == "model":
        return read_text(source.lines(), label, part)
    if kind == "error":
        return read_state_dict_error(source.lines(), label, side, part)
    if kind == "summary":
        return read_torchinfo(source.lines(), label)
    if kind == "names":
        return read_keys(source.lines(), label)
    if _looks_like_a_mapping(first):
        raise ReadError(label, "this is a layer mapping, not a model", "the arguments seem to be swapped")
    raise ReadError(label, "no module found in the text", KINDS)


def _first_lines(source: Input) -> list[str]:
    return list(islice((line for line in source.lines() if line.strip()), _FIRST_LINES))


def _is_json(line: str) -> bool:
    """Whether a line that begins like JSON is no list of printed models, nor Python's repr of names."""
    inside = line[1:].lstrip()
    return not inside or inside[0] in '"{[]}' or not inside.strip("0123456789., -]")


def _kind(source: Input, first: list[str], part: str) -> str:
    """The kind of a text; of a log that holds a model and an error, the model, unless a side of the error is wanted."""
    if looks_like_keys(first) and not is_state_dict_error(first[0]):
        return "names"
    if first and CLASS.match(clean(first[0]).lstrip("[ ")) and len(first) == 1:
        return "model"
    wants_error = part in (MODEL, CHECKPOINT)
    found = dict.fromkeys(_signs(source, to_the_end=wants_error))
    if wants_error and "error" in found:
        return "error"
    return next((kind for kind in ("model", "summary", "error") if kind in found), "")


def _signs(source: Input, *, to_the_end: bool) -> Iterator[str]:
    for raw in source.lines():
        line = clean(raw)
        if is_child(line):
            yield "model"
            if not to_the_end:
                return
        if is_state_dict_error(line):
            yield "error"
        elif is_torchinfo(line):
            yield "summary"


def _looks_like_a_mapping(lines: list[str]) -> bool:
    shown = [line for line in lines if not line.lstrip().startswith("#")]
    return (
        bool(shown)
        and shown[0].rstrip().endswith((":", "{}"))
        and all(":" in line or "{}" in line for line in shown[:9])
    )
