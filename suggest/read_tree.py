"""Read a ``layermap-tree``, and lists of ``{path, class, params}``: a model as somebody's program wrote it down.

    {"format": "layermap-tree", "version": 1, "framework": "pytorch", "modules": [
      {"path": "", "class": "GPT"},
      {"path": "embed", "class": "Embedding", "parameters": {"weight": [128, 64]}},
      {"path": "layers", "class": "ModuleList", "called": false}]}

`suggest.dump_tree` and ``layermap tree --format json`` write it. Modules stand in definition order, the model itself
has the path ""; ``parameters`` (shapes of the module's own parameters) and ``called`` (true if it is missing) may be
left out. Unknown keys are ignored, a higher version is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from matcher import Module, Tree

from .entries import recorded
from .errors import ReadError
from .read_text import CONTAINERS
from .source import Entry, Source

FORMAT = "layermap-tree"
VERSION = 1
_HINT = "write the file again with suggest.dump_tree"


def tree_source(data: Mapping[str, object], label: str) -> Source:
    """The source of a ``layermap-tree``."""
    version, modules = data.get("version"), data.get("modules")
    if version != VERSION:
        raise ReadError(f"{label}: version", f"{version!r} of layermap-tree is not known", "install a newer layermap")
    if not isinstance(modules, list) or not modules:
        raise ReadError(f"{label}: modules", "no list of modules", _HINT)
    found = [_module(item, f"{label}: modules[{index}]") for index, item in enumerate(modules)]
    return source_of_modules(found, label, "model tree", str(data.get("framework", "pytorch")))


def modules_source(items: Iterable[object], label: str) -> Source:
    """The source of a bare list of modules, which may spell ``parameters`` as ``params``."""
    found = [_module(item, f"{label}: [{index}]") for index, item in enumerate(items)]
    cell = any(module.cls in ("CellList", "CellDict") for module in found)
    return source_of_modules(found, label, "list of modules", "mindspore" if cell else "pytorch")


def source_of_modules(modules: Iterable[Module], label: str, kind: str, framework: str = "pytorch") -> Source:
    """The source of modules of which one forward pass calls every called one."""
    listed = list(modules)
    modules, entries = recorded(listed, "Cell" if framework == "mindspore" else "Module")
    return Source(label=label, kind=kind, tree=Tree.build(modules), entries=(*_silent(listed), *entries))


def _silent(modules: Iterable[Module]) -> Iterable[Entry]:
    """Entries without a state for uncalled modules of unknown class, as a list of names has them."""
    for module in modules:
        if not module.called and not module.cls and module.path:
            yield Entry(module.path, tuple(module.path.split(".")), None, "")


def _module(item: object, where: str) -> Module:
    if not isinstance(item, dict):
        raise ReadError(where, "is no object", _HINT)
    path, cls, called = item.get("path"), item.get("class", ""), item.get("called")
    params = item.get("parameters", item.get("params")) or {}
    if not isinstance(path, str) or not isinstance(cls, str):
        raise ReadError(where, "path and class have to be text", _HINT)
    if any(not step for step in path.split(".")) and path:
        raise ReadError(where, f"{path!r} is no dotted path", _HINT)
    if not isinstance(params, dict) or not all(_is_shape(shape) for shape in params.values()):
        raise ReadError(f"{where}: parameters", "is no object of names and shapes", _HINT)
    if called is None:
        called = bool(path) and cls not in CONTAINERS and not item.get("container")
    return Module(path, cls, bool(called), tuple((name, tuple(shape)) for name, shape in params.items()))


def _is_shape(shape: object) -> bool:
    return isinstance(shape, list) and all(type(extent) is int and extent >= 0 for extent in shape)
