"""Scaled dot product attention: the fused kernel where it applies, else in terms of matmul and softmax."""

from __future__ import annotations

import math

import taeda
from taeda import Tensor
from taeda._C import _nn
from taeda._native import core as _core

from .._short_floats import rounded_once


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """`softmax(scale * query @ key.T + mask) @ value` over the last two dimensions; others are a batch.

    A boolean mask is True where attention is allowed, another one is added to the scores. A query that may
    attend to nothing gets zeros. `is_causal` lets query i see keys 0 to i. `enable_gqa` lets several heads
    of `query` share one of `key` and `value`.
    """
    _check(query, key, value, attn_mask, is_causal)
    factor = 1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else scale
    if enable_gqa:
        _check_groups(query, key, value)
    if dropout_p == 0.0 and _fits_kernel(query, key, value, attn_mask, enable_gqa):
        return _fused(query, key, value, attn_mask, is_causal, factor)
    if enable_gqa:
        key, value = _repeat_heads(query, key), _repeat_heads(query, value)
    return _in_steps(query, key, value, attn_mask, is_causal, factor, dropout_p)


@rounded_once
def _in_steps(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    is_causal: bool,
    scale: float,
    dropout_p: float,
) -> Tensor:
    """Scores of 16 bits may leave the range of the type where weights do not."""
    weights = attention_weights(query, key, mask, is_causal, scale)
    if dropout_p > 0.0:
        weights = taeda.dropout(weights, dropout_p, True)
    return taeda.matmul(weights, value)


def _shapes(*tensors: Tensor) -> str:
    return ", ".join(str(list(t.shape)) for t in tensors)


def _check(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool) -> None:
    name = "scaled_dot_product_attention"
    if q.dim() < 2 or k.dim() < 2 or v.dim() < 2:
        raise RuntimeError(
            f"{name}: query, key and value need at least 2 dimensions, but the shapes are {_shapes(q, k, v)}"
        )
    if not q.dtype == k.dtype == v.dtype:
        raise RuntimeError(
            f"{name}: Expected query, key, and value to have the same dtype, "
            f"but got {q.dtype}, {k.dtype} and {v.dtype}"
        )
    if mask is None:
        return
    if is_causal:
        raise RuntimeError(f"{name}: Explicit attn_mask should not be set when is_causal=True")
    if mask.dtype not in (taeda.bool, q.dtype, taeda.float32):
        raise RuntimeError(
            f"{name}: Expected attn_mask dtype to be bool or float or to match query dtype, "
            f"but got attn_mask.dtype: {mask.dtype} and query.dtype: {q.dtype}"
        )


def _check_groups(q: Tensor, k: Tensor, v: Tensor) -> None:
    name = "scaled_dot_product_attention"
    if q.dim() < 3 or k.dim() < 3 or v.dim() < 3:
        raise RuntimeError(
            f"{name}: enable_gqa needs a dimension of heads, but the shapes are {_shapes(q, k, v)}"
        )
    heads, shared = q.shape[-3], k.shape[-3]
    if shared == 0 or heads % shared or v.shape[-3] == 0 or heads % v.shape[-3]:
        raise RuntimeError(
            f"{name}: the {heads} heads of query must be a multiple of those of key and value "
            f"({shared} and {v.shape[-3]})"
        )


def _repeat_heads(query: Tensor, x: Tensor) -> Tensor:
    """Each head of `x` as often as it is shared."""
    times = query.shape[-3] // x.shape[-3]
    return x if times == 1 else x.repeat_interleave(times, -3)


# ---- the fused kernel ----


def _fits_kernel(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, grouped: bool) -> bool:
    rank = q.dim()
    if q.dtype not in (taeda.float32, taeda.bfloat16, taeda.float16) or rank not in (3, 4):
        return False
    if mask is not None and (_core.wants_derivative(mask) or mask.dim() > rank):
        return False
    if (
        k.dim() != rank
        or v.dim() != rank
        or q.shape[0] != k.shape[0]
        or k.shape[:-1] != v.shape[:-1]
    ):
        return False
    if rank == 4 and not grouped and q.shape[1] != k.shape[1]:
        return False
    return q.shape[-1] == k.shape[-1]


def _fused(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool, scale: float
) -> Tensor:
    dtype, rank = q.dtype, q.dim()
    if dtype != taeda.float32 and not q.is_cuda:
        q, k, v = q.float(), k.float(), v.float()
    if mask is not None:
        mask = _additive(mask)
    if rank == 3:  # one head
        q, k, v = q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1)
        mask = mask.unsqueeze(-3) if mask is not None and mask.dim() == 3 else mask
    result = _nn._fused_attention(q, k, v, mask, is_causal, scale)[0]
    if rank == 3:
        result = result.squeeze(1)
    return result.to(dtype)


def _additive(mask: Tensor) -> Tensor:
    """A mask to be added to float32 scores: 0 where attention is allowed, -inf elsewhere."""
    if mask.dtype != taeda.bool:
        return mask.float()
    return taeda.zeros(mask.shape, dtype=taeda.float32, device=mask.device).masked_fill(
        ~mask, -math.inf
    )


# ---- in other operations ----


def attention_weights(
    query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool, scale: float
) -> Tensor:
    """The softmax of the scores; rows without an allowed key are zero, their gradients too."""
    scores = taeda.matmul(query, key.transpose(-2, -1)) * scale
    if is_causal:
        length, keys = query.shape[-2], key.shape[-2]
        mask = taeda.ones(length, keys, dtype=taeda.bool, device=query.device).tril()
    if mask is None:
        return taeda.softmax(scores, -1)
    if mask.dtype == taeda.bool:
        scores = scores.masked_fill(~mask, -math.inf)
    else:
        scores = taeda.where(mask == -math.inf, mask, scores + mask)
    nothing = (scores == -math.inf).all(-1, keepdim=True)
    return taeda.softmax(scores.masked_fill(nothing, 0.0), -1).masked_fill(nothing, 0.0)
