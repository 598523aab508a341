"""Read what msprobe dumps: a directory, or one of its files.

    dump_path/step0/rank0/{dump.json, construct.json, stack.json}

dump.json tells every recorded entry and the parameters of a module; construct.json who called whom, which places APIs
below their module; an old stack.json the frame function between them. A file that stands alone is read for what it
tells. Of several steps and ranks the first is read, and a note says so. Formats: msprobe 1.2 to 26.2.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matcher import Module, Params, Tree

from .entries import LAYER_PREFIXES, entries_of
from .errors import ReadError
from .source import Entry, Source

_MICRO_STEP = "megatron_micro_step_number"
_FILES = ("dump.json", "construct.json")
_CUT = "the file is cut off or damaged; copy it again from the machine that made the dump"

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Files:
    """The parsed files of one rank directory; None where a file is missing."""

    dump: Json | None
    construct: Json | None
    stack: Json | None


def read_directory(directory: Path) -> Source:
    """The first rank of the first step at or below a dump directory."""
    home, others = _rank_directory(directory)
    files = _Files(*(_load(home / name) if (home / name).is_file() else None for name in (*_FILES, "stack.json")))
    notes = []
    if others:
        notes.append(f"read {home.relative_to(directory)} of {others + 1} dumps below {directory.name or directory}")
    if files.dump is not None and (files.construct is None or files.stack is None):
        missing = "construct.json" if files.construct is None else "stack.json"
        notes.append(f"{missing} is missing beside dump.json: msprobe applies no mapping to this dump")
    return _source(files, str(directory), notes)


def read_json(data: Json, path: Path, label: str) -> Source:
    """A dump.json or a construct.json; if it has its own name, its siblings are read with it."""
    files = {"dump.json": None, "construct.json": None, "stack.json": None} | {_kind(data, label): data}
    if path.name in _FILES:
        for name in files:
            sibling = path.parent / name
            if files[name] is None and sibling.is_file():
                files[name] = _load(sibling)
    return _source(_Files(files["dump.json"], files["construct.json"], files["stack.json"]), label, [])


def _rank_directory(directory: Path) -> tuple[Path, int]:
    if any((directory / name).is_file() for name in _FILES):
        return directory, 0
    found = sorted(
        {path.parent for name in _FILES for path in directory.glob(f"*/{name}")}
        | {path.parent for name in _FILES for path in directory.glob(f"*/*/{name}")},
        key=lambda path: [(len(part), part) for part in path.relative_to(directory).parts],
    )
    if not found:
        raise ReadError(
            str(directory), "no dump.json or construct.json in this directory", "give an msprobe dump directory"
        )
    return found[0], len(found) - 1


def _load(path: Path) -> Json:
    try:
        data = json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        raise ReadError(f"{path}:{error.lineno}", f"not valid JSON at column {error.colno}", _CUT) from None
    except (UnicodeDecodeError, RecursionError):
        raise ReadError(str(path), "not readable as JSON", _CUT) from None
    except OSError as error:
        raise ReadError(str(path), error.strerror or "cannot be read") from None
    if not isinstance(data, dict):
        raise ReadError(str(path), f"a JSON {type(data).__name__} instead of an object", "give an msprobe dump")
    return data


def _kind(data: Json, label: str) -> str:
    if isinstance(data.get("data"), dict):
        return "dump.json"
    if data and all(_is_parent(value) for value in data.values()) and any("." in key for key in data):
        return "construct.json"
    keys = ", ".join(map(str, list(data)[:4])) or "none at all"
    raise ReadError(
        label,
        f"JSON of an unknown kind (top keys: {keys})",
        "give an msprobe dump directory, dump.json or construct.json",
    )


def _is_parent(value: object) -> bool:
    """A value of construct.json: a name, null, or ``[name or null, micro step]``; or the number of micro steps."""
    if isinstance(value, list):
        return len(value) == 2 and (value[0] is None or isinstance(value[0], str))
    return value is None or isinstance(value, (str, int))


def _source(files: _Files, label: str, notes: list[str]) -> Source:
    construct = _construct(files.construct or {})
    stack = files.stack or {}
    old_stack = {key: lines for key, lines in stack.items() if isinstance(lines, list) and "." in key}
    data = _data(files.dump, label) if files.dump is not None else {}
    names: Iterable[str] = data
    if not data:
        names = [name for name in construct if name.count(".") >= 3]
        if files.dump is not None and construct:
            notes.append("the dump holds no data (task: structure): msprobe applies no mapping to such a dump")
    framework = _framework(files.dump, names)
    entries, bad = entries_of(names, construct, old_stack, framework)
    notes += [f"{item.name!r} has too few parts: msprobe drops the whole mapping for this dump" for item in bad[:3]]
    if not construct:
        entries = tuple(entry for entry in entries if _is_module(entry))
    modules = [entry for entry in entries if _is_module(entry) and entry.state == "forward"]
    if not modules:
        raise ReadError(label, "no module among the recorded entries", "dump with level L0 or mix")
    return Source(
        label=label,
        kind="msprobe dump",
        tree=Tree.build(_modules(modules, data)),
        entries=entries,
        notes=tuple(notes),
    )


def _is_module(entry: Entry) -> bool:
    return entry.name.split(".", 1)[0] in LAYER_PREFIXES


def _construct(raw: Json) -> dict[str, str | None]:
    parents: dict[str, str | None] = {}
    for name, value in raw.items():
        if name != _MICRO_STEP:
            parent = value[0] if isinstance(value, list) and value else value
            parents[name] = parent if isinstance(parent, str) else None
    return parents


def _data(dump: Json, label: str) -> Json:
    data = dump.get("data")
    if not isinstance(data, dict):
        raise ReadError(f"{label}: data", "the entry 'data' is missing or no object", "give the dump.json of msprobe")
    return data


def _framework(dump: Json | None, names: Iterable[str]) -> str:
    known = (dump or {}).get("framework")
    if known in ("pytorch", "mindspore"):
        return str(known)
    return "mindspore" if any(name.startswith("Cell.") for name in names) else "pytorch"


def _modules(entries: Iterable[Entry], data: Json) -> Iterable[Module]:
    """One module a scope; of several calls the first one's parameters count."""
    seen: set[tuple[str, ...]] = set()
    for entry in entries:
        if entry.scope not in seen:
            seen.add(entry.scope)
            yield Module(".".join(entry.scope), entry.type or "", params=_params(data.get(entry.name)))


def _params(record: object) -> Params:
    parameters = record.get("parameters") if isinstance(record, dict) else None
    if not isinstance(parameters, dict):
        return ()
    return tuple((name, shape) for name, tensor in parameters.items() if (shape := _shape(tensor)) is not None)


def _shape(tensor: object) -> tuple[int, ...] | None:
    if isinstance(tensor, list) and len(tensor) == 1:
        tensor = tensor[0]
    shape = tensor.get("shape") if isinstance(tensor, dict) else None
    if isinstance(shape, list) and all(isinstance(extent, int) for extent in shape):
        return tuple(shape)
    return None
