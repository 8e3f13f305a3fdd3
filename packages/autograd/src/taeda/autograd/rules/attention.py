"""Derivatives of fused attention: a fused kernel, or where the gradient is itself to be
differentiated, other operations.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import taeda
from taeda import Tensor
from taeda._core_api.operators import nn as _nn
from taeda._core_api.table import attention_weights

from ._registry import differentiated, not_differentiable
from ._registry import rule_joint_as_is as rule_joint


@rule_joint("_fused_attention", differentiable_results=1)
def _attention(
    grads: tuple[Tensor | None, ...],
    needs: tuple[bool, ...],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    is_causal: bool,
    scale: float,
    result0: Tensor,
    result1: Tensor,
) -> tuple[Tensor | None, ...]:
    grad = grads[0]
    if grad is None:
        return None, None, None, None
    if differentiated():
        return (*_by_weights(grad, query, key, value, attn_mask, is_causal, scale), None)
    made = _nn._fused_attention_backward(
        grad, query, key, value, attn_mask, result0, result1, is_causal, scale
    )
    return (*made, None)


@rule_joint("_ragged_attention", differentiable_results=1)
def _ragged(
    grads: tuple[Tensor | None, ...],
    needs: tuple[bool, ...],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    query_offsets: Sequence[int],
    key_offsets: Sequence[int],
    is_causal: bool,
    scale: float,
    result0: Tensor,
    result1: Tensor,
) -> tuple[Tensor | None, ...]:
    grad = grads[0]
    if grad is None:
        return None, None, None
    offsets = query_offsets, key_offsets
    if not differentiated():
        return tuple(
            _nn._ragged_attention_backward(
                grad, query, key, value, result0, result1, *offsets, is_causal, scale
            )
        )
    queries, keys = (list(itertools.pairwise(ends)) for ends in offsets)
    pieces = [
        _by_weights(grad_i, q_i, k_i, v_i, None, is_causal, scale)
        for grad_i, q_i, k_i, v_i in zip(
            _sequences(grad, queries),
            _sequences(query, queries),
            _sequences(key, keys),
            _sequences(value, keys),
            strict=True,
        )
    ]
    if not pieces:
        return query * 0, key * 0, value * 0
    return tuple(taeda.cat(parts, 2).squeeze(0) for parts in zip(*pieces, strict=True))


def _sequences(x: Tensor, bounds: list[tuple[int, int]]) -> list[Tensor]:
    """Each sequence as a batch of one."""
    return [x[:, start:end].unsqueeze(0) for start, end in bounds]


def _by_weights(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    is_causal: bool,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    groups = query.shape[1] // max(key.shape[1], 1)
    keys, values = (x.repeat_interleave(groups, 1) if groups > 1 else x for x in (key, value))
    weights = attention_weights(query, keys, mask, is_causal, scale)
    slopes = taeda.matmul(grad, values.transpose(-2, -1))
    slopes = weights * (slopes - (weights * slopes).sum(-1, keepdim=True)) * scale
    by_key = taeda.matmul(slopes.transpose(-2, -1), query)
    by_value = taeda.matmul(weights.transpose(-2, -1), grad)
    if groups > 1:
        by_key, by_value = (
            x.unflatten(1, (key.shape[1], groups)).sum(2) for x in (by_key, by_value)
        )
    return taeda.matmul(slopes, keys), by_key, by_value


for _row in ("_fused_attention_backward", "_ragged_attention_backward"):
    not_differentiable(_row, "attention whose gradient is differentiated again goes another way")
