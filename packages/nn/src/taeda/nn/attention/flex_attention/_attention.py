"""Attention whose scores go through a function, with a mask by blocks.

Long sequences go a block of queries after another, and each meets the blocks of keys that its mask
shows. So the scores of few blocks are in memory at a time, and hidden blocks cost nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import taeda
from taeda import Tensor

from ._block_mask import BlockMask
from ._mods import Mod, Span, call_score
from ._nested import within_sequences

__all__ = ["AuxOutput", "AuxRequest", "flex_attention"]

PLACES = 1 << 21  # scores that are made at once: 8 MB stay in the last cache


class AuxRequest(NamedTuple):
    """What else `flex_attention` should return: log-sum-exp of the scores, the largest of them.

    >>> from taeda.nn.attention.flex_attention import AuxRequest, flex_attention
    >>> x = taeda.ones(1, 1, 2, 4)
    >>> _, aux = flex_attention(x, x, x, return_aux=AuxRequest(lse=True))
    >>> aux.lse.shape, aux.max_scores is None
    (taeda.Size([1, 1, 2]), True)
    """

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was asked for by an `AuxRequest`, (B, H, L) each, else None.

    >>> from taeda.nn.attention.flex_attention import AuxOutput
    >>> AuxOutput()
    AuxOutput(lse=None, max_scores=None)
    """

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Mod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: dict[str, Any] | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """softmax(score_mod(query key^T scale, b, h, q_idx, kv_idx)) value, over the places that
    `block_mask` shows.

    query (B, Hq, L, E), key (B, Hkv, S, E), value (B, Hkv, S, Ev) give (B, Hq, L, Ev). `scale` is
    1/sqrt(E) by default. A row that sees nothing gives 0. With `enable_gqa` a head of keys serves
    Hq/Hkv heads of queries. With `return_lse` the log-sum-exp (B, Hq, L) comes too, -inf for a row
    that sees nothing; `return_aux` gives an AuxOutput instead. `kernel_options` are for kernels
    that are chosen elsewhere. `score_mod` and the mask's function are called once for each block of
    queries, with indices that broadcast. ValueError for shapes, dtypes and masks that do not fit,
    NotImplementedError for tensors of other than four dimensions.

    Of nested tensors (B, H, ragged, E) each sequence attends to itself, with a mask of
    `create_nested_block_mask` or none, and the results are nested.

    >>> from taeda.nn.attention.flex_attention import flex_attention
    >>> q, k, v = taeda.rand(3, 1, 2, 4, 8).unbind()
    >>> near = flex_attention(q, k, v, lambda score, b, h, i, j: score - (i - j).abs())
    >>> near.shape
    taeda.Size([1, 2, 4, 8])
    """
    nested = query if any(x.is_nested for x in (query, key, value)) else None
    if nested is not None:
        packed, score_mod, block_mask = within_sequences(query, key, value, score_mod, block_mask)
        query, key, value = packed
    _check(query, key, value, enable_gqa)
    if query.size(-3) != key.size(-3):
        times = query.size(-3) // key.size(-3)
        key, value = (t.repeat_interleave(times, -3) for t in (key, value))
    scale = query.size(-1) ** -0.5 if scale is None else scale
    if block_mask is not None:
        _check_mask(block_mask, query, key)
    parts = [
        _block(query, key, value, score_mod, block_mask, scale, rows, columns)
        for rows, columns in _blocks(query, key, block_mask)
    ]
    joined = [p[0] if len(p) == 1 else taeda.cat(p, 2) for p in zip(*parts, strict=True)]
    out, lse, most = joined
    result: Any = (out, lse) if return_lse else out
    if return_aux is not None:
        aux = AuxOutput(lse if return_aux.lse else None, most if return_aux.max_scores else None)
        result = (out, aux)
    return result if nested is None else _nested_like(nested, result)


def _nested_like(query: Any, made: Any) -> Any:
    """Packed results as nested ones, of the sequences of `query`."""
    if made is None:
        return None
    if isinstance(made, AuxOutput):
        return AuxOutput(*(_nested_like(query, one) for one in made))
    if isinstance(made, tuple):
        return tuple(_nested_like(query, one) for one in made)
    return query._with_packed(made.squeeze(0))


