"""Laws of thinning: what stands for others goes where they go, whatever the rules, and stands for all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from unittest.mock import patch

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from suggest import thin
from suggest.entries import entries_of
from suggest.mapping import LayerMap, Rule
from suggest.repeats import counterparts
from suggest.replay import NOWHERE, land
from suggest.scopes import Scopes
from suggest.thin import Thin, rows_of, thinned

STEPS = st.sampled_from(["a", "b", "mlp", "0", "1"])
CLASSES = st.sampled_from(["A", "B", "Linear"])
LISTS = st.sampled_from(["layers", "h", "a"])


@st.composite
def blocks(draw: st.DrawFn, deep: int) -> list[str]:
    """What is in a module: the names of the entries below it."""
    found = [f"{draw(STEPS)}.{draw(CLASSES)}.forward.0" for _ in range(draw(st.integers(0, 2)))]
    if deep:
        name, count, start = draw(LISTS), draw(st.integers(1, 20)), draw(st.sampled_from([0, 0, 0, 1, 3]))
        inside = draw(blocks(deep - 1))
        others = draw(
            st.one_of(st.just(inside), st.just([one.replace(".A.", ".B.") for one in inside]), blocks(deep - 1))
        )
        kinds = [(draw(CLASSES), inside), (draw(CLASSES), others)]
        turn = draw(st.integers(0, count))
        for number in range(start, start + count):
            cls, inside = kinds[number > turn]
            found += [f"{name}.{number}.{cls}.forward.0"]
            found += [f"{name}.{number}.{inner}" for inner in inside]
    return list(dict.fromkeys(found))


def side(names: list[str]) -> list[str]:
    return [f"Module.net.{name}" for name in names]


def run(names: list[str], calls: int) -> list[str]:
    """The entries of several passes forward and backward: what is in a module stands in several places."""
    found = list(names)
    for call in range(1, calls):
        back = [name.replace(".forward.0", f".backward.{call - 1}") for name in reversed(names)]
        found += [*back, *(name.replace(".forward.0", f".forward.{call}") for name in names)]
    return found


SIDES = st.builds(run, blocks(2).map(side), st.integers(1, 3))


@st.composite
def rules(draw: st.DrawFn, numbers: frozenset[str]) -> LayerMap:
    steps = st.one_of(STEPS, LISTS, st.just("net")).filter(lambda step: step not in numbers)
    paths = st.lists(steps, min_size=1, max_size=3).map(".".join)
    sections = st.one_of(CLASSES, LISTS, st.just("TopLayer"))
    found = draw(st.dictionaries(st.tuples(sections, paths), paths, max_size=6))
    return LayerMap(tuple(Rule(section=s, key=k, target=t) for (s, k), t in found.items()))


def scopes(names: list[str]) -> Scopes:
    return Scopes.build(entries_of(names, {}, {}, "pytorch")[0])


def hits(npu: Scopes, bench: Scopes, layer_map: LayerMap) -> Iterator[tuple[str, str | None]]:
    landing = land(npu, bench, layer_map)
    for node, place in enumerate(landing.nodes):
        if npu.entries[node]:
            meets = place != NOWHERE and bench.entries[place]  # of whatever state
            yield npu.path(node), landing.scopes[node] if meets else None


def modules(names: list[str]) -> list[str]:
    return list(dict.fromkeys(name.partition(".")[2].rsplit(".", 3)[0] for name in names))


def both(npu: list[str], bench: list[str]) -> tuple[Thin, Thin]:
    with patch.object(thin, "_MOST", 1.0), patch.object(thin, "_FIRST", 2):
        one, other = rows_of(npu, {}), rows_of(bench, {})
        assert one is not None
        assert other is not None
        return thinned(one, other)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(st.data(), SIDES, SIDES)
def test_what_is_left_out_goes_where_what_stands_for_it_goes(
    data: st.DataObject, npu: list[str], bench: list[str]
) -> None:
    left, right = both(npu, bench)
    assume(left.repeats or right.repeats)
    moved = frozenset(left.repeats.moved() | right.repeats.moved())
    layer_map = data.draw(rules(moved))
    whole = dict(hits(scopes(npu), scopes(bench), layer_map))
    small = {path: scope for path, scope in hits(scopes(left.names), scopes(right.names), layer_map) if scope}
    found = counterparts(list(whole), small, left.repeats, right.repeats)
    assert dict(zip(whole, found, strict=True)) == whole
    assert left.repeats.count(small) == sum(scope is not None for scope in whole.values())


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(SIDES, SIDES)
def test_every_module_is_there_or_stood_for_once(npu: list[str], bench: list[str]) -> None:
    for names, side_ in zip((npu, bench), both(npu, bench), strict=True):
        paths, stay = modules(names), modules(side_.names)
        stood_for = Counter(side_.repeats.standing(paths))
        assert stood_for == {path: side_.repeats.count([path]) for path in stay}
        assert side_.repeats.count(stay) == len(paths)
