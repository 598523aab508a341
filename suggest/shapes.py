"""Parameter shapes, read off the one-line repr of a module.

``Linear(in_features=2048, out_features=256, bias=True)`` tells a weight of (256, 2048) and a bias of (256,). Reprs of
PyTorch, Megatron and MindSpore layers are known, by the ending of the class name, so that ``ColumnParallelLinear`` and
``Qwen2RMSNorm`` count too; where MindSpore prints a ``Parameter (name=..., shape=...)`` itself, that is read. What a
repr does not tell stays unknown; an extent of 0 (a parameter that ZeRO-3 has partitioned) is unknown as well.
"""

from __future__ import annotations

import re

from matcher import Params, Shape

_TOKEN = re.compile(r"\s*(?:(?P<key>\w+)=)?(?P<value>\((?:[^()]|\([^()]*\))*\)|[^,()]*(?:\([^()]*\))?)\s*(?:,|$)")

_PRINTED = re.compile(r"Parameter \(name=(?:[\w.]*\.)?(?P<name>\w+), shape=\((?P<shape>[\d\s,]+)\)")


def arguments(text: str) -> tuple[list[str], dict[str, str]]:
    """Positional and named arguments of a repr's parentheses, as text."""
    positional: list[str] = []
    named: dict[str, str] = {}
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.end() == at:
            break
        value = found["value"].strip()
        if found["key"]:
            named[found["key"]] = value
        elif value:
            positional.append(value)
        at = found.end()
    return positional, named


def params_of(cls: str, text: str) -> Params:
    """The parameters of a module of this class whose repr has this text in its parentheses; () if it does not tell."""
    printed = tuple((match["name"], _numbers(match["shape"])) for match in _PRINTED.finditer(text))
    if printed:
        return printed
    positional, named = arguments(text)
    found: Params = ()
    if "input_channels" in named and "output_channels" in named and "kernel_size" not in named:
        named |= {"in_features": named["input_channels"], "out_features": named["output_channels"]}
        named.setdefault("bias", named.get("has_bias", "False"))
    if "in_features" in named and "out_features" in named:
        found = _linear(named)
    elif cls.endswith("Conv1D") and "nf" in named and "nx" in named:
        out, into = _number(named["nf"]), _number(named["nx"])
        found = (("weight", (into, out)), ("bias", (out,)))
    elif re.search(r"Conv(Transpose)?[123]d$", cls):
        found = _convolution(cls, positional, named)
    elif "Embedding" in cls and len(positional) > 1:
        found = (("weight", (_number(positional[0]), _number(positional[1]))),)
    elif cls.endswith("GroupNorm") and "num_channels" in named:
        channels = _number(named["num_channels"])
        found = (("gamma", (channels,)), ("beta", (channels,)))
    elif re.search(r"(Norm|Norm[123]d)$", cls) and positional:
        found = _norm(cls, positional, named)
    return found if all(extent > 0 for _, shape in found for extent in shape) else ()


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0


def _numbers(text: str) -> Shape:
    return tuple(map(int, re.findall(r"\d+", text)))


def _linear(named: dict[str, str]) -> Params:
    out, into = _number(named["out_features"]), _number(named["in_features"])
    bias: Params = () if named.get("bias", "False") in ("False", "None") else (("bias", (out,)),)
    return (("weight", (out, into)), *bias)


def _convolution(cls: str, positional: list[str], named: dict[str, str]) -> Params:
    """PyTorch prints ``Conv2d(3, 64, kernel_size=...)``, MindSpore names every argument and its bias."""
    channels = [*map(_number, positional[:2])]
    if not channels:
        channels = [_number(named.get(f"{side}_channels", "")) for side in ("input", "output")]
    if len(channels) < 2 or "kernel_size" not in named:
        return ()
    groups = _number(named.get("groups", named.get("group", "1"))) or 1
    into, out = channels
    if "Transpose" in cls:
        into, out = out, into
    has_bias = named.get("has_bias", named.get("bias", "True")) != "False"
    weight = (out, into // groups, *_numbers(named["kernel_size"]))
    return (("weight", weight), *((("bias", (channels[1],)),) if has_bias else ()))


def _norm(cls: str, positional: list[str], named: dict[str, str]) -> Params:
    if "False" in (named.get("elementwise_affine"), named.get("affine")):
        return ()
    shape = _numbers(positional[1 if cls.endswith("GroupNorm") and len(positional) > 1 else 0])
    if not shape:
        return ()
    has_bias = named.get("bias") != "False" and "RMS" not in cls
    return (("weight", shape), *((("bias", shape),) if has_bias else ()))
