"""The same target for another of a row of numbered layers."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[0-9]{1,9}")


def shifted(rest: str, key: str, own: str) -> str:
    """A target for another layer: every number moves by as much as the number in the key does."""
    steps, old, new = rest.split("."), _numbers(key), _numbers(own)
    if not len(_numbers(rest)) == len(old) == len(new):
        return rest
    moves = iter(after - before for before, after in zip(old, new, strict=True))
    return ".".join(str(int(step) + next(moves)) if _NUMBER.fullmatch(step) else step for step in steps)


def _numbers(path: str) -> list[int]:
    return [int(step) for step in path.split(".") if _NUMBER.fullmatch(step)]
