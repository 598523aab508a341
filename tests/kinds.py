"""One model, written down as every kind of input that can be made of a list of its modules.

A model is ``[{path, class, params: {name: shape}}]`` in definition order, as ``*.modules.json`` in `tests/data/pairs`.
Formats are written as the framework writes them: `tests/functional/test_inputs.py` reads what the real ones wrote.
"""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from suggest.read_text import CONTAINERS

Modules = list[dict[str, Any]]
Writer = Callable[[Modules, Path], Path]


def is_called(module: dict[str, Any], root: dict[str, Any]) -> bool:
    element = root["class"] in ("list", "tuple") and "." not in module["path"]
    return bool(module["path"]) and module["class"] not in CONTAINERS and not element


def parameters(modules: Modules) -> dict[str, list[int]]:
    """The state_dict: full name to shape."""
    return {
        f"{module['path']}.{name}" if module["path"] else name: list(shape)
        for module in modules
        for name, shape in (module.get("params") or {}).items()
    }


def entry(module: dict[str, Any]) -> str:
    return f"Module.{module['path']}.{module['class']}.forward.0"


def recorded(modules: Modules) -> tuple[dict[str, Any], dict[str, str | None]]:
    """What dump.json and construct.json say of one forward pass."""
    called = {module["path"]: module for module in modules if is_called(module, modules[0])}
    data: dict[str, Any] = {}
    construct: dict[str, str | None] = {}
    for path, module in called.items():
        tensors = {
            name: {"type": "torch.Tensor", "dtype": "torch.float32", "shape": list(shape)}
            for name, shape in (module.get("params") or {}).items()
        }
        above = path
        while above and (above := above.rpartition(".")[0]):
            if above in called:
                break
        data[entry(module)] = {"input_args": [], "input_kwargs": {}, "output": [], "parameters": tensors}
        construct[entry(module)] = entry(called[above]) if above else None
    return data, construct


def written(place: Path, content: str | bytes | dict[str, Any] | list[Any]) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        place.write_bytes(content)
    else:
        place.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
    return place


def dump(modules: Modules, folder: Path) -> Path:
    data, construct = recorded(modules)
    home = folder / "dump" / "step0" / "rank0"
    head = {"task": "statistics", "level": "L0", "framework": "pytorch", "dump_data_dir": None}
    written(home / "dump.json", {**head, "data": data})
    written(home / "construct.json", construct)
    written(home / "stack.json", {"0": [list(data), ["File x.py, line 1, in y, \n z"]]})
    return folder / "dump"


def structure(modules: Modules, folder: Path) -> Path:
    home = folder / "structure" / "step0" / "proc4711"
    written(home / "dump.json", {"task": "structure", "level": "L0", "framework": "pytorch", "data": {}})
    written(home / "construct.json", recorded(modules)[1])
    written(home / "stack.json", {})
    return folder / "structure"


def micro_steps(modules: Modules, folder: Path) -> Path:
    construct: dict[str, Any] = {name: [parent, 0] for name, parent in recorded(modules)[1].items()}
    construct["megatron_micro_step_number"] = 1
    return written(folder / "micro" / "construct.json", construct)


