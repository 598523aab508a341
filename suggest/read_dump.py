"""Read the files that msprobe writes for one rank: dump.json, construct.json, and an old stack.json.

dump.json tells every recorded entry and the parameters of a module; construct.json who called whom, which places APIs
below their module; an old stack.json the frame function between them. A file that stands alone is read for what it
tells. All three are read entry by entry, and of an entry only its name, its parameters' shapes and the statistics of
its first result and largest parameter are kept (`suggest.tensors`). Formats: msprobe 1.2 to 26.2.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from matcher import Module

from .entries import entries_of
from .errors import ReadError
from .files import Input
from .recording import Recording, is_module
from .records import Records, is_read, read_records
from .source import LAYER_PREFIXES, Entry
from .stream import JsonStream

MICRO_STEPS = "megatron_micro_step_number"
FILES = ("dump.json", "construct.json")
STRUCTURE = "the dump holds no data (task: structure): msprobe applies no mapping to such a dump"
_NAME_DOTS = 3  # a name with fewer dots is no entry: optimizer, clip_grad


Parents = Mapping[str, "str | None"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What the files of one rank tell, not yet made into modules; None for a file that is not there.

    ``where`` names the rank within the input, ``label`` is how to name its files to the user.
    """

    where: str
    label: str
    records: Records | None = None
    parents: Parents | None = None
    stack: Mapping[str, list[str]] = field(default_factory=dict)
    framework: object = None
    notes: tuple[str, ...] = ()


def read_rank(home: Path, where: str) -> Contents:
    """Everything that msprobe wrote into the directory of one rank."""
    files = {name: home / name for name in (*FILES, "stack.json") if (home / name).is_file()}
    notes = []
    if "dump.json" in files and len(files) < 3:
        missing = "construct.json" if "construct.json" not in files else "stack.json"
        notes.append(f"{missing} is missing beside dump.json: msprobe applies no mapping to this dump")
    return read_files(files, where, str(home), notes)


def read_files(files: Mapping[str, Path], where: str, label: str, notes: Iterable[str] = ()) -> Contents:
    """What the files at hand tell, by what they are called."""
    records, framework = None, None
    if "dump.json" in files:
        place = files["dump.json"]
        records, head = _dump(_stream(place), str(place))
        framework = head.get("framework")
    parents = None
    if "construct.json" in files:
        place = files["construct.json"]
        parents = parents_of(_flat(_stream(place)), str(place))
    stack = files.get("stack.json")
    return Contents(
        where=where,
        label=label,
        records=records,
        parents=parents,
        stack=old_stack(_stream(stack)) if stack is not None and _names_stacks(_stream(stack)) else {},
        framework=framework,
        notes=tuple(notes),
    )


def noted(contents: Contents) -> tuple[str, ...]:
    """The notes on the files, with what they do not tell of each other's names."""
    names = contents.records.names if contents.records is not None else ()
    parents = contents.parents or {}
    if not names:
        return (*contents.notes, STRUCTURE) if contents.records is not None and parents else contents.notes
    missing = _missing(names, parents)
    if not missing:
        return contents.notes
    return (*contents.notes, f"{len(missing)} modules of construct.json are not in dump.json, first {missing[0]}")


def recording_of(contents: Contents) -> Recording:
    """The recording of what the files tell."""
    said = list(noted(contents))
    known = contents.records or Records()
    parents = contents.parents or {}
    names = known.names or [name for name in parents if name.count(".") >= _NAME_DOTS]
    entries, bad = entries_of(names, parents, contents.stack, _framework(contents.framework, names))
    said += [f"{item.name!r} has too few parts: msprobe drops the whole mapping for this dump" for item in bad[:3]]
    if not parents:
        entries = tuple(entry for entry in entries if is_module(entry))
    forward = [entry for entry in entries if is_module(entry) and entry.state == "forward"]
    if not forward:
        raise ReadError(contents.label, "no module among the recorded entries", "dump with level L0 or mix")
    if known.shapeless:
        said.append(f"{known.shapeless} parameters have no readable shape")
    return Recording(contents.where, tuple(_modules(forward, known)), entries, tuple(said))


