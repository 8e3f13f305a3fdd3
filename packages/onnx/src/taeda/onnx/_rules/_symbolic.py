"""Operators that the program names itself: those of `taeda.onnx.ops`."""

from __future__ import annotations

import json
from typing import Any

from .._context import Context, Value
from ._registry import rule

_LEAST = 23  # the opset that has attention and rotary embeddings


def _named(ctx: Context, kind: str, said: str, inputs: Any, count: int) -> list[Value]:
    known = json.loads(said)
    domain, _, name = kind.rpartition("::")
    if domain:
        ctx.version(domain, known["version"])
    elif known["version"] is not None and known["version"] > ctx.opset:
        raise ctx.refuse(f"{name} of opset {known['version']} in a model of opset {ctx.opset}")
    return ctx.ops(name, count, *inputs, domain=domain, props=known["props"], **known["attrs"])


@rule("onnx_symbolic._symbolic.default", fresh=True)
def _symbolic(ctx: Context, inputs: Any, kind: str, said: str, *, shape: Any, dtype: int) -> Value:
    (made,) = _named(ctx, kind, said, inputs, 1)
    return Value(made.name, ctx.dtype, ctx.sizes())


@rule("onnx_symbolic._symbolic_multi_out.default", fresh=True)
def _several(
    ctx: Context, inputs: Any, kind: str, said: str, *, sizes: Any, ranks: Any, dtypes: Any
) -> list[Value]:
    return _named(ctx, kind, said, inputs, len(ranks))


@rule("onnx.RotaryEmbedding.default", fresh=True)
def _rotary(
    ctx: Context,
    x: Value,
    cos: Value,
    sin: Value,
    places: Value | None = None,
    *,
    interleaved: bool = False,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> Value:
    if ctx.opset < _LEAST:
        raise ctx.refuse(f"RotaryEmbedding is there from opset {_LEAST} on, this is {ctx.opset}")
    return ctx.op(
        "RotaryEmbedding",
        x,
        cos,
        sin,
        places,
        interleaved=int(interleaved),
        num_heads=num_heads,
        rotary_embedding_dim=rotary_embedding_dim,
    )


@rule("onnx.Attention.default", fresh=True)
def _attention(
    ctx: Context,
    q: Value,
    k: Value,
    v: Value,
    mask: Value | None = None,
    past_key: Value | None = None,
    past_value: Value | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    **options: Any,
) -> list[Value]:
    if ctx.opset < _LEAST:
        raise ctx.refuse(f"Attention is there from opset {_LEAST} on, this is {ctx.opset}")
    heads = {n: options[n] for n in ("kv_num_heads", "q_num_heads") if options.get(n)}
    if scale is not None:
        heads["scale"] = float(scale)
    rest = {n: a for n, a in options.items() if n not in ("kv_num_heads", "q_num_heads") and a}
    return ctx.ops(
        "Attention",
        4,
        q,
        k,
        v,
        mask,
        past_key,
        past_value,
        is_causal=int(is_causal),
        **heads,
        **rest,
    )
