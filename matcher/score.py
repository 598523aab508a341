"""How well two modules fit, leaving their surroundings aside: the value of a pair in log odds.

A value above zero says that the pair is more likely right than wrong, so that staying unmatched is worth zero and a sum
of values is the log likelihood of an alignment. Each part of the evidence adds its share (naive Bayes); the weights are
in `Weights`, each with its reason. Limits: parts are not independent (a class name often repeats the module's name), so
values are calibrated afterwards (`matcher.confidence`) rather than read as probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

from .agreement import agreement
from .calls import repeats_alike, usual_calls
from .fold import Folded
from .genus import LIGHT
from .likeness import class_likeness, name_likeness
from .shapes import shape_relation, unequal_widths
from .sizes import result_sizes


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Log odds per unit of evidence."""

    bias: float = -0.2  # an arbitrary pair of plausible neighbours is slightly more likely wrong than right
    name: float = 4.0  # equal role or name against nothing in common
    name_middle: float = 0.42  # the likeness at which a name says nothing
    genus_equal: float = 0.9  # both norms, both linears: fitted, between what names and what shapes prefer
    genus_clash: float = -3.0  # a norm is no linear, whatever it is called
    shape_equal: float = 1.4  # several modules of a block share a shape, so it cannot decide alone
    shape_in_proportion: float = 0.7  # networks of unequal width, whose shapes are the same in multiples of it
    vector_equal: float = 0.7  # nearly all norms of a model have one width
    shape_transposed: float = 0.7  # Conv1D keeps its weight transposed; but so does the other half of an MLP look
    shape_differs: float = -2.4  # less than a genus: one side may be sharded or padded in a way nobody knows
    shape_clash: float = -4.0  # no axis in common, though both sides tell: not even an equal name stands against it
    vector_clash: float = -2.4
    shape_compatible: float = -0.2  # fused and padded weights are common, and their halves look like them too
    one_sided_params: float = -0.8  # tied heads and partitioned parameters are there and show none
    called_clash: float = -0.8  # a list is no module: msprobe could not match the pair
    cls: float = 0.6  # classes repeat what names say, mostly with the model's name in front
    placeholder: float = -6.0  # an identity stands in for what is absent
    light: float = 0.3  # share that a pair of dropouts or activations counts: they pull nothing out of place
    block: float = 0.4  # blocks of which two or more parts correspond belong together, whatever they are called
    inner: float = 0.45  # share of the value that the name of a wrapper counts, beside what is in it
    leaf_against_inner: float = -1.6  # a module that computes against one that only holds others
    only: float = 0.5  # the only ones of their genus here and there
    leftover: float = 1.2  # what a pair out of place must be worth: there are many more such pairs than good ones
    output: float = 3.0  # equal results of a run, against equal results elsewhere: nearly as good as an equal name
    weight: float = 2.0  # equal parameters: as telling, but of tied ones and of copies there are several
    size: float = 1.0  # equally large results of two runs on one input: most of a network's are
    shared: float = 0.5  # run several times as often as the rest of the network, here and there
    order: float = 0.7  # cost of being first of its genus here and last there


_COMPATIBLE = frozenset(
    frozenset(pair)
    for pair in (
        ("linear", "matrix"),
        ("embedding", "matrix"),
        ("router", "linear"),
        ("router", "matrix"),
        ("router", "moe"),
        ("linear", "convolution"),
        ("moe", "mlp"),
        ("experts", "list"),
        ("experts", "mlp"),
        ("layer", "mlp"),
        ("layer", "attention"),
        ("layer", "list"),
        ("layer", "model"),
        ("model", "list"),
        ("model", "embedding"),
        ("mlp", "list"),
        ("embedding", "convolution"),
        ("embedding", "layer"),
        ("embedding", "rotary"),
        ("embedding", "list"),
        ("linear", "layer"),
        ("mlp", "linear"),
        ("router", "layer"),
        ("layer", "convolution"),
        ("linear", "model"),
        ("mlp", "model"),
        ("list", "convolution"),
        ("pool", "linear"),
        ("pool", "layer"),
        ("pool", "model"),
        ("pool", "list"),
        ("attention", "list"),
        ("attention", "linear"),
        ("embedding", "model"),
        ("embedding", "linear"),
    )
)


def genus_value(one: str, other: str, weights: Weights) -> float:
    """Equal, compatible or unknown, or contradicting genera, in log odds."""
    if one == other:
        return weights.genus_equal if one else 0.0
    if "identity" in (one, other):
        return weights.placeholder
    if not one or not other or frozenset((one, other)) in _COMPATIBLE:
        return 0.0
    return weights.genus_clash


