"""Read a mapping file that is to be used, not checked."""

from __future__ import annotations

from .errors import MappingError
from .mapping import LayerMap, load_mapping
from .read import read_plain


def usable_mapping(path: str) -> LayerMap:
    """The rules of a mapping file; raises `MappingError` for one that msprobe would ignore."""
    loaded = load_mapping(read_plain(path), path)
    for problem in loaded.problems:
        if problem.fatal:
            raise MappingError(f"{path}:{problem.line}", problem.message, problem.hint)
    return loaded.layer_map
