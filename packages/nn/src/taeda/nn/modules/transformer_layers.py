"""The layers of a transformer: attention, then a network, each with dropout, a shortcut and a
normalisation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import taeda
from taeda import Tensor

from .. import functional as F
from ..functional._attention import canonical_mask
from .attention import MultiheadAttention
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

__all__ = ["Activation", "TransformerDecoderLayer", "TransformerEncoderLayer", "added_masks"]

Activation = str | Callable[[Tensor], Tensor]


def _get_activation_fn(given: Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return F.relu if given == "relu" else F.gelu


class _TransformerLayer(Module):
    """What both layers have: attentions, a network of two layers, and for each of them a dropout
    and a normalisation.
    """

    _taeda_attentions: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        made = {"bias": bias, "device": device, "dtype": dtype}
        for name in self._taeda_attentions:
            attention = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, **made)
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **made)
        self.norm_first = norm_first
        parts = range(1, len(self._taeda_attentions) + 2)
        for i in parts:
            setattr(self, f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, **made))
        for i in parts:
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _get_activation_fn(activation)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("activation", F.relu)  # pickles of old versions

    def _sa_block(
        self, x: Tensor, mask: Tensor | None, padding: Tensor | None, is_causal: bool
    ) -> Tensor:
        return self.dropout1(_attended(self.self_attn, x, x, mask, padding, is_causal))

    def _taeda_network(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_TransformerLayer):
    """Self-attention and a network of two layers, each with dropout, a shortcut and a normalisation, which
    comes first with `norm_first` and else last.

    Args:
        d_model: size of the vectors, a multiple of `nhead`.
        nhead: number of heads of each attention.
        dim_feedforward: size of the hidden layer of the network (2048).
        dropout: probability of dropout, in [0, 1] (0.1).
        activation: "relu", "gelu" or a function (`nn.functional.relu`).
        layer_norm_eps: `eps` of the normalisations (1e-5).
        batch_first: whether the batch is dimension 0 instead of 1 (False).
        norm_first: whether the normalisation comes before each part (False).
        bias: whether linear layers and normalisations have a bias (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Vaswani and others (arXiv:1706.03762).

    >>> TransformerEncoderLayer(8, 2)(taeda.zeros(5, 3, 8)).shape
    taeda.Size([5, 3, 8])
    """

    _taeda_attentions = ("self_attn",)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """(L, N, E), (N, L, E) with batch_first, or (L, E), unchanged; a nested tensor (N, L, E) without a
        mask.
        """
        padding, mask = added_masks(
            src, src_key_padding_mask, src_mask, "src_key_padding_mask", "src_mask"
        )
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), mask, padding, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, mask, padding, is_causal))
        return self.norm2(x + self._ff_block(x))

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self._taeda_network(x))


class TransformerDecoderLayer(_TransformerLayer):
    """An encoder layer with attention to the encoder's output between its two parts.

    Args:
        d_model: size of the vectors, a multiple of `nhead`.
        nhead: number of heads of each attention.
        dim_feedforward: size of the hidden layer of the network (2048).
        dropout: probability of dropout, in [0, 1] (0.1).
        activation: "relu", "gelu" or a function (`nn.functional.relu`).
        layer_norm_eps: `eps` of the normalisations (1e-5).
        batch_first: whether the batch is dimension 0 instead of 1 (False).
        norm_first: whether the normalisation comes before each part (False).
        bias: whether linear layers and normalisations have a bias (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Vaswani and others (arXiv:1706.03762).

    >>> TransformerDecoderLayer(8, 2)(taeda.zeros(5, 3, 8), taeda.zeros(4, 3, 8)).shape
    taeda.Size([5, 3, 8])
    """

    _taeda_attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The target's shape, unchanged."""
        x = tgt
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        cross = (memory_mask, memory_key_padding_mask, memory_is_causal)
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), memory, *cross)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, memory, *cross))
        return self.norm3(x + self._ff_block(x))

    def _mha_block(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None,
        padding: Tensor | None,
        is_causal: bool,
    ) -> Tensor:
        return self.dropout2(_attended(self.multihead_attn, x, memory, mask, padding, is_causal))

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self._taeda_network(x))


def _attended(
    attention: MultiheadAttention,
    x: Tensor,
    source: Tensor,
    mask: Tensor | None,
    padding: Tensor | None,
    is_causal: bool,
) -> Tensor:
    output: Tensor = attention(
        x,
        source,
        source,
        attn_mask=mask,
        key_padding_mask=padding,
        is_causal=is_causal,
        need_weights=False,
    )[0]
    return output


def added_masks(
    x: Tensor, padding: Tensor | None, mask: Tensor | None, padding_name: str, mask_name: str
) -> tuple[Tensor | None, Tensor | None]:
    """Both masks in the form that is added."""
    other = None if mask is None else (mask.dtype if mask.is_floating_point() else taeda.bool)
    return (
        canonical_mask(padding, padding_name, other, mask_name, x.dtype),
        canonical_mask(mask, mask_name, None, "", x.dtype, False),
    )
