"""Read the tensors that a GGUF file lists, through the ``gguf`` package of llama.cpp (extra ``gguf``).

The package maps the file into memory and reads its header; no weights are touched. GGUF lists extents in ggml's order,
the fastest first, which is the reverse of PyTorch's.
"""

from __future__ import annotations

import struct
from pathlib import Path

from .errors import ReadError
from .parameters import Parameter, source_of_parameters
from .source import Source

MAGIC = b"GGUF"
_HINT = "copy the file again from the machine that wrote it"


def read_gguf(place: Path, label: str) -> Source:
    """The parameters that a GGUF file lists."""
    try:
        from gguf import GGUFReader  # noqa: PLC0415  an extra, and slow to import
    except ImportError:
        raise ReadError(label, "reading GGUF needs the gguf package", "pip install 'layermap[gguf]'") from None
    try:
        tensors = GGUFReader(place).tensors
    except (ValueError, IndexError, KeyError, OverflowError, MemoryError, OSError, struct.error) as error:
        raise ReadError(label, f"this GGUF file is damaged or cut off ({error})", _HINT) from None
    parameters = [Parameter(str(tensor.name), tuple(map(int, reversed(tensor.shape)))) for tensor in tensors]
    if not parameters:
        raise ReadError(label, "this GGUF file lists no tensor", _HINT)
    return source_of_parameters(parameters, label, "GGUF")
