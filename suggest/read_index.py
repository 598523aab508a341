"""Read checkpoints without their weights: the header of a safetensors file, and the indexes of sharded ones.

A safetensors file begins with eight bytes of length and that much JSON of names, types and shapes. Only this header is
read, with the standard library, because it is all there is to read: the ``safetensors`` package maps the whole file,
checks every offset against its size, and so refuses the first megabyte of a checkpoint that was copied for its names.

An index (``model.safetensors.index.json``, ``pytorch_model.bin.index.json``, MindSpore's ``param_name_map.json``)
maps names to files; shapes are taken from those of the files that are there and are safetensors.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path

from .errors import ReadError
from .files import Input
from .parameters import Parameter, source_of_parameters
from .source import Source

_LENGTH = struct.Struct("<Q")
_LARGEST = 100_000_000  # the format's own limit for a header
_HINT = "copy the file again from the machine that wrote it"
_METADATA = "__metadata__"
SUFFIXES = (".safetensors", ".bin", ".ckpt", ".pt", ".pth", ".npz", ".h5", ".msgpack")
INDEXES = ("*.index.json", "param_name_map.json")


def is_safetensors(head: bytes) -> bool:
    """Whether a file that begins like this has a safetensors header."""
    if len(head) < _LENGTH.size + 2:
        return False
    (length,) = _LENGTH.unpack_from(head)
    return 1 < length <= _LARGEST and head[_LENGTH.size : _LENGTH.size + 1] == b"{"


def read_safetensors(source: Input) -> Source:
    """The parameters that the header of a safetensors file lists."""
    return source_of_parameters(_header(source), source.label, "safetensors")


def file_map(data: Mapping[str, object]) -> dict[str, str] | None:
    """A map from names to files, None if the values are no files."""
    files = {name: file for name, file in data.items() if isinstance(file, str) and file.endswith(SUFFIXES)}
    return files if files and len(files) == len(data) else None


def index_source(files: Mapping[str, str], place: Path, label: str) -> Source:
    """The parameters of an index that `file_map` has read, with shapes from the shards beside it."""
    shapes: dict[str, tuple[int, ...] | None] = {}
    shards = sorted(set(files.values()))
    missing = [file for file in shards if not (place.parent / file).is_file()]
    for file in shards:
        shard = Input(str(place.parent / file), place.parent / file)
        if file not in missing and is_safetensors(shard.head()):
            shapes.update((parameter.name, parameter.shape) for parameter in _header(shard))
    unlisted = sorted(shapes.keys() - files.keys())
    notes = [f"{len(unlisted)} names of the shards are not in the index, first {unlisted[0]}"] if unlisted else []
    parameters = [Parameter(name, shapes.get(name)) for name in files]
    return source_of_parameters(parameters, label, "index of a checkpoint", notes)


def read_shards(places: list[Path], label: str) -> Source:
    """All safetensors files of a directory that has no index, as one model."""
    parameters = [parameter for place in places for parameter in _header(Input(str(place), place))]
    return source_of_parameters(parameters, label, "safetensors")


def _header(source: Input) -> list[Parameter]:
    with source.open() as stream:
        start = stream.read(_LENGTH.size)
        (length,) = _LENGTH.unpack(start) if len(start) == _LENGTH.size else (0,)
        raw = stream.read(min(length, _LARGEST))
    if len(raw) < length:
        raise ReadError(source.label, f"cut off within its header, after {len(raw) + 8} of {length + 8} bytes", _HINT)
    try:
        header = json.loads(raw)
    except (ValueError, RecursionError):
        raise ReadError(source.label, "the header of this safetensors file is damaged", _HINT) from None
    if not isinstance(header, dict) or not header.keys() - {_METADATA}:
        raise ReadError(source.label, "this safetensors file lists no tensor", _HINT)
    return [_parameter(name, record, source.label) for name, record in header.items() if name != _METADATA]


def _parameter(name: str, record: object, label: str) -> Parameter:
    shape = record.get("shape") if isinstance(record, dict) else None
    if not isinstance(shape, list) or not all(type(extent) is int and extent >= 0 for extent in shape):
        raise ReadError(f"{label}: {name}", "has no shape in the header; the file is damaged", _HINT)
    return Parameter(name, tuple(shape))