def two_ranks(modules: Modules, folder: Path) -> Path:
    """Pipeline stages: the first rank holds the first half of what is directly below the model, with all above it."""
    data, construct = recorded(modules)
    names = list(data)
    for rank, part in enumerate((names[: len(names) // 2], names[len(names) // 2 :])):
        home = folder / "ranks" / "step0" / f"rank{rank}"
        written(home / "dump.json", {"task": "statistics", "framework": "pytorch", "data": {n: data[n] for n in part}})
        written(home / "construct.json", {name: construct[name] for name in part})
        written(home / "stack.json", {})
    return folder / "ranks"


def drawn_json(modules: Modules, folder: Path) -> Path:
    nodes = {name: node | {"upnode": up} for name, node, up in _nodes(modules)}
    return written(folder / "compare.vis", {"NPU": {"root": "DefaultModel", "node": nodes}})


def drawn_database(modules: Modules, folder: Path) -> Path:
    place = folder / "compare.vis.db"
    with sqlite3.connect(place) as database:
        database.execute(
            "create table tb_nodes (node_order, node_name, up_node, input_data, output_data, data_source, step, rank)"
        )
        for order, (name, node, up) in enumerate(_nodes(modules)):
            row = (order, name, up, json.dumps(node["input_data"]), "{}", "NPU", 0, 0)
            database.execute("insert into tb_nodes values (?, ?, ?, ?, ?, ?, ?, ?)", row)
    database.close()
    return place


def _nodes(modules: Modules) -> Iterator[tuple[str, dict[str, Any], str]]:
    data, construct = recorded(modules)
    for name, record in data.items():
        tensors = {f"{name}.parameters.{key}": value for key, value in record["parameters"].items()}
        texts = {key: value | {"shape": str(value["shape"])} for key, value in tensors.items()}
        yield name, {"id": name, "input_data": texts, "output_data": {}}, construct[name] or "DefaultModel"


def tree_file(modules: Modules, folder: Path) -> Path:
    listed = [
        {"path": m["path"], "class": m["class"], "parameters": {k: list(v) for k, v in (m.get("params") or {}).items()}}
        for m in modules
    ]
    return written(folder / "model.tree.json", {"format": "layermap-tree", "version": 1, "modules": listed})


def module_list(modules: Modules, folder: Path) -> Path:
    return written(folder / "modules.json", list(modules))


def printed(modules: Modules, folder: Path, brackets: str = "()", prefix: str = "") -> Path:
    """``print(model)``, every module on lines of its own."""
    below: dict[str, list[dict[str, Any]]] = {}
    for module in modules[1:]:
        below.setdefault(module["path"].rpartition(".")[0], []).append(module)
    lines: list[str] = []

    def write(module: dict[str, Any], head: str, indent: str) -> None:
        children = below.get(module["path"], [])
        opening = f"{indent}{head}{module['class']}{brackets[0]}"
        if not children:
            lines.append(f"{opening}{brackets[1]}")
            return
        lines.append(opening)
        for child in children:
            write(child, f"({child['path'].rpartition('.')[2]}): ", indent + "  ")
        lines.append(f"{indent}{'  ' if brackets == '<>' else ''}{brackets[1]}")

    write(modules[0], "", "")
    name = f"printed{ord(brackets[0])}{len(prefix)}.txt"
    return written(folder / name, "".join(f"{prefix}{line}\n" for line in lines))


def printed_older_mindspore(modules: Modules, folder: Path) -> Path:
    return printed(modules, folder, "<>")


def logged(modules: Modules, folder: Path) -> Path:
    text = printed(modules, folder, "()", "\x1b[32m[rank0]:\x1b[0m ").read_text()
    return written(folder / "train.log", f"start\n{text}[rank0]: step 1 loss (nan)\n".replace("\n", "\r\n"))


def summary(modules: Modules, folder: Path) -> Path:
    lines = [
        "=" * 9,
        "Layer (type (var_name):depth-idx)      Param #",
        "=" * 9,
        f"{modules[0]['class']} (Model)     --",
    ]
    for number, module in enumerate(modules[1:], 1):
        depth = module["path"].count(".") + 1
        bars = "├─" if depth == 1 else "│    " * (depth - 1) + "└─"
        lines.append(f"{bars}{module['class']} ({module['path'].rpartition('.')[2]}): {depth}-{number}      12")
    return written(folder / "summary.txt", "\n".join([*lines, "=" * 9, "Total params: 1"]))


def keys(modules: Modules, folder: Path) -> Path:
    return written(folder / "keys.txt", "".join(f"{name}\n" for name in parameters(modules)))


def keys_with_shapes(modules: Modules, folder: Path) -> Path:
    lines = (f"{name}  torch.Size({shape})\n" for name, shape in parameters(modules).items())
    return written(folder / "shapes.txt", "".join(lines))


def printed_keys(modules: Modules, folder: Path) -> Path:
    return written(folder / "odict.txt", f"odict_keys({list(parameters(modules))})\n")


def json_shapes(modules: Modules, folder: Path) -> Path:
    return written(folder / "shapes.json", parameters(modules))


def mindspore_parameters(modules: Modules, folder: Path) -> Path:
    lines = (
        f"Parameter (name={name}, shape=({', '.join(map(str, shape))},), dtype=Float32, requires_grad=True)\n"
        for name, shape in parameters(modules).items()
    )
    return written(folder / "parameters.txt", "".join(lines))


def state_dict_error(modules: Modules, folder: Path) -> Path:
    names = ", ".join(f'"{name}"' for name in parameters(modules))
    text = f"RuntimeError: Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: {names}. \n"
    return written(folder / "error.txt", text + '\tUnexpected key(s) in state_dict: "zork.weight". \n')


def safetensors(modules: Modules, folder: Path) -> Path:
    """The header only, names sorted as the library sorts them."""
    header = {
        name: {"dtype": "F32", "shape": shape, "data_offsets": [0, 0]}
        for name, shape in sorted(parameters(modules).items())
    }
    raw = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    return written(folder / "model.safetensors", struct.pack("<Q", len(raw)) + raw)


def index(modules: Modules, folder: Path) -> Path:
    names = sorted(parameters(modules))
    return written(
        folder / "model.index.json", {"metadata": {}, "weight_map": dict.fromkeys(names, "model-00001.safetensors")}
    )


def parameter_name_map(modules: Modules, folder: Path) -> Path:
    return written(folder / "param_name_map.json", dict.fromkeys(parameters(modules), "part0.safetensors"))


FULL: tuple[Writer, ...] = (
    dump,
    structure,
    micro_steps,
    two_ranks,
    drawn_json,
    drawn_database,
    tree_file,
    module_list,
    printed,
    printed_older_mindspore,
    logged,
    summary,
)
NAMES: tuple[Writer, ...] = (
    keys,
    keys_with_shapes,
    printed_keys,
    json_shapes,
    mindspore_parameters,
    state_dict_error,
    safetensors,
    index,
    parameter_name_map,
)
