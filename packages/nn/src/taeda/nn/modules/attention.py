"""MultiheadAttention."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from .. import init
from ..functional import multi_head_attention_forward
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention in `num_heads` subspaces of `embed_dim`, with projections before and after.

    Inputs (L, N, E), or (N, L, E) with `batch_first`, or without N. The output has the query's shape; the
    second result is the weights (N, L, S), averaged over the heads on request, or None.

    With `batch_first` and `need_weights=False`, inputs may be nested tensors (N, L, E): sequences of
    different lengths, each of which attends by itself, without padding.

    Args:
        embed_dim: size E of the queries' and outputs' vectors, a multiple of `num_heads`.
        num_heads: number of subspaces; each has embed_dim / num_heads dimensions.
        dropout: probability, in [0, 1], that a weight is zeroed in training (0).
        bias: whether the projections add a bias (True).
        add_bias_kv: whether a trained key and value is added to each sequence (False).
        add_zero_attn: whether a key and value of zeros is added to each sequence (False).
        kdim: size of the keys' vectors (None: `embed_dim`).
        vdim: size of the values' vectors (None: `embed_dim`).
        batch_first: whether the batch is dimension 0 instead of 1 (False).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Vaswani and others (arXiv:1706.03762). The same as a function:
    `nn.functional.multi_head_attention_forward`. The attention alone:
    `nn.functional.scaled_dot_product_attention`.

    >>> x = taeda.randn(5, 2, 8)
    >>> MultiheadAttention(8, 2)(x, x, x)[0].shape
    taeda.Size([5, 2, 8])
    """

    bias_k: Tensor | None
    bias_v: Tensor | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, "
                f"got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError(
                f"embed_dim must be divisible by num_heads, got {embed_dim} and {num_heads}"
            )

        def made(*shape: int) -> Parameter:
            return Parameter(taeda.empty(shape, device=device, dtype=dtype))

        same = self._qkv_same_embed_dim
        self.register_parameter("in_proj_weight", made(3 * embed_dim, embed_dim) if same else None)
        for name, size in (("q", embed_dim), ("k", self.kdim), ("v", self.vdim)):
            weight = None if same else made(embed_dim, size)
            self.register_parameter(f"{name}_proj_weight", weight)
        self.register_parameter("in_proj_bias", made(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias, device=device, dtype=dtype
        )
        if add_bias_kv:
            self.bias_k, self.bias_v = made(1, 1, embed_dim), made(1, 1, embed_dim)
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        weights = (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        for weight in weights:
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("_qkv_same_embed_dim", True)  # pickles of old versions
        super().__setstate__(state)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend from query to key and value.

        `key_padding_mask` (N, S) and `attn_mask` (L, S) or (N · heads, L, S) hide where they are True, or are
        added. `is_causal` says that `attn_mask` is the causal one. Without `need_weights` it is faster.
        """
        if query.is_nested and not self.batch_first:
            raise AssertionError(
                "MultiheadAttention: the first dimension of a nested tensor is its batch: make the module "
                "with batch_first=True"
            )
        swap = self.batch_first and query.dim() == 3 and not query.is_nested
        if swap:
            query, key, value = _first_two_swapped(query, key, value)
        output, weights = multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (output.transpose(1, 0) if swap else output), weights

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """One mask of both, and its kind: 0 attention alone, 1 padding alone, 2 both, (N, heads, L, S)."""
        if key_padding_mask is not None and attn_mask is None:
            return key_padding_mask, 1
        if attn_mask is None:
            return None, None
        batch, length = query.shape[:2]
        if attn_mask.dim() == 3:
            heads = attn_mask.size(0) // batch if batch else self.num_heads
            wide = attn_mask.view(batch, heads, length, length)
        else:
            wide = attn_mask.view(1, 1, length, length)
        merged = wide.expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is None:
            return merged, 2
        padding = key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged + padding, 2


def _first_two_swapped(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Batch and length exchanged; what was the same tensor stays so, for the packed projection."""
    swapped = query.transpose(1, 0)
    if query is key and key is value:
        return swapped, swapped, swapped
    other = key.transpose(1, 0)
    return swapped, other, other if key is value else value.transpose(1, 0)
