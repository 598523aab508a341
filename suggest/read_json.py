"""Tell a JSON file by what is in it, and read it: a dump, a drawn graph, a model tree, an index of a checkpoint.

The file is walked key by key; what a reader can take in pieces it takes from the stream, everything else is small.

| signs | kind |
| --- | --- |
| ``data`` is an object | dump.json |
| ``NPU`` and ``Bench`` with ``node``, or ``node`` alone | .vis |
| ``format`` is ``layermap-tree`` | what `suggest.dump_tree` writes |
| ``weight_map``, or names to files | index of a checkpoint, param_name_map.json, a device map |
| names to shapes, or a list of names | ``json.dump`` of a state_dict's keys |
| names to names or null | construct.json |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .errors import ReadError
from .files import Input
from .parameters import Parameter, source_of_names, source_of_parameters
from .read_dump import FILES, MICRO_STEPS, Contents, parents_of, read_files, recording_of
from .read_index import file_map, index_source
from .read_tree import FORMAT, modules_source, tree_source
from .read_vis import SIDES, Drawing, read_vis, read_vis_nodes
from .recording import source_of
from .records import Records, read_records
from .source import Source
from .stream import JsonStream

_DEVICES = ("cpu", "disk", "meta", "cuda", "npu")
_HINT = (
    "give an msprobe dump directory, dump.json or construct.json, a .vis, an index of a checkpoint or a list of names"
)


@dataclass(slots=True)
class _Found:
    """What the walk over the outermost object found."""

    flat: dict[str, object] = field(default_factory=dict)
    records: Records | None = None
    drawings: dict[str, Drawing] = field(default_factory=dict)


def read_json(source: Input, side: str) -> Source:
    """The side that a JSON file tells; raises `ReadError` with the line, or with the keys of an unknown kind."""
    label = source.label
    contents = dump_beside(source)
    if contents is not None:
        return source_of(recording_of(contents), label, "msprobe dump")
    stream = JsonStream(source.chunks(), label)
    if stream.peek() == "[":
        elements = list(stream.elements())
        stream.end()
        return _of_list(elements, label)
    found = _walk(stream)
    stream.end()
    if found.records is not None:
        return _of_dump(found, source)
    if found.drawings:
        return read_vis(found.drawings, label, side)
    if found.flat.get("format") == FORMAT:
        return tree_source(found.flat, label)
    return _of_flat(found.flat, source)


def dump_beside(source: Input) -> Contents | None:
    """What a file of msprobe's and those beside it tell; None for one that stands alone, or is called otherwise."""
    siblings = _siblings(source.place)
    return read_files(siblings, source.label, source.label) if len(siblings) > 1 and _is_msprobes(source) else None


def _walk(stream: JsonStream) -> _Found:
    found = _Found()
    for key in stream.members():
        if key == "data" and stream.peek() == "{":
            found.records = read_records(stream)
        elif key in SIDES.values() and stream.peek() == "{":
            for inner in stream.members():
                if inner == "node" and stream.peek() == "{":
                    found.drawings[key] = read_vis_nodes(stream)
                else:
                    stream.value()
        elif key == "node" and stream.peek() == "{":
            found.drawings["NPU"] = read_vis_nodes(stream)
        else:
            found.flat[key] = stream.value()
    return found


def _of_dump(found: _Found, source: Input) -> Source:
    framework = found.flat.get("framework")
    contents = Contents(where=source.label, label=source.label, records=found.records, framework=framework)
    return source_of(recording_of(contents), source.label, "msprobe dump")


def _is_msprobes(source: Input) -> bool:
    """Whether a file that is called as msprobe's are is one of them, by its beginning."""
    head = source.head()
    return b'"data"' in head or b".forward" in head or b"{}" in head


def _siblings(place: Path) -> dict[str, Path]:
    if place.name not in FILES:
        return {}
    names = (*FILES, "stack.json")
    return {name: place.parent / name for name in names if (place.parent / name).is_file()}


def _of_flat(flat: Mapping[str, object], source: Input) -> Source:
    label = source.label
    names = {key: value for key, value in flat.items() if key != MICRO_STEPS}
    if _is_construct(names):
        return _of_construct(flat, source)
    index = flat.get("weight_map", names)
    files = file_map(index) if isinstance(index, dict) else None
    if files is not None:
        return index_source(files, source.place, label)
    if "weight_map" in flat:
        raise ReadError(f"{label}: weight_map", "is no map from names to files", "give the index of a checkpoint")
    if any("." in key for key in flat):
        shapes = {key: _shape(value) for key, value in flat.items()}
        if all(shape is not None for shape in shapes.values()):
            return source_of_parameters(
                [Parameter(key, shape) for key, shape in shapes.items()], label, "list of shapes"
            )
        if all(isinstance(value, int) or value in _DEVICES for value in flat.values()):
            return source_of_names([Parameter(key) for key in flat if key], label, "device map")
    keys = ", ".join(map(str, list(flat)[:4])) or "none at all"
    raise ReadError(label, f"JSON of an unknown kind (top keys: {keys})", _HINT)


def _is_construct(names: Mapping[str, object]) -> bool:
    """Whether these are names of entries: ``forward`` or ``backward`` is their last word, or the last but a number."""
    return any({"forward", "backward"} & set(key.split(".")[-2:]) for key in names)


def _of_construct(flat: Mapping[str, object], source: Input) -> Source:
    contents = Contents(where=source.label, label=source.label, parents=parents_of(flat, source.label))
    return source_of(recording_of(contents), source.label, "msprobe dump")


def _shape(value: object) -> tuple[int, ...] | None:
    """A shape, alone or under ``shape`` of a record."""
    if isinstance(value, dict):
        value = value.get("shape")
    if isinstance(value, list) and all(isinstance(extent, int) for extent in value):
        return tuple(value)
    return None


def _of_list(elements: list[object], label: str) -> Source:
    if elements and all(isinstance(element, dict) and "path" in element for element in elements):
        return modules_source(elements, label)
    if elements and all(isinstance(element, str) for element in elements) and any("." in str(e) for e in elements):
        return source_of_names([Parameter(str(element)) for element in elements], label, "list of names")
    raise ReadError(label, "no module found in the text: a JSON list that holds no names", _HINT)
