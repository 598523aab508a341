"""The page's JavaScript engine and the library write the same bytes for the same decisions, and decisions come true."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser

from benchmarks.corpus import PAIRS, pairs
from matcher import Alignment, Module, Tree
from suggest.decider import decide
from suggest.decisions import ACCEPT, LINK, REJECT, Decision
from suggest.entries import module_entries
from suggest.mapping import load_mapping, quoted
from suggest.needs import taken
from suggest.read_document import load_document
from suggest.replay import land
from suggest.review import Review, review_text, start_review
from suggest.review_data import page_data
from suggest.review_page import ENGINE, scripts
from suggest.scopes import Scopes
from suggest.source import Entry, Source

STEPS = st.sampled_from(["a", "b", "layers", "0", "1", "7", "attn", 'q"\\', "é\u200b", "\U0001f600", "</script>"])
PATHS = st.lists(STEPS, min_size=1, max_size=5).map(".".join)
CLASSES = st.sampled_from(["A", "B", "C", "layers", "0", "Klasse ä"])
TREES = st.dictionaries(PATHS, CLASSES, min_size=1, max_size=12)
COMMENTS = st.sampled_from(
    ["", "  # 0.93", " # 0.61 review: or x", " # ours; reviewed", " # layermap: no", " # layermap: no b.c, a", "# a;b"]
)


RUN = """({ data, decisions }) => {
  const npu = engine.unfold(data.npu), bench = engine.unfold(data.bench);
  let lines = engine.linesOf(data);
  const texts = [engine.saved(data, npu, bench, lines)];
  for (const decision of decisions) {
    lines = engine.decide(npu, bench, lines, [decision]);
    texts.push(engine.saved(data, npu, bench, lines));
  }
  const landing = engine.land(npu, bench, engine.rulesOf(lines));
  const places = {};
  for (let node = 1; node < npu.length; node++) places[engine.pathOf(npu, node)] = landing.scopes[node];
  return { texts, places };
}"""


class Engine:
    """The part of the page that touches no page, in a browser; it answers with the file after every decision."""

    def __init__(self, browser: Browser) -> None:
        self.page = browser.new_page()
        self.page.add_script_tag(content=scripts(ENGINE))

    def run(self, review: Review, decisions: list[Decision]) -> dict[str, Any]:
        raw = [{"kind": d.kind, "nodes": d.nodes, "target": d.target, "here": d.here} for d in decisions]
        case = json.dumps({"data": page_data(review, {}, {}), "decisions": raw})
        answer: dict[str, Any] = json.loads(
            self.page.evaluate(f"(text) => JSON.stringify(({RUN})(JSON.parse(text)))", case)
        )
        return answer


@pytest.fixture(scope="module")
def engine(browser: Browser) -> Iterator[Engine]:
    found = Engine(browser)
    yield found
    found.page.close()


def source(tree: Mapping[str, str], gradients: Collection[str] = ()) -> Source:
    """A side; the gradients of some modules stand where msprobe 26 puts them, at the module's name twice."""
    entries = module_entries(tree.items())
    steps = [(path, path.split(".")) for path in tree if path in gradients]
    grads = tuple(
        Entry(f"Module.{path}.{tree[path]}.parameters_grad.0", (*names, names[-1]), names[-1], "parameters_grad")
        for path, names in steps
    )
    modules = (Module(".".join(entry.scope), entry.type or "") for entry in entries)
    return Source(label="side.txt", kind="text", tree=Tree.build(modules), entries=(*entries, *grads))


def review_of(npu: Source, bench: Source, mapping: str) -> Review:
    return Review(
        npu=npu,
        bench=bench,
        alignment=Alignment(npu=npu.tree, bench=bench.tree, pairs=()),
        here=Scopes.build(npu.entries),
        there=Scopes.build(bench.entries),
        document=load_document(mapping, "m.yaml"),
        header="",
        name="m.yaml",
    )


