"""Everything of layermap that touches the world: readers, rule synthesis, replay, the command line.

    from suggest import make_draft, read_input
    found = make_draft(read_input("npu.json"), read_input("gpu.json"))

The names below are the library's interface; they are loaded when first used, so that the command starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .check import Finding, Report
    from .check import check as check_mapping
    from .decisions import Decision
    from .diff import Change
    from .diff import diff as diff_mappings
    from .draft import Draft
    from .draft import draft as make_draft
    from .errors import LayermapError, MappingError, ReadError
    from .invert import Inversion
    from .invert import invert as invert_mapping
    from .live import dump_tree, tree_of
    from .mapping import LayerMap, Rule, dump_yaml, load_mapping
    from .read import read as read_input
    from .replay import replay as replay_mapping
    from .review import Review, review_text, start_review
    from .scopes import Scopes
    from .source import Entry, Source
    from .synthesise import Synthesis
    from .synthesise import synthesise as synthesise_rules

_HOMES = {
    "Change": "diff.Change",
    "Decision": "decisions.Decision",
    "Draft": "draft.Draft",
    "Entry": "source.Entry",
    "Finding": "check.Finding",
    "Inversion": "invert.Inversion",
    "LayerMap": "mapping.LayerMap",
    "LayermapError": "errors.LayermapError",
    "MappingError": "errors.MappingError",
    "ReadError": "errors.ReadError",
    "Report": "check.Report",
    "Review": "review.Review",
    "Rule": "mapping.Rule",
    "Scopes": "scopes.Scopes",
    "Source": "source.Source",
    "Synthesis": "synthesise.Synthesis",
    "check_mapping": "check.check",
    "dump_tree": "live.dump_tree",
    "diff_mappings": "diff.diff",
    "dump_yaml": "mapping.dump_yaml",
    "invert_mapping": "invert.invert",
    "load_mapping": "mapping.load_mapping",
    "make_draft": "draft.draft",
    "read_input": "read.read",
    "replay_mapping": "replay.replay",
    "review_text": "review.review_text",
    "start_review": "review.start_review",
    "synthesise_rules": "synthesise.synthesise",
    "tree_of": "live.tree_of",
}

__all__ = [
    "Change",
    "Decision",
    "Draft",
    "Entry",
    "Finding",
    "Inversion",
    "LayerMap",
    "LayermapError",
    "MappingError",
    "ReadError",
    "Report",
    "Review",
    "Rule",
    "Scopes",
    "Source",
    "Synthesis",
    "check_mapping",
    "diff_mappings",
    "dump_tree",
    "dump_yaml",
    "invert_mapping",
    "load_mapping",
    "make_draft",
    "read_input",
    "replay_mapping",
    "review_text",
    "start_review",
    "synthesise_rules",
    "tree_of",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(".")
    return getattr(import_module(f".{module}", __name__), attribute)
