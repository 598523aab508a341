"""Whatever the two trees, an alignment pairs nothing twice; and a tree with itself, node by node."""

from __future__ import annotations

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from matcher import Module, Tree, align

STEPS = st.sampled_from(["attn", "mlp", "layers", "0", "1", "gone", "norm"])
PATHS = st.lists(STEPS, min_size=1, max_size=4).map(".".join)
CLASSES = st.sampled_from(["Block", "Attention", "MLP", "Linear"])
TREES = st.dictionaries(PATHS, CLASSES, min_size=1, max_size=12)


def tree(modules: dict[str, str]) -> Tree:
    return Tree.build(Module(path, cls) for path, cls in modules.items())


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TREES, TREES)
@example(  # both moved subtrees want the module that stands inside the two that are theirs
    {"attn.attn": "Block", "mlp.attn": "Attention", "layers.0": "Attention"},
    {"attn.attn": "Block", "attn.gone.0.0": "Attention"},
)
def test_no_module_is_paired_twice(npu: dict[str, str], bench: dict[str, str]) -> None:
    pairs = align(tree(npu), tree(bench)).pairs
    assert len({pair.npu for pair in pairs}) == len({pair.bench for pair in pairs}) == len(pairs)
    assert list(pairs) == sorted(pairs, key=lambda pair: pair.npu)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TREES)
def test_a_tree_is_aligned_with_itself_node_by_node(modules: dict[str, str]) -> None:
    side = tree(modules)
    found = align(side, side).bench_of()
    assert {node: found.get(node) for node in range(1, len(side)) if side.called[node]} == {
        node: node for node in range(1, len(side)) if side.called[node]
    }
