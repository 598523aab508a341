"""What one process recorded, and several of them as one: ranks and steps of a run, merged by name.

A mapping is one file for all ranks and steps, and its rules go by name; so what is merged is the union of names. It is
what serves every kind of parallelism: the stages of a pipeline add what only they hold (the embedding of the first, the
head of the last), experts add the numbers that other ranks lack, and data or tensor parallel ranks add nothing. A scope
that an earlier recording knows is not taken twice, because msprobe compares one rank with one rank.

Limits: stages that all count their layers from 0 fall on each other, in msprobe's file names too; where they disagree
about the class of a module the first one counts, and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from matcher import Module, Tree

from .entries import LAYER_PREFIXES
from .source import Entry, Source


@dataclass(frozen=True, slots=True)
class Recording:
    """The modules and entries of one rank in one step; ``where`` names it within the input."""

    where: str
    modules: tuple[Module, ...]
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()

    def same_run(self, other: Recording) -> bool:
        """Whether both recorded the same calls of the same modules."""
        return self.modules == other.modules and self.entries == other.entries


def is_module(entry: Entry) -> bool:
    """Whether an entry is of a module and not of an API."""
    return entry.name.split(".", 1)[0] in LAYER_PREFIXES


def source_of(recordings: Sequence[Recording], label: str, kind: str, notes: Iterable[str] = ()) -> Source:
    """One source of one or more recordings, the first one's order and classes leading."""
    merged = _merged(recordings)
    said = dict.fromkeys([*notes, *(note for recording in recordings for note in recording.notes), *merged.notes])
    return Source(label=label, kind=kind, tree=Tree.build(merged.modules), entries=merged.entries, notes=tuple(said))


def _merged(recordings: Sequence[Recording]) -> Recording:
    first, *others = recordings
    if not others:
        return replace(first, notes=())
    modules = {module.path: module for module in first.modules}
    entries, names = list(first.entries), {entry.name for entry in first.entries}
    known = {(entry.scope, entry.state) for entry in first.entries}
    notes = []
    for other in others:
        clash = [module.path for module in other.modules if _disagree(modules.get(module.path), module)]
        if clash:
            notes.append(
                f"{other.where} has another class than an earlier rank at {len(clash)} modules, first at {clash[0]};"
                " the earlier one is taken, give that rank alone for a mapping of it"
            )
        for module in other.modules:
            modules.setdefault(module.path, module)
        new = [entry for entry in other.entries if (entry.scope, entry.state) not in known]
        for entry in new:
            name = entry.name if entry.name not in names else f"{entry.name}@{other.where}"
            names.add(name)
            entries.append(entry if name == entry.name else replace(entry, name=name))
        known.update((entry.scope, entry.state) for entry in new)
    return Recording(first.where, tuple(modules.values()), tuple(entries), tuple(notes))


def _disagree(known: Module | None, module: Module) -> bool:
    return known is not None and known.cls != module.cls