def parents_of(raw: Mapping[str, object], label: str) -> dict[str, str | None]:
    """The parents that construct.json tells, without micro-steps; raises `ReadError` at a value of another kind."""
    if set(map(type, raw.values())) <= {str, type(None)}:
        return cast("dict[str, str | None]", dict(raw))
    parents: dict[str, str | None] = {}
    for name, value in raw.items():
        if value is None or isinstance(value, str):
            parents[name] = value
        elif name != MICRO_STEPS:
            if not is_parent(value):
                raise ReadError(f"{label}: {name}", "neither the name of a parent nor null", "give msprobe's own file")
            parents[name] = value[0] if isinstance(value, list) else None
    return parents


def is_parent(value: object) -> bool:
    """A value of construct.json: a name or null, alone or in ``[name or null, micro step]``."""
    if isinstance(value, list):
        return len(value) == 2 and (value[0] is None or isinstance(value[0], str))
    return value is None or isinstance(value, str)


def old_stack(stream: JsonStream) -> dict[str, list[str]]:
    """The stacks of APIs by name, as 1.x wrote them."""
    import msgspec  # noqa: PLC0415  start-up: a printed model needs none of it

    found: dict[str, list[str]] = {}
    for batch in stream.batches(msgspec.Raw):
        for name, raw in batch.items():
            if "." not in name or name.startswith(LAYER_PREFIXES):
                continue
            lines = msgspec.json.decode(raw) if isinstance(raw, msgspec.Raw) else raw
            if isinstance(lines, list):
                found[name] = [sys.intern(line) for line in lines if isinstance(line, str)]
    return found


def _names_stacks(stream: JsonStream) -> bool:
    """Whether a stack.json is one of 1.x; those of 8.1 and later number their stacks and tell nothing of scopes."""
    return "." in next(stream.members(), "")


def _stream(place: Path) -> JsonStream:
    source = Input(str(place), place)
    if source.is_binary():
        raise ReadError(str(place), "not readable as JSON", "the file is damaged; copy it again")
    return JsonStream(source.chunks(), str(place))


def _dump(stream: JsonStream, label: str) -> tuple[Records, dict[str, object]]:
    records, head = None, {}
    for key in stream.members():
        if key == "data" and stream.peek() == "{":
            records = read_records(stream)
        else:
            head[key] = stream.value()
    stream.end()
    if records is None:
        raise ReadError(f"{label}: data", "the entry 'data' is missing or no object", "give the dump.json of msprobe")
    return records, head


def _flat(stream: JsonStream) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for batch in stream.batches(Any):
        found.update(batch)
    stream.end()
    return found


def _missing(names: Sequence[str], parents: Parents) -> list[str]:
    """Forward calls of modules that only construct.json knows."""
    known = set(names)
    if known.issuperset(parents):
        return []
    return [name for name in parents if name not in known and is_read(name)]


def _framework(known: object, names: Iterable[str]) -> str:
    if known in ("pytorch", "mindspore"):
        return str(known)
    return "mindspore" if any(name.startswith("Cell.") for name in names) else "pytorch"


def _modules(entries: Sequence[Entry], records: Records) -> Iterable[Module]:
    """One module a scope; of several calls the first one's parameters and numbers count."""
    paths = [".".join(entry.scope) for entry in entries]
    calls = Counter(paths)
    params, outputs, weights = records.params, records.outputs, records.weights
    numbers = bool(outputs or weights)
    for path, entry in zip(paths, entries, strict=True):
        count = calls.pop(path, 0)
        if count:
            name, shapes = entry.name, params.get(entry.name, ())
            if numbers:
                yield Module(path, entry.type or "", True, shapes, outputs.get(name), weights.get(name), count)
            else:
                yield Module(path, entry.type or "", True, shapes, calls=count)
