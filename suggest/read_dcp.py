"""Read the ``.metadata`` of a distributed checkpoint: torch.distributed.checkpoint, and Megatron's dist_checkpointing.

It is a pickle of ``torch.distributed.checkpoint.metadata.Metadata``. Unpickling runs what a pickle asks for, so this
one is read with stand-ins: a class of ``torch`` becomes an inert record, a few harmless containers are let through,
and anything else is refused. torch is not needed.

Older Megatron saves every parameter as an array of zarr, whose ``.zarray`` is JSON. Both save equal layers stacked:
``decoder.layers.mlp.linear_fc1.weight`` of shape (layers, out, in) is that weight of every layer, and is written out
again. The states of optimizers and random generators are no model and left out.
"""

from __future__ import annotations

import json
import pickle
import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .errors import ReadError
from .parameters import Parameter, source_of_parameters
from .source import Source

NAME, ZARR = ".metadata", ".zarray"
_HINT = "give the directory of a checkpoint that torch.distributed.checkpoint or Megatron has saved"
_STATES = re.compile(r"(?:optimizer|optim|chained_\d+|rng_state|rerun_state_machine_state|opt_param_scheduler)\b")
_STACK = re.compile(r"(?P<list>(?:.*\.)?(?:layers|blocks))\.(?P<inner>(?!\d+(?:\.|$)).+)$")
_HARMLESS = {
    ("collections", "OrderedDict"): OrderedDict,
    ("builtins", "set"): set,
    ("builtins", "frozenset"): frozenset,
    ("builtins", "slice"): slice,
    ("builtins", "complex"): complex,
}


class _Record:
    """Stands in for any object of torch: it keeps its state and does nothing."""

    args: tuple[object, ...] = ()
    state: object = None

    def __init__(self, *args: object, **_: object) -> None:
        self.args = args

    def __setstate__(self, state: object) -> None:
        self.state = state

    def __call__(self, *args: object) -> _Record:
        return _Record(*args)

    def __hash__(self) -> int:
        return id(self)

    def get(self, name: str) -> object:
        """An attribute of the object stood in for."""
        return self.state.get(name) if isinstance(self.state, dict) else None


class _Size(tuple[int, ...]):
    """Stands in for ``torch.Size``."""

    __slots__ = ()


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        """A stand-in for what torch defines; everything else is refused."""
        if (module, name) == ("torch", "Size"):
            return _Size
        if (module, name) in _HARMLESS:
            return _HARMLESS[module, name]
        if module.split(".", maxsplit=1)[0] in ("torch", "megatron", "pathlib", "collections"):
            return type(name, (_Record,), {})
        raise pickle.UnpicklingError(f"{module}.{name} has no place in such a file")


def is_dcp(head: bytes) -> bool:
    """Whether a file that begins like this is the metadata of a checkpoint."""
    return head.startswith(b"\x80") and b"torch.distributed.checkpoint.metadata" in head


def read_dcp(place: Path, label: str) -> Source:
    """The parameters of the model in a distributed checkpoint, of which this is the metadata."""
    try:
        with place.open("rb") as stream:
            metadata = _Unpickler(stream).load()
    except OSError as error:
        raise ReadError(str(place), error.strerror or "cannot be read", _HINT) from None
    except Exception as error:  # noqa: BLE001  a damaged pickle raises whatever its bytes happen to ask for
        raise ReadError(str(place), f"damaged, or no metadata of a checkpoint ({error})", _HINT) from None
    entries = metadata.get("state_dict_metadata") if isinstance(metadata, _Record) else None
    if not isinstance(entries, dict):
        raise ReadError(str(place), "no metadata of a checkpoint", _HINT)
    return _source({str(name): _size(entry) for name, entry in entries.items()}, label)


def zarr_arrays(directory: Path) -> list[Path]:
    """The arrays of a checkpoint that Megatron has saved in its older format: a directory of zarr for every name."""
    return sorted(directory.glob(f"*/{ZARR}"))


def read_zarr(arrays: Sequence[Path], label: str) -> Source:
    """The parameters of the model in such a checkpoint."""
    return _source({array.parent.name: _zarr_shape(array) for array in arrays}, label)


def _zarr_shape(array: Path) -> tuple[int, ...]:
    try:
        shape = json.loads(array.read_bytes())["shape"]
    except (OSError, ValueError, TypeError, KeyError):
        shape = None
    if not isinstance(shape, list) or not all(type(extent) is int for extent in shape):
        raise ReadError(str(array), "tells no shape; the file is damaged", _HINT)
    return tuple(shape)


def _source(listed: Mapping[str, tuple[int, ...] | None], label: str) -> Source:
    states = {name for name in listed if _STATES.match(name)}
    shapes = {name: shape for name, shape in listed.items() if name not in states and "_extra_state" not in name}
    if not shapes:
        raise ReadError(label, "lists no parameter of a model", _HINT)
    notes = [f"{len(states)} entries of optimizers and random generators are left out"] if states else []
    parameters, stacked = _unstacked(shapes)
    notes += [f"{count} layers stacked in {name} are written out" for name, count in stacked.items()]
    return source_of_parameters(parameters, label, "distributed checkpoint", notes)


def _size(entry: object) -> tuple[int, ...] | None:
    size = entry.get("size") if isinstance(entry, _Record) else None
    if isinstance(size, _Record):
        size = size.args[0] if size.args else None
    return tuple(map(int, size)) if isinstance(size, tuple) else None


def _unstacked(shapes: Mapping[str, tuple[int, ...] | None]) -> tuple[list[Parameter], dict[str, int]]:
    """Parameters with one entry a layer, and how many layers each stack had."""
    stacks: dict[str, set[int]] = {}
    for name, shape in shapes.items():
        if found := _STACK.match(name):
            stacks.setdefault(found["list"], set()).add(shape[0] if shape else 0)
    counts = {name: next(iter(sizes)) for name, sizes in stacks.items() if len(sizes) == 1 and 0 not in sizes}
    return list(_layers(shapes, counts)), counts


def _layers(shapes: Mapping[str, tuple[int, ...] | None], counts: Mapping[str, int]) -> Iterator[Parameter]:
    for name, shape in shapes.items():
        found = _STACK.match(name)
        if found and found["list"] in counts and shape:
            for layer in range(counts[found["list"]]):
                yield Parameter(f"{found['list']}.{layer}.{found['inner']}", shape[1:])
        else:
            yield Parameter(name, shape)
