"""Attention: the operation itself, and the many-headed form with its projections."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import taeda
from taeda import Tensor
from taeda._core_api import warn
from taeda._core_api.doors import call_others, exact, is_for_others, watched
from taeda._core_api.operators import nn as _nn

from ._dropout import dropout
from ._linear import linear
from ._padding import pad

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]

scaled_dot_product_attention = _nn.scaled_dot_product_attention


def canonical_mask(
    mask: Tensor | None,
    name: str,
    other_dtype: taeda.dtype | None,
    other_name: str,
    target_dtype: taeda.dtype,
    check_other: bool = True,
) -> Tensor | None:
    """A mask to be added: a boolean one becomes -inf where it is True.
    Raises RuntimeError for other dtypes.
    """
    if mask is None:
        return None
    if mask.dtype != taeda.bool and not mask.is_floating_point():
        raise RuntimeError(
            f"only bool and floating types of {name} are supported, got {mask.dtype}"
        )
    if check_other and other_dtype is not None and mask.dtype != other_dtype:
        warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both instead.",
        )
    if mask.is_floating_point():
        return mask
    return taeda.zeros_like(mask, dtype=target_dtype).masked_fill_(mask, -math.inf)


@dataclass
class _Heads:
    """Sizes that all steps of many-headed attention need."""

    length: int
    batch: int
    embed: int
    count: int

    @property
    def size(self) -> int:
        return self.embed // self.count

    def split(self, x: Tensor) -> Tensor:
        """(L, N, E) to (N · heads, L, head size)."""
        return x.contiguous().view(x.size(0), self.batch * self.count, self.size).transpose(0, 1)


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Project query, key and value (L, N, E), attend in each head, and project the result.

    Masks: `attn_mask` (L, S) or (N · heads, L, S), `key_padding_mask` (N, S); True, or -inf, hides. The
    second result is the weights (N, L, S), of each head (N, heads, L, S) unless averaged, or None. Inputs
    without N give results without N. Raises AssertionError or RuntimeError where shapes do not fit.

    Nested inputs (N, L, E) stay so: each sequence attends by itself, without padding. They take no mask but
    the causal one that `is_causal` asks for, and give no weights.

    Args:
        query: the queries, of shape (L, N, E) or (L, E)
        key: the keys, of shape (S, N, width) or (S, width)
        value: the values, of shape (S, N, width) or (S, width)
        embed_dim_to_check: the width E that query must have
        num_heads: the number of heads, a divisor of E
        in_proj_weight: the weights of the projections of query, key and value one below the
            other, of shape (3 E, E); None with weights of their own
        in_proj_bias: the bias of the projections, of shape (3 E,); None for none
        bias_k: a key added to the sequence, of shape (1, 1, E); None for none
        bias_v: a value added to the sequence, of shape (1, 1, E); None for none
        add_zero_attn: whether a key and a value of zeros are added to the sequence
        dropout_p: the probability that a weight of the attention is set to 0 in training, from 0
            to 1
        out_proj_weight: the weights of the last projection, of shape (E, E)
        out_proj_bias: the bias of the last projection, of shape (E,); None for none
        training: whether dropout acts (default: True)
        key_padding_mask: True where a key is padding, of shape (N, S); None for none
        need_weights: whether the weights of the attention come too (default: True)
        attn_mask: True or -inf where a query sees no key: shape (L, S) or (N * num_heads, L,
            S). A float mask is added to the scores. None for no mask (default: None)
        use_separate_proj_weight: whether query, key and value have weights of their own (default:
            False)
        q_proj_weight: the weights of query, of shape (E, E), with use_separate_proj_weight;
            else None (default: None)
        k_proj_weight: the weights of key, of shape (E, width of key), with
            use_separate_proj_weight; else None (default: None)
        v_proj_weight: the weights of value, of shape (E, width of value), with
            use_separate_proj_weight; else None (default: None)
        static_k: keys that are projected already, of shape (N * num_heads, S, E / num_heads);
            None for none
        static_v: values that are projected already, of shape (N * num_heads, S, E / num_heads);
            None for none
        average_attn_weights: whether the weights that are returned are means over the heads
            (default: True)
        is_causal: whether attn_mask is promised to be causal; a hint (default: False)

    >>> x = taeda.rand(5, 1, 4)
    >>> eye, zeros = taeda.eye(4), taeda.zeros(12)
    >>> result, weights = taeda.nn.functional.multi_head_attention_forward(
    ...     x, x, x, 4, 2, eye.repeat(3, 1), zeros, None, None, False, 0.0, eye, taeda.zeros(4)
    ... )
    >>> result.shape, weights.shape
    (taeda.Size([5, 1, 4]), taeda.Size([1, 5, 5]))
    """
    if (
        watched
        or type(query) not in exact
        or type(key) not in exact
        or type(value) not in exact
        or type(in_proj_weight) not in exact
        or type(in_proj_bias) not in exact
        or type(bias_k) not in exact
        or type(bias_v) not in exact
        or type(out_proj_weight) not in exact
        or type(out_proj_bias) not in exact
        or type(key_padding_mask) not in exact
        or type(attn_mask) not in exact
        or type(q_proj_weight) not in exact
        or type(k_proj_weight) not in exact
        or type(v_proj_weight) not in exact
        or type(static_k) not in exact
        or type(static_v) not in exact
    ) and is_for_others(
        (
            query,
            key,
            value,
            in_proj_weight,
            in_proj_bias,
            bias_k,
            bias_v,
            out_proj_weight,
            out_proj_bias,
            key_padding_mask,
            attn_mask,
            q_proj_weight,
            k_proj_weight,
            v_proj_weight,
            static_k,
            static_v,
        )
    ):
        return call_others(
            multi_head_attention_forward,
            (
                query,
                key,
                value,
                in_proj_weight,
                in_proj_bias,
                bias_k,
                bias_v,
                out_proj_weight,
                out_proj_bias,
                key_padding_mask,
                attn_mask,
                q_proj_weight,
                k_proj_weight,
                v_proj_weight,
                static_k,
                static_v,
            ),
        )
    if query.is_nested or key.is_nested or value.is_nested:
        given = {
            "attn_mask, but is_causal=True": None if is_causal else attn_mask,
            "key_padding_mask": key_padding_mask,
            "bias_k": bias_k,
            "bias_v": bias_v,
            "static_k": static_k,
            "static_v": static_v,
            "add_zero_attn": add_zero_attn or None,
            "need_weights=True": need_weights or None,
        }
        _check_nested(query, key, value, embed_dim_to_check, given)
        weights = (
            (q_proj_weight, k_proj_weight, v_proj_weight)
            if use_separate_proj_weight
            else in_proj_weight
        )
        q, k, v = _project(query, key, value, weights, in_proj_bias)
        p = dropout_p if training else 0.0
        output = _attend_nested(q, k, v, num_heads, p, is_causal)
        return linear(output, out_proj_weight, out_proj_bias), None
    batched = _check_ranks(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = (t.unsqueeze(1) for t in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    heads = _Heads(query.size(0), query.size(1), query.size(2), num_heads)
    _check_sizes(heads, embed_dim_to_check, key, value, use_separate_proj_weight)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    key_padding_mask = canonical_mask(
        key_padding_mask,
        "key_padding_mask",
        None if attn_mask is None else attn_mask.dtype,
        "attn_mask",
        query.dtype,
    )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # the operation makes the causal mask itself
    else:
        attn_mask = canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
        is_causal = is_causal and key_padding_mask is None
    weights = (
        (q_proj_weight, k_proj_weight, v_proj_weight)
        if use_separate_proj_weight
        else in_proj_weight
    )
    q, k, v = _project(query, key, value, weights, in_proj_bias)
    attn_mask = _expanded_mask(attn_mask, heads, key.size(0))
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key or value")
        k = taeda.cat([k, bias_k.repeat(1, heads.batch, 1)])
        v = taeda.cat([v, bias_v.repeat(1, heads.batch, 1)])
        attn_mask, key_padding_mask = _one_more(attn_mask), _one_more(key_padding_mask)
    q = heads.split(q)
    k = heads.split(k) if static_k is None else _checked_static(static_k, "static_k", heads)
    v = heads.split(v) if static_v is None else _checked_static(static_v, "static_v", heads)
    if add_zero_attn:
        zero = taeda.zeros((k.size(0), 1, heads.size), dtype=k.dtype, device=k.device)
        k, v = taeda.cat([k, zero], 1), taeda.cat([v, zero], 1)
        attn_mask, key_padding_mask = _one_more(attn_mask), _one_more(key_padding_mask)
    mask = _merged_mask(attn_mask, key_padding_mask, heads, k.size(1))
    p = dropout_p if training else 0.0
    if need_weights:
        output, shares = _attend_with_weights(q, k, v, mask, p)
        output = linear(_joined(output, heads), out_proj_weight, out_proj_bias)
        shares = shares.view(heads.batch, num_heads, heads.length, k.size(1))
        shares = shares.mean(1) if average_attn_weights else shares
        return (output, shares) if batched else (output.squeeze(1), shares.squeeze(0))
    output = _attend(q, k, v, mask, p, is_causal, heads)
    output = linear(output, out_proj_weight, out_proj_bias)
    return (output if batched else output.squeeze(1)), None


# ---- checks ----


def _check_ranks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> bool:
    """Is there a batch dimension? Raises AssertionError for ranks that do not fit."""
    rank = query.dim()
    if rank not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {rank}-D query tensor"
        )
    kind = "batched" if rank == 3 else "unbatched"
    if key.dim() != rank or value.dim() != rank:
        raise AssertionError(
            f"For {kind} ({rank}-D) `query`, expected `key` and `value` to be {rank}-D but found "
            f"{key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != rank - 1:
        raise AssertionError(
            f"For {kind} ({rank}-D) `query`, expected `key_padding_mask` to be `None` or {rank - 1}-D but "
            f"found {key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"For {kind} ({rank}-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{attn_mask.dim()}-D tensor instead"
        )
    if rank == 2 and attn_mask is not None and attn_mask.dim() == 3:
        wanted = (num_heads, query.size(0), key.size(0))
        if tuple(attn_mask.shape) != wanted:
            raise AssertionError(
                f"Expected `attn_mask` shape to be {wanted} but got {tuple(attn_mask.shape)}"
            )
    return rank == 3


def _check_sizes(heads: _Heads, embed: int, key: Tensor, value: Tensor, separate: bool) -> None:
    if heads.embed != embed:
        raise AssertionError(f"was expecting embedding dimension of {embed}, but got {heads.embed}")
    if heads.size * heads.count != embed:
        raise AssertionError(f"embed_dim {embed} not divisible by num_heads {heads.count}")
    if separate:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
            )
    elif key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _checked_static(given: Tensor, name: str, heads: _Heads) -> Tensor:
    if given.size(0) != heads.batch * heads.count or given.size(2) != heads.size:
        raise AssertionError(
            f"expecting {name} of sizes ({heads.batch * heads.count}, *, {heads.size}), but got "
            f"{tuple(given.shape)}"
        )
    return given


# ---- nested tensors ----


def _check_nested(
    query: Tensor, key: Tensor, value: Tensor, embed: int, given: Mapping[str, object]
) -> None:
    """Raises AssertionError for what attention of nested tensors does not take."""
    name = "multi_head_attention_forward"
    if not all(x.is_nested and x.dim() == 3 for x in (query, key, value)):
        ranks = [
            f"{'nested' if x.is_nested else 'strided'} {x.dim()}-D" for x in (query, key, value)
        ]
        raise AssertionError(
            f"{name}: query, key and value must be nested tensors (N, L, E) together, but are {ranks}"
        )
    if query.size(2) != embed:
        raise AssertionError(
            f"was expecting embedding dimension of {embed}, but got {query.size(2)}"
        )
    for argument, value_of in given.items():
        if value_of is not None:
            raise AssertionError(f"{name}: nested tensors take no {argument}")


def _attend_nested(q: Tensor, k: Tensor, v: Tensor, count: int, p: float, causal: bool) -> Tensor:
    heads = [x.unflatten(-1, (count, x.size(-1) // count)).transpose(1, 2) for x in (q, k, v)]
    output = scaled_dot_product_attention(*heads, None, p, causal)
    return output.transpose(1, 2).flatten(-2, -1)


# ---- steps ----


def _project(
    query: Tensor, key: Tensor, value: Tensor, weights: object, bias: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The three projections; one product does all of them if all have one input."""
    embed = query.size(-1)
    if isinstance(weights, Tensor) and query is key and key is value:
        packed = linear(query, weights, bias)
        q, k, v = packed.split(embed, -1)
        return q, k, v
    parts = weights.chunk(3) if isinstance(weights, Tensor) else weights
    if not isinstance(parts, tuple) or any(part is None for part in parts):
        raise AssertionError(
            "separate projections need q_proj_weight, k_proj_weight and v_proj_weight"
        )
    biases = (None, None, None) if bias is None else bias.chunk(3)
    triple = [linear(x, w, b) for x, w, b in zip((query, key, value), parts, biases, strict=True)]
    return triple[0], triple[1], triple[2]


def _expanded_mask(mask: Tensor | None, heads: _Heads, source: int) -> Tensor | None:
    """(1 or N · heads, L, S). Raises RuntimeError for another shape."""
    if mask is None:
        return None
    wanted: tuple[int, ...] = (heads.length, source)
    if mask.dim() == 3:
        wanted = (heads.batch * heads.count, *wanted)
    if tuple(mask.shape) != wanted:
        raise RuntimeError(
            f"The shape of the {mask.dim()}D attn_mask is {tuple(mask.shape)}, but should be {wanted}."
        )
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def _one_more(mask: Tensor | None) -> Tensor | None:
    return None if mask is None else pad(mask, (0, 1))


def _merged_mask(
    attn_mask: Tensor | None, key_padding: Tensor | None, heads: _Heads, source: int
) -> Tensor | None:
    if key_padding is None:
        return attn_mask
    if tuple(key_padding.shape) != (heads.batch, source):
        raise AssertionError(
            f"expecting key_padding_mask shape of {(heads.batch, source)}, but got {tuple(key_padding.shape)}"
        )
    wide = key_padding.view(heads.batch, 1, 1, source).expand(-1, heads.count, -1, -1)
    wide = wide.reshape(heads.batch * heads.count, 1, source)
    return wide if attn_mask is None else attn_mask + wide


def _attend_with_weights(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, p: float
) -> tuple[Tensor, Tensor]:
    scaled = q * math.sqrt(1.0 / q.size(-1))
    scores = taeda.bmm(scaled, k.transpose(-2, -1))
    if mask is not None:
        scores = scores + mask
    shares = scores.softmax(-1)
    if p > 0.0:
        shares = dropout(shares, p)
    return taeda.bmm(shares, v), shares


def _attend(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, p: float, causal: bool, heads: _Heads
) -> Tensor:
    q, k, v = (t.view(heads.batch, heads.count, t.size(1), heads.size) for t in (q, k, v))
    if mask is not None:
        shared = mask.size(0) == 1
        rows = (heads.batch, heads.count, mask.size(1), k.size(2))
        mask = mask.unsqueeze(0) if shared else mask.view(rows)
    output = scaled_dot_product_attention(q, k, v, mask, p, causal)
    return output.permute(2, 0, 1, 3).reshape(heads.length, heads.batch, heads.embed)


def _joined(output: Tensor, heads: _Heads) -> Tensor:
    """(N · heads, L, head size) to (L, N, E)."""
    return output.transpose(0, 1).reshape(heads.length, heads.batch, heads.embed)