class PairScorer:
    """Own values of pairs of kinds, each computed once; not frozen because its memory grows."""

    __slots__ = ("_numbers", "_owns", "_sizes", "_usual", "_widths", "ceiling", "hopeless", "left", "right", "weights")

    def __init__(self, left: Folded, right: Folded, weights: Weights) -> None:
        self.left = left
        self.right = right
        self.weights = weights
        self.hopeless = weights.inner * (weights.genus_clash - 1.0)
        self._owns: dict[tuple[int, int], float] = {}
        channels = (
            (weights.output, agreement(left, right, left.tree.outputs, right.tree.outputs)),
            (weights.weight, agreement(left, right, left.tree.weights, right.tree.weights)),
        )
        self._numbers = tuple((weight, found) for weight, found in channels if found is not None)
        self._sizes = result_sizes(left, right)
        self._usual = usual_calls(left.tree), usual_calls(right.tree)
        self._widths = unequal_widths(left.traits, right.traits)
        self.ceiling = self._ceiling()

    def own(self, one: int, other: int) -> float:
        """The value of a pair of kinds without what is below them."""
        known = self._owns.get((one, other))
        if known is None:
            known = self._owns[one, other] = self._own(self.left.first[one], self.right.first[other])
        return known

    def _ceiling(self) -> float:
        """What no pair can be worth more than, whatever its surroundings add: all that may speak for one."""
        w = self.weights
        shapes = (w.vector_equal, w.shape_equal, w.shape_in_proportion, w.shape_transposed, w.shape_compatible)
        parts = (w.name, w.genus_equal, w.cls, max(shapes), w.shared, w.bias, w.block, w.only)
        seen = [weight for weight, _ in self._numbers] + ([w.size] if self._sizes else [])
        return sum([max(0.0, part) for part in (*parts, *seen)]) - max(0.0, w.name * w.name_middle)

    def shares(self, a: int, b: int) -> dict[str, float]:
        """What each part of the evidence adds to the own value of two nodes, in log odds; they sum up to it."""
        left, right, w = self.left.tree, self.right.tree, self.weights
        one, other = self.left.traits[a], self.right.traits[b]
        found = {
            "name": w.name * (name_likeness(left.names[a], right.names[b], one, other) - w.name_middle),
            "genus": genus_value(one.genus, other.genus, w),
            "class": w.cls * class_likeness(left.classes[a], right.classes[b]),
            "numbers": self._measured(a, b),
            "size": self._sized(a, b),
            "calls": self._shared(a, b),
        }
        if not one.solid and not other.solid:
            holders = _holds_parameters(self.left, a) and _holds_parameters(self.right, b)
            found = found if holders else {part: w.inner * share for part, share in found.items()}
            return found | {"shape": 0.0, "standing": w.called_clash if left.called[a] != right.called[b] else 0.0}
        lone = 0.0 if one.solid and other.solid else w.leaf_against_inner
        found |= {"shape": self._shape(one.shape, other.shape), "standing": w.bias + lone}
        light = sum(found.values()) > 0 and one.genus in LIGHT and other.genus in LIGHT
        return {part: w.light * share for part, share in found.items()} if light else found

    def bare(self, one: int, other: int) -> float:
        """The value of a pair of which one stands without its children: only what computes itself can be paired so."""
        solid = self.left.traits[self.left.first[one]].solid and self.right.traits[self.right.first[other]].solid
        return self.own(one, other) if solid else -1.0

    def _own(self, a: int, b: int) -> float:
        left, right, w = self.left.tree, self.right.tree, self.weights
        one, other = self.left.traits[a], self.right.traits[b]
        named = w.name * (name_likeness(left.names[a], right.names[b], one, other) - w.name_middle)
        named += genus_value(one.genus, other.genus, w)
        named += w.cls * class_likeness(left.classes[a], right.classes[b])
        named += self._measured(a, b) + self._sized(a, b) + self._shared(a, b)
        if not one.solid and not other.solid:
            unlike = w.called_clash if left.called[a] != right.called[b] else 0.0
            holders = _holds_parameters(self.left, a) and _holds_parameters(self.right, b)
            return (1.0 if holders else w.inner) * named + unlike
        lone = 0.0 if one.solid and other.solid else w.leaf_against_inner
        value = w.bias + named + self._shape(one.shape, other.shape) + lone
        return value * w.light if value > 0 and one.genus in LIGHT and other.genus in LIGHT else value

    def _measured(self, a: int, b: int) -> float:
        """What the figures of two runs say for the kinds of two nodes, in log odds; 0 where they say nothing."""
        if not self._numbers:
            return 0.0
        one, other = self.left.kind[a], self.right.kind[b]
        return sum(weight * found.value(one, other) for weight, found in self._numbers)

    def _sized(self, a: int, b: int) -> float:
        """What the sizes of two results say, in log odds."""
        if self._sizes is None:
            return 0.0
        return self.weights.size * self._sizes.value(self.left.kind[a], self.right.kind[b])

    def _shared(self, a: int, b: int) -> float:
        """What the numbers of calls say, in log odds."""
        here, there = self._usual
        alike = repeats_alike(self.left.tree.calls[a], here, self.right.tree.calls[b], there)
        return self.weights.shared if alike else 0.0

    def _shape(self, one: tuple[int, ...], other: tuple[int, ...]) -> float:
        if self._widths and one and other and len(one) == len(other):
            ours, theirs = self._widths
            alike = all(a * theirs == b * ours for a, b in zip(one, other, strict=True))
            return self.weights.shape_in_proportion if alike else 0.0
        if one and other:
            relation = shape_relation(one, other)
            w = self.weights
            equal = w.vector_equal if len(one) == 1 else w.shape_equal
            worth = {"transposed": w.shape_transposed, "compatible": w.shape_compatible, "differs": w.shape_differs}
            return (
                equal
                if relation == "equal"
                else worth.get(relation, w.vector_clash if len(one) == 1 else w.shape_clash)
            )
        return self.weights.one_sided_params if one or other else 0.0


def _holds_parameters(side: Folded, node: int) -> bool:
    """Whether the children are bare parameters, as in a list of keys: then the node is the module that counts."""
    return any(side.traits[child].genus == "parameter" for child in side.tree.children[node])
