"""A live model as an input: in the program that holds it, or written down for the command.

    from suggest import dump_tree
    dump_tree(model, "npu.tree.json")      # then: layermap suggest npu.tree.json gpu_dump

Anything that lists its modules as ``torch.nn.Module`` or ``mindspore.nn.Cell`` does is read, by what it can do and not
by what it is, so that neither framework is imported. A list of models, as of virtual pipeline stages, is one model with
numbered children. A module under two names counts under the first, as msprobe has it; a module whose class has no
forward of its own can never run, and does not count as called.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from matcher import Module, Params, Shape, Tree

from .errors import LayermapError
from .output import replace_file
from .read_text import CONTAINERS
from .read_tree import FORMAT, VERSION, source_of_modules
from .source import Source

_NO_FORWARD = ("_forward_unimplemented", "construct_unimplemented")
_BASES = ("Module", "Cell")


def tree_of(model: object) -> Source:
    """What is known of a live model, ready for `make_draft`; ``tree_of(model).tree`` are its modules.

    Raises `LayermapError` for an object that is no model and no list of models.
    """
    listed = list(_modules(model))
    return source_of_modules(listed, type(model).__name__, "live model", _framework(model))


def dump_tree(model: object, path: str | os.PathLike[str]) -> None:
    """Write a live model as a ``layermap-tree``, whole or not at all; raises `LayermapError` if that fails."""
    text = tree_json(list(_modules(model)), _framework(model))
    replace_file(str(Path(path)), text, "choose another place", 0o644)


def tree_json(modules: Iterable[Module], framework: str) -> str:
    """The text of a ``layermap-tree``: one module a line, so that two of them can be compared as text."""
    lines = ",\n".join(f"  {json.dumps(_record(module), ensure_ascii=False)}" for module in modules)
    head = json.dumps({"format": FORMAT, "version": VERSION, "framework": framework})
    return f'{head[:-1]}, "modules": [\n{lines}\n]}}\n'


def modules_of(tree: Tree) -> Iterator[Module]:
    """The modules of a tree, in its order."""
    for node in range(len(tree)):
        yield tree.module(node)


def _record(module: Module) -> dict[str, object]:
    record: dict[str, object] = {"path": module.path, "class": module.cls}
    if module.params:
        record["parameters"] = {name: list(shape) for name, shape in module.params}
    if not module.called and module.path:
        record["called"] = False
    return record


def _modules(model: object) -> Iterator[Module]:
    if isinstance(model, (list, tuple)) and model:
        yield Module("", type(model).__name__, called=False)
        for index, element in enumerate(model):
            for module in _modules(element):
                path = f"{index}.{module.path}" if module.path else str(index)
                yield Module(path, module.cls, module.called and bool(module.path), module.params)
        return
    for path, found in _named(model):
        yield Module(path, type(found).__name__, bool(path) and _can_run(found), _params(found))


def _named(model: object) -> Iterator[tuple[str, object]]:
    for method in ("named_modules", "cells_and_names"):
        found = getattr(model, method, None)
        if callable(found):
            return iter(found())
    raise LayermapError(
        type(model).__name__,
        "is neither a torch.nn.Module nor a mindspore.nn.Cell",
        "give the model, or a list of models",
    )


def _framework(model: object) -> str:
    first = model[0] if isinstance(model, (list, tuple)) and model else model
    return "mindspore" if hasattr(first, "cells_and_names") else "pytorch"


def _can_run(module: object) -> bool:
    """Whether the class, or one that it inherits from below Module or Cell, says what running it means."""
    classes = type(module).__mro__
    if any(cls.__name__ in CONTAINERS and cls.__module__.split(".")[0] in ("torch", "mindspore") for cls in classes):
        return _runs_itself(classes)
    method = getattr(type(module), "forward", getattr(type(module), "construct", None))
    return method is None or getattr(method, "__name__", "") not in _NO_FORWARD


def _runs_itself(classes: Iterable[type]) -> bool:
    """Whether a container was given a forward by a class of the user's own."""
    for cls in classes:
        if cls.__name__ in CONTAINERS or cls.__name__ in _BASES:
            return False
        if {"forward", "construct"} & vars(cls).keys():
            return True
    return False


def _params(module: object) -> Params:
    own = getattr(module, "_parameters", None)
    if own is None:
        own = getattr(module, "_params", None)
    if not isinstance(own, dict):
        return ()
    return tuple((name, shape) for name, tensor in own.items() if (shape := _shape(tensor)) is not None)


def _shape(tensor: object) -> Shape | None:
    """The whole shape of a parameter, of one that ZeRO has partitioned too; None for one that has none yet."""
    try:
        shape = getattr(tensor, "ds_shape", None) or getattr(tensor, "shape", None)
    except RuntimeError:
        return None
    return None if shape is None else tuple(map(int, shape))
