"""Drafts of the two pairs from msprobe's own documents, as files that a person can read.

``pytest --update-golden`` rewrites them; the diff is then reviewed like any other change.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.corpus import PAIRS
from suggest.draft import draft
from suggest.read import read
from suggest.render import render

GOLDEN = Path(__file__).parent
PAIR_SIDES = [
    (name, sides)
    for name in ("seed-qwen2_5-vl", "seed-layer-mapping-example")
    for sides in (("left", "right"), ("right", "left"))
]


@pytest.mark.parametrize(("name", "sides"), PAIR_SIDES)
def test_draft_is_the_golden_file(name: str, sides: tuple[str, str], *, update_golden: bool) -> None:
    npu, bench = (read(str(PAIRS / name / f"{side}.txt")) for side in sides)
    text = render(draft(npu, bench), "yaml", comments=True)
    golden = GOLDEN / f"{name}.{sides[0]}-to-{sides[1]}.yaml"
    if update_golden:
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
