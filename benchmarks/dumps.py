"""Write the dump of a generated network as msprobe does, of any size, in little memory.

Of level L0 without statistics, which is the least that a mapping needs, or of level ``mix`` with statistics: forward
and backward calls of modules and of the operators inside them, for as many micro-batches as give the size that is asked
for. A module stands after what is in it, and before it in construct.json. The numbers are random, the same in every
run; only that they look like numbers matters.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import TextIO

from .generate import HIDDEN, Block, Shape

_NUMBERS = 997
_TOKENS = 4096
_HEAD = '{\n "task": "statistics",\n "level": "%s",\n "framework": "pytorch",\n "dump_data_dir": null,\n "data": {'
_LINES = ["File /site-packages/torch/nn/modules/module.py, line 1784, in _call_impl, \n return forward_call(*args)"]


def write_dump(home: Path, top: Block, *, size: int = 0) -> int:
    """A dump of one forward pass of level L0; or, with a size, one of level ``mix``, as large or a little larger.

    Returns the number of bytes of dump.json.
    """
    home.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        files = [
            stack.enter_context((home / f"{name}.json").open("w", encoding="utf-8"))
            for name in ("dump", "construct", "stack")
        ]
        return _Writer(*files, size=size).write(top)


class _Writer:
    """The three files of one rank, and what has been written to them."""

    def __init__(self, dump: TextIO, construct: TextIO, stack: TextIO, *, size: int) -> None:
        self.dump, self.construct, self.stack = dump, construct, stack
        self.size = size
        self.calls: Counter[str] = Counter()
        self.began = False
        self.named = False
        self.count = 0
        random = Random(7)  # noqa: S311  numbers that nobody has to guess
        self.numbers = [[random.gauss(0.0, 3.0) for _ in range(4)] for _ in range(_NUMBERS)]
        self.texts: dict[tuple[Shape, int], list[str]] = {}

    def write(self, top: Block) -> int:
        self.dump.write(_HEAD % ("mix" if self.size else "L0"))
        self.construct.write("{")
        self.stack.write('{\n "0": [\n  [')
        call = 0
        while not call or self.dump.tell() < self.size:
            done = list(self._forward(top, "", "null", call))
            if self.size:
                for name, shape in reversed(done):
                    self._entry(name, self._sides(("input", shape), ("output", shape)))
            call += 1
        self.dump.write("\n }\n}")
        self.construct.write("\n}")
        self.stack.write(f"\n  ],\n  {json.dumps(_LINES)}\n ]\n}}")
        return self.dump.tell()

    def _forward(self, block: Block, above: str, parent: str, call: int) -> Iterator[tuple[str, Shape]]:
        """Write a module after all that is in it; yields the names and shapes of the backward calls to come."""
        path = f"{above}.{block.name}" if above else block.name
        name = f"Module.{path}.{block.cls}.forward.{call}" if block.cls else ""
        if name:
            self._place(name, parent)
            parent = f'"{name}"'
        for inner in block.below:
            yield from self._forward(inner, path, parent, call)
        out = (1, _TOKENS, block.shape[0] if len(block.shape) > 1 else HIDDEN)
        into = (1, _TOKENS, HIDDEN)
        for operator in block.operators if self.size else ():
            called = f"{operator}.{self.calls[operator]}"
            self.calls[operator] += 1
            self._place(f"{called}.forward", parent)
            self._entry(f"{called}.forward", self._arguments(into, out))
            yield f"{called}.backward", out
        if name:
            self._entry(name, self._arguments(into, out) + self._parameters(block.shape))
            yield f"Module.{path}.{block.cls}.backward.{call}", out

    def _place(self, name: str, parent: str) -> None:
        comma = "," if self.named else ""
        self.construct.write(f'{comma}\n "{name}": {parent}')
        self.stack.write(f'{comma}\n   "{name}"')
        self.named = True

    def _entry(self, name: str, text: str) -> None:
        self.dump.write(f'{"," if self.began else ""}\n  "{name}": {{{text}\n  }}')
        self.began = True

    def _arguments(self, into: Shape, out: Shape) -> str:
        return self._sides(("input_args", into)) + ',\n   "input_kwargs": {},' + self._sides(("output", out))

    def _sides(self, *sides: tuple[str, Shape]) -> str:
        texts = [
            f'\n   "{side}": [{self._tensor(shape, 4)}\n   ]' if self.size else f'\n   "{side}": []'
            for side, shape in sides
        ]
        return ",".join(texts)

    def _parameters(self, shape: Shape) -> str:
        if not shape:
            return ',\n   "parameters": {}'
        return f',\n   "parameters": {{\n    "weight": {self._tensor(shape, 4).lstrip()}\n   }}'

    def _tensor(self, shape: Shape, indent: int) -> str:
        texts = self.texts.get((shape, indent))
        if texts is None:
            texts = self.texts[shape, indent] = [self._text(shape, indent, found) for found in self.numbers]
        self.count += 1
        return texts[self.count % len(texts)]

    def _text(self, shape: Shape, indent: int, found: list[float]) -> str:
        record: dict[str, object] = {"type": "torch.Tensor", "dtype": "torch.bfloat16", "shape": list(shape)}
        if self.size:
            record |= dict(zip(("Max", "Min", "Mean", "Norm"), found, strict=True)) | {"requires_grad": True}
        return "\n".join(
            "\n" * (not n) + " " * indent + line for n, line in enumerate(json.dumps(record, indent=1).split("\n"))
        )
