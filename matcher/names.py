"""Split identifiers into words, and compare them as words and as strings.

Identifiers of modules follow three habits at once: ``snake_case``, ``CamelCase`` for classes, and numbers glued to a
word (``norm1``, ``conv2``). `words` undoes all three; a short table undoes the field's abbreviations, so that ``attn``
and ``attention`` are one word. Limits: only English abbreviations that are common in published models are known.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rapidfuzz.distance import Indel

from .lexicon import NORM_NAMES, ROLE_NAMES

_PART = re.compile(r"[A-Za-z0-9]+")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_LONG = {
    "act": "activation",
    "beta": "bias",
    "gamma": "weight",
    "att": "attention",
    "attentions": "attention",
    "attn": "attention",
    "blk": "block",
    "blocks": "block",
    "bn": "norm",
    "conv": "convolution",
    "dec": "decoder",
    "drop": "dropout",
    "emb": "embedding",
    "embd": "embedding",
    "embed": "embedding",
    "embedder": "embedding",
    "embeddings": "embedding",
    "embeds": "embedding",
    "enc": "encoder",
    "expert": "experts",
    "feedforward": "mlp",
    "ff": "mlp",
    "ffn": "mlp",
    "fn": "function",
    "func": "function",
    "gn": "norm",
    "image": "vision",
    "img": "vision",
    "kernel": "weight",
    "key": "k",
    "layernorm": "norm",
    "layers": "layer",
    "layrnorm": "norm",
    "lin": "linear",
    "ln": "norm",
    "normalization": "norm",
    "pos": "position",
    "positional": "position",
    "positions": "position",
    "proj": "projection",
    "projector": "projection",
    "query": "q",
    "rel": "relative",
    "resblock": "resnet",
    "resblocks": "resnet",
    "resnets": "resnet",
    "rms": "norm",
    "rmsnorm": "norm",
    "seq": "sequence",
    "tok": "token",
    "tokens": "token",
    "txt": "text",
    "value": "v",
    "visual": "vision",
    "vit": "vision",
}


@lru_cache(maxsize=1 << 16)
def words(identifier: str) -> tuple[str, ...]:
    """The words of an identifier, lower case, abbreviations undone; numbers are words of their own.

    A lone letter between digits (``w1``, ``4h``, ``x3y``) is no word: such a part stays whole.
    """
    return _split(identifier)


def _split(identifier: str) -> tuple[str, ...]:
    found: list[str] = []
    for part in _PART.findall(identifier):
        if part.isalpha() and part.islower():  # as most are: one word as it is
            found.append(part)
            continue
        split = _WORD.findall(part)
        digits = any(word.isdigit() for word in split)
        if digits and any(len(word) == 1 and word.isalpha() and word not in "dD" for word in split):
            found.append(part.lower())
        else:
            found.extend(word.lower() for word in split)
    return tuple([_LONG.get(word, word) for word in found])


@lru_cache(maxsize=1 << 16)
def plain(identifier: str) -> str:
    """The identifier in lower snake case, digits split off (``LayerNorm1`` is ``layer_norm_1``)."""
    return "_".join(word.lower() for word in _WORD.findall(identifier))


@lru_cache(maxsize=1 << 18)
def likeness(one: str, other: str) -> float:
    """How alike two identifiers are, in [0, 1]: the better of shared words (Dice) and of the edit ratio, discounted.

    The edit ratio (Indel, rapidfuzz) alone would call ``q_proj`` and ``k_proj`` nearly equal; it only counts half.
    """
    if one == other:
        return 1.0
    left, right = words(one), words(other)
    if left == right:
        return 0.97
    ours, theirs = _weights(one), _weights(other)
    total = sum(ours.values()) + sum(theirs.values())
    shared = 2 * sum([weight for word, weight in ours.items() if word in theirs]) / total if total else 0.0
    return max(0.9 * shared, 0.5 * Indel.normalized_similarity(one.lower(), other.lower()))


_FILLER = frozenset({"linear", "projection", "layer", "module", "model", "weight", "op", "block"})


@lru_cache(maxsize=1 << 16)
def _weights(identifier: str) -> dict[str, float]:
    """What each word of an identifier weighs; words that most names carry say little."""
    return {word: 0.35 if word in _FILLER else 1.0 for word in words(identifier)}


@lru_cache(maxsize=1 << 16)
def is_known(identifier: str) -> bool:
    """Whether any word of the identifier belongs to the field's vocabulary; a name that does not says nothing."""
    return any(word in _vocabulary() for word in words(identifier) if not word.isdigit())


@lru_cache(maxsize=1)
def _vocabulary() -> frozenset[str]:
    parts = set(_PART.findall(" ".join((*ROLE_NAMES.values(), *NORM_NAMES.values()))))
    found = {word for word in _split(" ".join(parts)) if not word.isdigit()}
    return frozenset(found | set(_LONG) | set(_LONG.values()))
