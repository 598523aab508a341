"""What one process recorded, and several of them as one: ranks and steps of a run, merged by name.

A mapping is one file for all ranks and steps, and its rules go by name; so what is merged is the union of names. It is
what serves every kind of parallelism: the stages of a pipeline add what only they hold (the embedding of the first, the
head of the last), experts add the numbers that other ranks lack, and data or tensor parallel ranks add nothing. A scope
that an earlier recording knows is not taken twice, because msprobe compares one rank with one rank.

Limits: stages that all count their layers from 0 fall on each other, in msprobe's file names too; where they disagree
about the class of a module the first one counts, and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from matcher import Module, Tree

from .source import LAYER_PREFIXES, Entry, Source

_MODULES = tuple(f"{prefix}." for prefix in LAYER_PREFIXES)


@dataclass(frozen=True, slots=True)
class Recording:
    """The modules and entries of one rank in one step; ``where`` names it within the input."""

    where: str
    modules: tuple[Module, ...]
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()


def is_module(entry: Entry) -> bool:
    """Whether an entry is of a module and not of an API."""
    return entry.name.startswith(_MODULES)


def name_at(name: str, where: str) -> str:
    """What an entry is called whose name an earlier rank has for another scope."""
    return f"{name}@{where}"


def source_of(recording: Recording, label: str, kind: str, notes: Iterable[str] = ()) -> Source:
    """The source of one recording."""
    merger = Merger()
    merger.add(recording)
    return merger.source(label, kind, notes)


class Merger:
    """The union of the recordings that were added, the first one's order and classes leading.

    Only the union is kept, so that the ranks of a large run may come one after the other.
    """

    def __init__(self) -> None:
        self.wheres: list[str] = []  # of the recordings that differ
        self.equal = 0  # how many recorded the same calls as an earlier one
        self._first: Recording | None = None  # until a second one comes, which most inputs lack
        self._seen: set[int] = set()
        self._modules: dict[str, Module] = {}
        self._entries: list[Entry] = []
        self._names: set[str] = set()
        self._known: set[tuple[tuple[str, ...], str]] = set()
        self._notes: dict[str, None] = {}

    def add(self, recording: Recording) -> None:
        """Take what a recording adds to the union; one that is equal to an earlier one is only counted."""
        if not self.wheres:
            self._first = recording
            self._notes.update(dict.fromkeys(recording.notes))
            self.wheres.append(recording.where)
            return
        self._take_first()
        self._merge(recording)

    def _take_first(self) -> None:
        """Make the first recording what the next ones are merged with."""
        if self._first is not None:
            first, self._first, self.wheres = self._first, None, []
            self._merge(first)

    def _merge(self, recording: Recording) -> None:
        run = hash((tuple((m.path, m.cls, m.called, m.params) for m in recording.modules), recording.entries))
        if run in self._seen:
            self.equal += 1
            return
        self._seen.add(run)
        self._notes.update(dict.fromkeys(recording.notes))
        self._note_clashes(recording)
        for module in recording.modules:
            self._modules.setdefault(module.path, module)
        new = [entry for entry in recording.entries if (entry.scope, entry.state) not in self._known]
        for entry in new:
            name = entry.name if entry.name not in self._names else name_at(entry.name, recording.where)
            self._names.add(name)
            self._entries.append(entry if name == entry.name else entry._replace(name=name))
        self._known.update((entry.scope, entry.state) for entry in new)
        self.wheres.append(recording.where)

    def source(self, label: str, kind: str, notes: Iterable[str] = ()) -> Source:
        """The union as one side."""
        first = self._first
        if first is not None and len({entry.name for entry in first.entries}) < len(first.entries):
            self._take_first()
            first = None
        return Source(
            label=label,
            kind=kind,
            tree=Tree.build(first.modules if first is not None else self._modules.values()),
            entries=first.entries if first is not None else tuple(self._entries),
            notes=tuple(dict.fromkeys([*notes, *self._notes])),
        )

    def _note_clashes(self, recording: Recording) -> None:
        known = self._modules
        clash = [m.path for m in recording.modules if m.path in known and known[m.path].cls != m.cls]
        if clash:
            note = (
                f"{recording.where} has another class than an earlier rank at {len(clash)} modules, first at"
                f" {clash[0]}; the earlier one is taken, give that rank alone for a mapping of it"
            )
            self._notes[note] = None