def _blocks(query: Tensor, key: Tensor, mask: BlockMask | None) -> list[tuple[Span, Span]]:
    """Blocks of queries, each with the keys from the first to the last that one of them sees."""
    batch, heads, queries, _ = query.shape
    keys = key.size(-2)
    all_rows, all_columns = Span(0, queries), Span(0, keys)
    if batch * heads * queries * keys <= PLACES:
        return [(all_rows, all_columns)]
    each = mask.BLOCK_SIZE[0] if mask is not None else 1
    step = max(1, PLACES // (batch * heads * keys * each)) * each
    seen = mask.seen() if mask is not None else []
    made = []
    for first in range(0, queries, step):
        rows = Span(first, min(first + step, queries))
        spans = seen[first // each : -(-rows.stop // each)] or [all_columns]
        columns = Span(min(s.start for s in spans), max(s.stop for s in spans))
        made.append((rows, columns))
    return made


def _block(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Mod | None,
    mask: BlockMask | None,
    scale: float,
    rows: Span,
    columns: Span,
) -> tuple[Tensor, Tensor, Tensor]:
    """Result, log-sum-exp and largest score for some queries, over some keys."""
    query = query[:, :, rows.start : rows.stop]
    key, value = (t[:, :, columns.start : columns.stop] for t in (key, value))
    works_in = taeda.float64 if query.dtype is taeda.float64 else taeda.float32
    scores = (query @ key.mT).to(works_in) * scale
    if score_mod is not None:
        scores = call_score(score_mod, scores, rows, columns).to(works_in)
    if mask is not None:
        visible = mask.visible(scores.shape[0], scores.shape[1], rows, columns)
        scores = scores.masked_fill(~visible, -taeda.inf)
    out, lse, most = _weighted(scores, value)
    return out.to(query.dtype), lse, most


def _weighted(scores: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(softmax(scores) value, log-sum-exp, largest score); rows without a score give 0 and -inf."""
    blind = (scores == -taeda.inf).all(-1, keepdim=True)
    safe = scores.masked_fill(blind, 0.0)
    weights = safe.softmax(-1).masked_fill(blind, 0.0)
    lse = safe.logsumexp(-1).masked_fill(blind.squeeze(-1), -taeda.inf)
    most = scores.amax(-1) if scores.size(-1) else scores.new_full(lse.shape, -taeda.inf)
    return weights.to(value.dtype) @ value, lse, most


def _check(query: Tensor, key: Tensor, value: Tensor, grouped: bool) -> None:
    if not query.dim() == key.dim() == value.dim() == 4:
        raise NotImplementedError(
            "query, key, and value must be 4D tensors (batch, head, length, feature)"
        )
    kinds = {query.dtype, key.dtype, value.dtype}
    if len(kinds) > 1:
        raise ValueError(
            f"Expected query, key, and value to have the same dtype, but got {[*map(str, kinds)]}"
        )
    if query.size(-1) != key.size(-1):
        raise ValueError(
            "Expect query and key/value to have the same embedding dimension but got "
            f"E={query.size(-1)} and E={key.size(-1)}."
        )
    if key.size(-2) != value.size(-2) or key.size(-3) != value.size(-3):
        raise ValueError(
            f"Expect key and value to match but got {list(key.shape)} and {list(value.shape)}."
        )
    if query.size(0) != key.size(0) != 1:
        raise ValueError(
            f"Expect Bq == Bkv or Bkv == 1 but got Bq={query.size(0)} and Bkv={key.size(0)}."
        )
    of_queries, of_keys = query.size(-3), key.size(-3)
    if not grouped and of_queries != of_keys:
        raise ValueError(
            f"Expect query and key/value to have the same number of heads but got Hq={of_queries} "
            f"and Hkv={of_keys}. "
            "Try setting enable_gqa=True for GQA."
        )
    if of_queries % of_keys:
        raise ValueError(
            "Expect number of query heads to be a multiple of kv heads for GQA but got "
            f"Hq={of_queries} and Hkv={of_keys}."
        )


def _check_mask(mask: BlockMask, query: Tensor, key: Tensor) -> None:
    lengths = query.size(-2), key.size(-2)
    if tuple(mask.seq_lengths) != lengths:
        raise ValueError(
            f"block_mask was created for block_mask.shape={mask.shape} but got q_len={lengths[0]} "
            f"and kv_len={lengths[1]}: "
            "create one for these lengths"
        )
