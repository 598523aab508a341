"""Read a plain list of names: one parameter or module path a line, a shape after it if known.

    model.layers.0.self_attn.q_proj.weight  torch.Size([2048, 2048])
    "lm_head.weight",
    Parameter (name=layers.0.wq.weight, shape=(8, 8), dtype=Float32, requires_grad=True)

What Python prints for ``state_dict().keys()``, for a list of names, or for MindSpore's ``parameters_dict()`` is read
too, however many names stand on one line. What the names stand for is decided in `suggest.parameters`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from .errors import ReadError
from .files import UNREADABLE
from .parameters import Parameter, is_usual, source_of_names, source_of_parameters
from .source import Source

_PATH = re.compile(r"[\"']?(?P<path>[A-Za-z_]\w*(?:\.\w+)+|[A-Za-z_]\w*|\d+(?:\.\w+)+)[\"']?(?P<rest>.*)$")
_DTYPE = r"(?:torch\.|mindspore\.)?(?:b?float|u?int|bool|half|[BFIU])_?\d*(?:_e\dm\d\w*)?"
_SHAPE = re.compile(
    rf"[\s:,=|]*(?:{_DTYPE}[\s:,|]+)?(?:torch\.Size)?(?P<open>[\[(]{{1,2}})(?P<shape>[\d\s,]*)[\])]{{1,2}},?"
    rf"[\s:,|]*(?:{_DTYPE})?\s*$",
    re.IGNORECASE,
)
_PRINTED = re.compile(r"(?:odict_keys|dict_keys|OrderedDict|defaultdict\(<[^>]*>, |\[|\{|\()[\[({]*\s*[\"']")
_QUOTED = re.compile(
    r"[\"'](?P<path>\w+(?:\.\w+)+|[A-Za-z_]\w*)[\"'](?:\s*[:,]\s*torch\.Size\(\[(?P<shape>[\d, ]*)\]\))?"
)
_MOSTLY = 0.8  # the share of the first lines that makes a text a list of names
_QUOTES = "\"'"
_SIGNS = frozenset("()[]{}" + _QUOTES)
_MINDSPORE = re.compile(r"Parameter \(name=(?P<path>[\w.]+), shape=\((?P<shape>[\d, ]*)\)")


def looks_like_keys(lines: Iterable[str]) -> bool:
    """Whether these lines, the first of a text, are names; one or two may be damaged, which `read_keys` tells."""
    shown = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    names = [line for line in shown if any(True for _ in _names(line))]
    return _MOSTLY * len(shown) <= len(names) and any("." in line for line in names)


def read_keys(text: str | Iterable[str], label: str) -> Source:
    """The tree of a list of names, given whole or line by line; raises `ReadError` with the line that is no name."""
    found: list[Parameter] = []
    are_parameters = False
    brackets = Counter[str]()
    number, shown = 0, ""
    for number, line in enumerate(text.splitlines() if isinstance(text, str) else text, 1):
        shown = line.strip()
        if not shown or shown.startswith("#"):
            continue
        names = list(_names(shown))
        if UNREADABLE in shown or (not names and shown.strip("[](){},")):
            raise ReadError(
                f"{label}:{number}", f"{shown[:40]!r} is no name in a list of names", "one dotted name a line"
            )
        are_parameters |= bool(_MINDSPORE.search(shown))
        brackets.update(sign for sign in shown if sign in _SIGNS)
        found += names
    if found and not _is_balanced(brackets):
        problem = f"brackets or quotes are not closed, the list is cut off or damaged after {found[-1].name}"
        raise ReadError(f"{label}:{number}", problem, "copy the whole list")
    source = (source_of_parameters if are_parameters else source_of_names)(found, label, "list of names")
    return replace(source, notes=(*source.notes, *_torn(found)))


def _is_balanced(signs: Mapping[str, int]) -> bool:
    pairs = (("(", ")"), ("[", "]"), ("{", "}"))
    return all(signs.get(a, 0) == signs.get(b, 0) for a, b in pairs) and not any(signs.get(q, 0) % 2 for q in _QUOTES)


def _torn(found: Sequence[Parameter]) -> Iterator[str]:
    """A last name that is not like all others, as where a copy ended too early."""
    *others, last = found
    shapes = bool(others) and all(parameter.shape is not None for parameter in others) and last.shape is None
    usual = len(others) > 1 and all(is_usual(parameter.name) for parameter in others) and not is_usual(last.name)
    if shapes or usual:
        yield f"the last name, {last.name}, is not like the others: is the list cut off?"


def numbers(text: str) -> tuple[int, ...]:
    """The numbers of a printed shape."""
    return tuple(map(int, re.findall(r"\d+", text)))


def _names(line: str) -> Iterator[Parameter]:
    if "Parameter (name=" in line:
        for printed in _MINDSPORE.finditer(line):
            yield Parameter(printed["path"], numbers(printed["shape"]))
    elif head := _PRINTED.match(line):
        for quoted in _QUOTED.finditer(line, head.end() - 1):
            yield Parameter(quoted["path"], None if quoted["shape"] is None else numbers(quoted["shape"]))
    elif found := _PATH.match(line):
        rest = found["rest"].strip()
        shape = _SHAPE.match(rest)
        if shape:
            yield Parameter(found["path"], numbers(shape["shape"]))
        elif not rest.strip(",:])}"):
            yield Parameter(found["path"])
