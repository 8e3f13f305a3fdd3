"""Attention: each sequence by itself, in one call of a kernel where that takes the numbers."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.operators import nn as _nn

from .._graph import built, compact
from .._parts import Jagged, is_nested
from ._registry import rule

_Packed = tuple[Jagged, Tensor]


@rule("scaled_dot_product_attention")
def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Any = None,
    enable_gqa: bool = False,
) -> Any:
    """Each sequence attends to itself; causal counts inside each."""
    if attn_mask is not None or not all(map(is_nested, (query, key, value))):
        return NotImplemented
    q, k, v = compact(query), compact(key), compact(value)
    rank = query.dim()
    if any(part.ragged != rank - 2 for part, _ in (q, k, v)) or not q[0].bounds:
        return NotImplemented
    if k[0].counts() != v[0].counts() or len(q[0].bounds) != len(k[0].bounds):
        raise RuntimeError(
            "scaled_dot_product_attention: keys and values have sequences of the lengths "
            f"{k[0].counts()} and {v[0].counts()}, queries of {q[0].counts()}"
        )
    if dropout_p == 0.0 and _fits_kernel(q[1], k[1], v[1], enable_gqa):
        return built(q[0], _in_one(q, k, v, is_causal, scale))
    function = taeda.ops.aten.scaled_dot_product_attention.default
    results = [
        function(*one, None, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
        for one in zip(q[0].of(q[1]), k[0].of(k[1]), v[0].of(v[1]), strict=True)
    ]
    return built(q[0], taeda.cat(results, q[0].ragged - 1))


def _fits_kernel(q: Tensor, k: Tensor, v: Tensor, grouped: bool) -> bool:
    """Values of (places, width), or of (heads, places, width). What fits not is computed, or refused, by
    sequence.
    """
    if q.dtype not in (taeda.float32, taeda.bfloat16, taeda.float16) or q.dim() not in (2, 3):
        return False
    if not q.dtype == k.dtype == v.dtype or not q.dim() == k.dim() == v.dim():
        return False
    if q.shape[-1] != k.shape[-1] or k.shape[:-1] != v.shape[:-1]:
        return False
    if q.dim() == 2 or q.shape[0] == k.shape[0]:
        return q.dim() == 3 or not grouped
    return grouped and k.shape[0] > 0 and q.shape[0] % k.shape[0] == 0


def _in_one(q: _Packed, k: _Packed, v: _Packed, is_causal: bool, scale: Any) -> Tensor:
    dtype, tensors = q[1].dtype, [values for _, values in (q, k, v)]
    if dtype is not taeda.float32 and not tensors[0].is_cuda:
        tensors = [x.float() for x in tensors]
    if tensors[0].dim() == 2:
        tensors = [x.unsqueeze(0) for x in tensors]
    factor = 1 / math.sqrt(max(tensors[0].shape[-1], 1)) if scale is None else scale
    offsets = [[0, *(end for _, end in parts.bounds)] for parts, _ in (q, k)]
    made: Tensor = _nn._ragged_attention(*tensors, *offsets, is_causal, factor)[0]
    return (made.squeeze(0) if q[1].dim() == 2 else made).to(dtype)
