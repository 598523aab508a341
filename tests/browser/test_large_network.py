"""A network of 60,000 modules a side: a small page that reacts at once, because it draws what is in sight only."""

from __future__ import annotations

import json
from pathlib import Path

from matcher import Alignment, Evidence, Pair
from suggest.measured import Measured
from suggest.read_document import load_document
from suggest.read_text import read_text
from suggest.review import Review
from suggest.review_data import page_data
from suggest.review_page import review_page
from suggest.scopes import Scopes
from suggest.source import Source
from suggest.tensors import Tensor

from .conftest import Opener

MODEL = """Model(
  (layers): ModuleList(
    (0-60): 61 x Layer(
      (attn): Attention(
        (q): Linear(in_features=7168, out_features=1536, bias=False)
        (o): Linear(in_features=7168, out_features=7168, bias=False)
      )
      (mlp): MoE(
        (experts): ModuleList(
          (0-255): 256 x Expert(
            (fc1): Linear(in_features=7168, out_features=4096, bias=False)
            (act): SiLU()
            (fc2): Linear(in_features=2048, out_features=7168, bias=False)
          )
        )
      )
    )
  )
)
"""
REACTION = """(key) => {
  const start = performance.now();
  document.querySelector('#rows').dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  document.body.offsetHeight;
  return performance.now() - start;
}"""


def large_review(npu: Source, bench: Source) -> Review:
    """A review in which everything is paired by place; the matcher is not what is tested here."""
    pairs = tuple(
        Pair(npu=node, bench=node, score=0.9, confidence=0.9, evidence=Evidence(name=1.0), features=())
        for node in range(1, len(npu.tree))
    )
    return Review(
        npu=npu,
        bench=bench,
        alignment=Alignment(npu=npu.tree, bench=bench.tree, pairs=pairs),
        here=Scopes.build(npu.entries),
        there=Scopes.build(bench.entries),
        document=load_document('Layer:\n  "attn": "self_attn"\nExpert:\n  "fc1": "up"\n  "fc2": "down"\n', "m.yaml"),
        header="",
        name="m.yaml",
    )


def test_a_large_network_is_a_small_page_that_reacts_within_a_second(tmp_path: Path, open_page: Opener) -> None:
    bench = MODEL.replace("(attn)", "(self_attn)").replace("(fc1)", "(up)").replace("(fc2)", "(down)")
    review = large_review(read_text(MODEL, "npu.txt"), read_text(bench, "bench.txt"))
    assert len(review.npu.tree) > 60_000
    tensor = Tensor((4096, 1, 7168), "bfloat16", (12.25, -11.5, 0.00123, 4567.8))
    figures = {path: Measured((tensor,), (tensor,)) for path in review.npu.tree.paths}
    data = page_data(review, figures, figures)
    assert data["npu"]["figuresCut"]
    text = review_page(data)
    assert len(text.encode()) < 3_000_000
    place = tmp_path / "review.html"
    place.write_text(text, encoding="utf-8")
    page = open_page(place.as_uri())
    opened = page.evaluate("performance.timing.domContentLoadedEventEnd - performance.timing.responseEnd")
    assert opened < 2000, "parsing, unfolding and the first replay, on a machine with other work"
    assert page.locator("#rows .row").count() < 60
    page.keyboard.press("End")
    page.evaluate("document.querySelector('#rows').scrollTop = 0")
    for key in ("n", "ArrowDown", "a", "x", "u"):
        assert min(page.evaluate(REACTION, key) for _ in range(2)) < 1000, key
    page.fill("#search", "layers.17 experts.200 fc2")
    page.wait_for_selector("#rows .row:has-text('200')")
    assert page.locator("#rows .row").count() < 60
    page.keyboard.press("Escape")
    folded = json.loads(json.dumps(page.locator("#rows .times").all_text_contents()))
    assert "×61" in folded
