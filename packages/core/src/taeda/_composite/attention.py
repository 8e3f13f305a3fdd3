"""Attention in terms of products and softmax."""

from __future__ import annotations

import math

import taeda
from taeda import Tensor

__all__ = ["scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, dropout_p: float, is_causal: bool,
    scale: float | None, enable_gqa: bool,
) -> Tensor:  # fmt: skip
    """Rows whose keys are all masked give zeros."""
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query * factor) @ key.transpose(-2, -1)
    if is_causal:
        keep = taeda.ones(scores.shape[-2:], dtype=taeda.bool).tril()
        scores = scores.masked_fill(~keep, -math.inf)
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, -math.inf) if attn_mask.dtype is taeda.bool else scores + attn_mask
    weights = scores.softmax(-1)
    if is_causal or attn_mask is not None:
        weights = taeda.where((scores == -math.inf).all(-1, keepdim=True), taeda.zeros((), dtype=weights.dtype), weights)
    if dropout_p:
        weights = taeda.dropout(weights, dropout_p, True)
    return weights @ value