@st.composite
def mappings(draw: st.DrawFn) -> str:
    """A mapping file with rules, comments and blank lines in odd places."""
    sections = draw(st.dictionaries(st.one_of(CLASSES, st.just("TopLayer")), st.just(0), max_size=3))
    lines = [draw(st.sampled_from(["# top", "", "# é"]))]
    for name in sections:
        lines.append(f"{quoted(name)}:")
        for key in draw(st.dictionaries(PATHS, st.just(0), min_size=1, max_size=3)):
            shown, target = quoted(key), quoted(draw(PATHS))
            lines += [f"  {shown}: {target}{draw(COMMENTS)}", *draw(st.sampled_from([[], ["  # between"], [""]]))]
    text = "\n".join(lines if sections else [*lines, "{}"]) + draw(st.sampled_from(["\n", ""]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n", "\r"])))


def some_decisions(npu: Scopes, bench: Scopes, random: Random, count: int) -> list[Decision]:
    nodes = [node for node in range(1, len(npu)) if npu.entries[node]]
    found = []
    for _ in range(count):
        alike = [random.choice(nodes)]
        alike += [node for node in nodes if npu.types[node] == npu.types[alike[0]] and random.random() < 0.3]
        kind = random.choice([ACCEPT, LINK, LINK, REJECT])
        target = bench.path(random.randrange(1, len(bench))) if kind == LINK else ""
        paths = tuple(dict.fromkeys(npu.path(node) for node in alike))
        found.append(Decision(kind=kind, nodes=paths, target=target, here=random.random() < 0.3))
    return found


def agree(engine: Engine, review: Review, decisions: list[Decision]) -> None:
    """Same bytes after every decision, the same landing at the end, and the first node of each where it should be."""
    answer = engine.run(review, decisions)
    for count, text in enumerate(answer["texts"]):
        assert text == review_text(review, decisions[:count])
        document = decide(review.here, review.there, review.document, decisions[:count])
        loaded = load_mapping(document.text, "m")
        assert not [problem for problem in loaded.problems if problem.fatal]
        assert loaded.layer_map.sections() == document.layer_map().sections()
        if count:
            comes_true(review, decisions[count - 1], text)
    landing = land(review.here, review.there, load_mapping(text, "m").layer_map)
    assert answer["places"] == {
        review.here.path(node): landing.scopes[node] for node in range(1, len(review.here)) if landing.scopes[node]
    } | {path: "" for path, scope in answer["places"].items() if not scope}


def comes_true(review: Review, decision: Decision, text: str) -> None:
    landing = land(review.here, review.there, load_mapping(text, "m").layer_map)
    node = review.here.find(decision.nodes[0])
    assert node is not None
    if decision.kind == LINK and len(decision.nodes) == 1:
        assert landing.scopes[node] == decision.target
    if decision.kind == REJECT and len(decision.nodes) == 1:
        assert not taken(review.here, review.there, node, landing.scopes[node])


@pytest.mark.bulk
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TREES, TREES, mappings(), st.randoms(use_true_random=False))
def test_same_bytes_on_random_trees_and_files(
    engine: Engine, npu: dict[str, str], bench: dict[str, str], mapping: str, random: Random
) -> None:
    graded = [path for path in (*npu, *bench) if random.random() < 0.5]
    review = review_of(source(npu, graded), source(bench, graded), mapping)
    agree(engine, review, some_decisions(review.here, review.there, random, 5))


def test_gradients_of_a_module_and_of_one_inside_it_follow_in_one_order(engine: Engine) -> None:
    """The inner module's gradient stands before the outer one's in the dump, though its module stands after."""
    npu = source({"b": "B", "b.layers": "B"}, ["b", "b.layers"])
    review = review_of(npu, source({"a": "A"}, ["a"]), "{}\n")
    decision = Decision(kind=LINK, nodes=("b.layers", "b"), target="a", here=False)
    agree(engine, review, [decision])
    text = review_text(review, [decision])
    assert text.index('"layers": "a"  # for') < text.index('"b": "a"       # for')


@pytest.mark.bulk
@pytest.mark.parametrize("name", sorted(folder.name for folder in PAIRS.iterdir()))
def test_same_bytes_on_real_pairs(engine: Engine, name: str) -> None:
    for pair in pairs(only=name):
        review = start_review(pair.npu.source, pair.bench.source)
        agree(engine, review, some_decisions(review.here, review.there, Random(1), 4))
