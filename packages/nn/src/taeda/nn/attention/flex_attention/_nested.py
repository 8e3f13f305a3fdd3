"""Attention of sequences of different lengths: they lie one after the other, and none sees another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

from ._block_mask import BlockMask, create_block_mask
from ._mods import Mod, noop_mask

__all__ = ["create_nested_block_mask", "packed", "within_sequences"]


class _Places:
    """The sequence of each packed place, and the place in it."""

    def __init__(self, ends: list[int], device: Any) -> None:
        self.ends = ends
        edges = taeda.tensor([0, *ends], device=device)
        self.sequence = taeda.arange(len(ends), device=device).repeat_interleave(edges.diff())
        self.begin = edges[:-1][self.sequence]

    def of(self, index: Tensor) -> tuple[Tensor, Tensor]:
        number = self.sequence[index]
        return number, index - self.begin[index]


class _Mask:
    """A mask function of places in sequences as one of packed places, False between sequences."""

    def __init__(self, mask_mod: Mod, queries: _Places, keys: _Places) -> None:
        self.mask_mod, self.queries, self.keys = mask_mod, queries, keys

    def __call__(self, batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
        (of_q, at_q), (of_kv, at_kv) = self.queries.of(token_q), self.keys.of(token_kv)
        return self.mask_mod(of_q, head, at_q, at_kv) & (of_q == of_kv)


def create_nested_block_mask(
    mask_mod: Callable[..., Tensor],
    B: int | None,
    H: int | None,
    q_nt: Tensor,
    kv_nt: Tensor | None = None,
    BLOCK_SIZE: int | tuple[int, int] = 128,
    _compile: bool = False,
) -> BlockMask:
    """The mask for `flex_attention` of nested tensors (B, H, ragged, E).

    Args:
        mask_mod: of (b, h, q_idx, kv_idx): the number of the sequence, the head, and places within
            the sequence.
        B: 1 or None: all sequences lie in one row.
        H: how many heads the mask has; 1 or None if it does not depend on them.
        q_nt, kv_nt: nested tensors of the layout jagged, with as many sequences; keys are those of
            the queries by default.
        BLOCK_SIZE: of queries and of keys.
        _compile: here for programs that pass it: the mask is the same.

    No sequence sees another. ValueError for other tensors and for another B.

    >>> import taeda
    >>> offsets = taeda.tensor([0, 2, 5])
    >>> x = taeda.nested.nested_tensor_from_jagged(taeda.ones(1, 5, 4), offsets, jagged_dim=2)
    >>> mask = create_nested_block_mask(lambda b, h, q, kv: q >= kv, 1, 1, x, BLOCK_SIZE=1)
    >>> mask.to_dense()[0, 0].tolist()
    [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 1, 1, 1]]
    """
    if B not in (None, 1):
        raise ValueError(
            f"create_nested_block_mask: B must be 1 or None, since sequences lie in one row, but got {B}"
        )
    q, of_queries = packed(q_nt)
    kv, of_keys = (q, of_queries) if kv_nt is None else packed(kv_nt)
    if len(of_queries) != len(of_keys):
        raise ValueError(
            f"create_nested_block_mask: {len(of_queries)} sequences of queries and {len(of_keys)} of keys"
        )
    mod = _Mask(mask_mod, _Places(of_queries, q.device), _Places(of_keys, q.device))
    return create_block_mask(mod, B, H, q.size(-2), kv.size(-2), q.device, BLOCK_SIZE)


def packed(x: Tensor) -> tuple[Tensor, list[int]]:
    """(values (1, heads, all places, width), where sequences end) of a nested tensor (B, H, ragged, E)."""
    if not x.is_nested or x.dim() != 4:
        raise ValueError(
            f"wanted a nested tensor (batch, head, ragged length, feature), but got {x.dim()} dimensions of "
            f"layout {x.layout}"
        )
    values, ends, ragged = x._packed()  # type: ignore[attr-defined]  # of nested tensors
    if ragged != 2:
        raise ValueError(
            f"wanted a nested tensor whose dimension 2 is ragged, but it is {ragged}: transpose(1, 2)"
        )
    return values.unsqueeze(0), ends


def within_sequences(
    query: Tensor, key: Tensor, value: Tensor, score_mod: Mod | None, mask: BlockMask | None
) -> tuple[tuple[Tensor, Tensor, Tensor], Mod | None, BlockMask]:
    """Packed operands, and a score function and a mask of packed places."""
    (q, of_queries), (k, of_keys), (v, of_values) = map(packed, (query, key, value))
    if of_keys != of_values:
        raise ValueError("flex_attention: keys and values have sequences of different lengths")
    if mask is None:
        mask = create_nested_block_mask(noop_mask, None, None, query, key)
    mod = mask.mask_mod
    if not isinstance(mod, _Mask) or (mod.queries.ends, mod.keys.ends) != (of_queries, of_keys):
        raise ValueError(
            "flex_attention: the block_mask is not of these sequences, whose places would see each other. "
            "Make it by create_nested_block_mask(mask_mod, 1, H, query, key)"
        )
    if score_mod is None:
        return (q, k, v), None, mask
    queries, keys = mod.queries, mod.keys

    def within(score: Tensor, b: Tensor, h: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
        number, at = queries.of(token_q)
        return score_mod(score, number, h, at, keys.of(token_kv)[1])

    return (q, k, v), within, mask
