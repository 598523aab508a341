"""Read both sides off the error that PyTorch raises when a checkpoint does not fit a model.

    RuntimeError: Error(s) in loading state_dict for GPT2:
        Missing key(s) in state_dict: "h.0.attn.c_attn.weight", ...
        Unexpected key(s) in state_dict: "transformer.h.0.attn.c_attn.weight", ...
        size mismatch for wte.weight: copying a param with shape torch.Size([50257, 768]) from checkpoint, the shape in
        current model is torch.Size([50304, 768]).

What is *missing* is what the model has and the checkpoint lacks: the names of the model. What is *unexpected* is what
only the checkpoint has. A size mismatch names both, with shapes. So one text given for both sides is the model against
its checkpoint; as the first argument it is the model, as the second the checkpoint, and ``#missing`` or ``#unexpected``
after its name says otherwise.

Limits: names that both have are in no such error, and the modules that have no other parameters stay unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .errors import ReadError
from .files import UNREADABLE
from .parameters import Parameter, source_of_parameters
from .printouts import clean
from .read_keys import numbers
from .source import Source

MODEL, CHECKPOINT = "missing", "unexpected"
PARTS = {"npu": MODEL, "bench": CHECKPOINT}
_SECTION = re.compile(r"(?P<kind>Missing|Unexpected) key(?:s|\(s\))? in state_dict: ?(?P<rest>.*)$")
_MISMATCH = re.compile(
    r"size mismatch for (?P<name>[\w.]+): copying a param with shape (?:torch\.Size\()?[\[(]?(?P<there>[\d, ]*)[\])]*"
    r" from checkpoint, (?:where )?the shape (?:in current model )?is (?:torch\.Size\()?[\[(]?(?P<here>[\d, ]*)"
)
_KEY = re.compile(r"[\"'](?P<name>\w+(?:\.\w+)*)[\"']")
_LISTED = re.compile(r"\"\w+(?:\.\w+)+\", ")
_SIZES = "size mismatch for"
_HINT = "copy the whole error message"


@dataclass(slots=True)
class _Sides:
    missing: dict[str, Parameter] = field(default_factory=dict)
    unexpected: dict[str, Parameter] = field(default_factory=dict)


def is_state_dict_error(line: str) -> bool:
    """Whether a line belongs to such an error."""
    return ("state_dict" in line and _SECTION.search(line) is not None) or _MISMATCH.search(line) is not None


def read_state_dict_error(lines: Iterable[str], label: str, side: str, part: str = "") -> Source:
    """The names of the model (``missing``) or of the checkpoint (``unexpected``) in an error text."""
    wanted = part or PARTS[side]
    if wanted not in (MODEL, CHECKPOINT):
        raise ReadError(
            label, f"no part #{part} in an error of a state_dict", "#missing is the model, #unexpected the file"
        )
    sides = _sides(lines, label)
    found = sides.missing if wanted == MODEL else sides.unexpected
    if not found:
        raise ReadError(label, f"the error names no {wanted} key", _HINT)
    return source_of_parameters(found.values(), f"{label}#{wanted}", "error of a state_dict")


def _sides(lines: Iterable[str], label: str) -> _Sides:
    """Each list stands on one line, but a terminal or a mail may have wrapped it."""
    sides = _Sides()
    open_list: dict[str, Parameter] | None = None
    for number, raw in enumerate(lines, 1):
        line = clean(raw)
        mismatch, section = _MISMATCH.search(line), _SECTION.search(line)
        if UNREADABLE in line and (section or open_list is not None or _SIZES in line):
            raise ReadError(f"{label}:{number}", "bytes that are no text within the error", _HINT)
        if _SIZES in line and not mismatch:
            raise ReadError(f"{label}:{number}", f"{line.strip()[:60]!r} is cut off", _HINT)
        if mismatch:
            name = mismatch["name"]
            sides.missing[name] = Parameter(name, numbers(mismatch["here"]))
            sides.unexpected[name] = Parameter(name, numbers(mismatch["there"]))
            open_list = None
        elif section or open_list is not None:
            if section:
                open_list = sides.missing if section["kind"] == "Missing" else sides.unexpected
            text = section["rest"] if section else line
            if open_list is not None and text.strip():
                open_list = _take(text, open_list, f"{label}:{number}")
        elif len(_LISTED.findall(line)) > 1:
            raise ReadError(f"{label}:{number}", f"{line.strip()[:40]!r} are names of which nobody says whose", _HINT)
    return sides


def _take(text: str, into: dict[str, Parameter], where: str) -> dict[str, Parameter] | None:
    """Take the names of one line of a list; the list goes on if the line ends in a comma."""
    names = [found["name"] for found in _KEY.finditer(text)]
    into.update((name, Parameter(name)) for name in names if name not in into)
    rest = _KEY.sub("", text)
    if '"' in rest or "..." in rest:
        raise ReadError(where, f"the list of names is cut off after {names[-1] if names else 'its beginning'}", _HINT)
    return into if text.rstrip().endswith(",") else None
