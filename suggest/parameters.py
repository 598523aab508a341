"""A model of which only the names of its parameters are known, as a tree of modules.

    decoder.layers.0.mlp.linear_fc1.weight (256, 64)

says that ``decoder.layers.0.mlp.linear_fc1`` is a module with a weight. What owns a parameter, and what stands above
such a module, counts as called; a step whose children are numbers is taken for a list, which never is. No class is
known, so every entry has the type None, and no mapping section is ever written for it.

Two lists of parameters are better held against each other name by name: one side's ``linear_qkv.layer_norm_weight`` is
the other's ``input_layernorm.weight``, and no rule about modules can say so. `by_parameter` is that view, in which
parameters are nodes below their modules.

Limits: a module without parameters (a dropout, a rotary embedding) is in no list of parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from matcher import Module, Params, Shape, Tree

from .source import Entry, Source

_PARAMETER = re.compile(
    r"(?:\w*(?:weight|bias|gamma|beta|scale|scales|zeros|embedding_table|running_mean|running_var|moving_mean)"
    r"|moving_variance|num_batches_tracked|inv_freq|_extra_state|lora_[AB]|A_log|cls_token|pos_embed|\w*position_ids"
    r"|absmax|quant_map|g_idx)\d*$"
)
_OPTIMIZER = re.compile(r"(?:adam_[mv]|moments?\d?|accum|exp_avg|exp_avg_sq|momentum)\.(?P<name>.+)")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A name in a list, and its shape if the list tells it."""

    name: str
    shape: Shape | None = None


def source_of_parameters(parameters: Iterable[Parameter], label: str, kind: str, notes: Iterable[str] = ()) -> Source:
    """One side of a list in which every name is that of a parameter."""
    listed = _listed(parameters)
    states = [name for name in listed if (found := _OPTIMIZER.match(name)) and found["name"] in listed]
    for name in states:
        del listed[name]
    said = [*notes, *([f"{len(states)} states of an optimizer are left out, first {states[0]}"] if states else [])]
    return _source(list(listed.values()), [], label, kind, said)


def source_of_names(parameters: Iterable[Parameter], label: str, kind: str, notes: Iterable[str] = ()) -> Source:
    """One side of a list that may hold names of modules, of parameters, or of both.

    A name is that of a module if other names continue it. Of the rest, all are parameters if half of them end as
    parameters usually do, and else only those that do or that have a shape.
    """
    listed = _listed(parameters)
    inner = {step for name in listed for step in _above(name)}
    ends = [name for name in listed if name not in inner]
    usual = {name for name in ends if is_usual(name) or listed[name].shape is not None}
    are_parameters = set(ends) if 2 * len(usual) >= len(ends) and not inner & listed.keys() else usual
    owned = [parameter for name, parameter in listed.items() if name in are_parameters]
    modules = [parameter for name, parameter in listed.items() if name not in are_parameters]
    return _source(owned, modules, label, kind, list(notes))


def by_parameter(source: Source) -> Source:
    """The same side with a node for every parameter that it lists, below its module."""
    shapes = dict(source.parameters)
    lists = _lists(step for name in shapes for step in _above(name))
    modules, entries = [], []
    for path in dict.fromkeys(step for name in shapes for step in (*_above(name), name)):
        shape = shapes.get(path)
        modules.append(Module(path, "", path not in lists, () if shape is None else (("weight", shape),)))
        entries.append(Entry(path, tuple(path.split(".")), None, "" if path in lists else "forward"))
    return replace(source, tree=Tree.build(modules), entries=tuple(entries))


def held_together(npu: Source, bench: Source) -> tuple[Source, Source]:
    """The views by parameter of both sides; with shapes only if both tell all of them.

    A parameter with a shape and one without would be taken for a layer and a function.
    """
    sides = (by_parameter(npu), by_parameter(bench))
    if all(_tells_all_shapes(side.tree) for side in sides):
        return sides
    here, there = (replace(s, tree=replace(s.tree, params=((),) * len(s.tree))) for s in sides)
    return here, there


def _tells_all_shapes(tree: Tree) -> bool:
    return all(tree.params[node] for node in range(1, len(tree)) if tree.is_leaf(node))


def _listed(parameters: Iterable[Parameter]) -> dict[str, Parameter]:
    """By name, in order; where somebody has sorted the names as text, layer 10 is put behind layer 9 again."""
    listed = {parameter.name: parameter for parameter in parameters}
    if list(listed) != sorted(listed):
        return listed
    return {name: listed[name] for name in sorted(listed, key=_natural)}


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(step), "") if step.isdigit() else (-1, step) for step in name.split(".")]


def _source(
    parameters: Sequence[Parameter], modules: Sequence[Parameter], label: str, kind: str, notes: Sequence[str]
) -> Source:
    params: dict[str, list[tuple[str, Shape]]] = {module.name: [] for module in modules}
    for parameter in parameters:
        owner, _, last = parameter.name.rpartition(".")
        known = params.setdefault(owner, [])
        if parameter.shape is not None:
            known.append((last, parameter.shape))
    return Source(
        label=label,
        kind=kind,
        tree=_tree_of({owner: tuple(known) for owner, known in params.items()}),
        entries=_entries_of(params),
        notes=tuple(notes),
        parameters=tuple((p.name, p.shape) for p in (*parameters, *modules)) if parameters else (),
    )


def _tree_of(params: dict[str, Params]) -> Tree:
    lists = _lists(params)
    paths = dict.fromkeys(step for path in params for step in (*_above(path), path))
    return Tree.build(Module(path, "", path not in lists, params.get(path, ())) for path in paths)


def _entries_of(owners: Iterable[str]) -> tuple[Entry, ...]:
    """An entry for every module; one without a state, which nothing is matched with, for a list."""
    lists = _lists(owners)
    paths = dict.fromkeys(step for path in owners if path for step in (*_above(path), path))
    return tuple(Entry(path, tuple(path.split(".")), None, "" if path in lists else "forward") for path in paths)


def _lists(paths: Iterable[str]) -> set[str]:
    steps = {step for path in paths for step in (*_above(path), path)}
    return {outer for outer, _, last in (step.rpartition(".") for step in steps) if last.isdigit()}


def is_usual(name: str) -> bool:
    """Whether a name ends as those of parameters and buffers usually do."""
    return bool(_PARAMETER.match(name.rpartition(".")[2]))


def _above(path: str) -> list[str]:
    steps = path.split(".") if path else []
    return [".".join(steps[:length]) for length in range(1, len(steps))]
