"""Attention with scores and masks that are given as functions of positions.

A function of this kind is called once, with index tensors that broadcast to (B, H, L, S), and with
all scores: it may use arithmetic, comparisons, `where` and tensors of its own indexed by positions,
as such functions do element by element.

>>> import taeda
>>> q = k = v = taeda.eye(3).reshape(1, 1, 3, 3)
>>> causal = create_block_mask(lambda b, h, q_idx, kv_idx: q_idx >= kv_idx, None, None, 3, 3)
>>> flex_attention(q, k, v, block_mask=causal)[0, 0, 0]
tensor([1., 0., 0.])
"""

from __future__ import annotations

from ._attention import AuxOutput, AuxRequest, flex_attention
from ._block_mask import BlockMask, create_block_mask
from ._mods import and_masks, create_mask, noop_mask, or_masks
from ._nested import create_nested_block_mask

_DEFAULT_SPARSE_BLOCK_SIZE = 128  # libraries read the default of create_block_mask under this name

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "create_nested_block_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]
