"""The transformer: an encoder, a decoder, and both together."""

from __future__ import annotations

import copy
from typing import Any

import taeda
from taeda import Tensor

from .. import functional as F
from .. import init
from ._packing import is_packable, packed
from .container import ModuleList
from .module import Module
from .normalization import LayerNorm
from .transformer_layers import (  # layers written elsewhere import the function from here
    Activation,
    TransformerDecoderLayer,
    TransformerEncoderLayer,
    _get_activation_fn,  # noqa: F401
    added_masks,
)

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]


def causal_mask(size: int, device: Any = None, dtype: Any = None) -> Tensor:
    """(size, size): 0 on and below the diagonal, -inf above."""
    full = taeda.full((size, size), float("-inf"), device=device, dtype=dtype)
    return taeda.triu(full, diagonal=1)


def _is_causal(mask: Tensor | None, told: bool | None, size: int | None) -> bool:
    """Is `mask` the causal one? Trusts what is told, else looks."""
    if told is not None or mask is None:
        return told is True
    size = mask.size(-2) if size is None else size
    if tuple(mask.shape) != (size, size):
        return False
    return bool((mask == causal_mask(size, mask.device, mask.dtype)).all())


def _length(input: Tensor, batch_first: bool) -> int:
    return input.size(0) if input.dim() == 2 else input.size(1 if batch_first else 0)


def _get_clones(layer: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


class TransformerEncoder(Module):
    """Copies of a layer, one after the other, and a last normalisation if one is given.

    In evaluation, without gradients and with no other mask than a bool `src_key_padding_mask`, sequences are
    computed without their padding (with `batch_first`, and where taeda-nested is installed); what stands at
    places of padding is 0 then.

    Args:
        encoder_layer: the layer that is copied.
        num_layers: number of copies.
        norm: module for the last output (None: none).
        enable_nested_tensor: whether sequences may be computed without their padding (True).
        mask_check: whether that is done only where padding stands behind each sequence (True).

    >>> layer = taeda.nn.TransformerEncoderLayer(8, 2, 16)
    >>> TransformerEncoder(layer, 2)(taeda.zeros(5, 3, 8)).shape
    taeda.Size([5, 3, 8])
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """(L, N, E), (N, L, E) with batch_first, or (L, E), unchanged. A nested tensor (N, L, E) takes no
        mask: `is_causal=True` asks for the causal one.
        """
        if mask is None and not is_causal and self._taeda_packs(src, src_key_padding_mask):
            return packed(src, src_key_padding_mask, self._taeda_run)  # type: ignore[arg-type]  # not None
        padding, mask = added_masks(src, src_key_padding_mask, mask, "src_key_padding_mask", "mask")
        batch_first = self.layers[0].self_attn.batch_first if len(self.layers) else False
        causal = _is_causal(mask, is_causal, _length(src, batch_first))
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        return output if self.norm is None else self.norm(output)

    def _taeda_packs(self, src: Tensor, padding: Tensor | None) -> bool:
        """Whether the batch is computed without its padding."""
        if self.training or not self.enable_nested_tensor or not len(self.layers):
            return False
        if any(type(layer) is not TransformerEncoderLayer for layer in self.layers):
            return False
        first = self.layers[0].self_attn.batch_first
        return first and is_packable(src, padding, [*self.parameters()], self.mask_check)

    def _taeda_run(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x if self.norm is None else self.norm(x)


class TransformerDecoder(Module):
    """Copies of a layer, one after the other, and a last normalisation if one is given.

    Args:
        decoder_layer: the layer that is copied.
        num_layers: number of copies.
        norm: module for the last output (None: none).

    >>> layer = taeda.nn.TransformerDecoderLayer(8, 2, 16)
    >>> TransformerDecoder(layer, 2)(taeda.zeros(4, 3, 8), taeda.zeros(5, 3, 8)).shape
    taeda.Size([4, 3, 8])
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The target's shape, unchanged."""
        batch_first = self.layers[0].self_attn.batch_first if len(self.layers) else False
        causal = _is_causal(tgt_mask, tgt_is_causal, _length(tgt, batch_first))
        output = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """An encoder for the source and a decoder for the target, with weights of more than one dimension drawn
    by Xavier's rule.

    Args:
        d_model: size of the vectors, a multiple of `nhead` (512).
        nhead: number of heads of each attention (8).
        num_encoder_layers: layers of the encoder (6).
        num_decoder_layers: layers of the decoder (6).
        dim_feedforward: size of the hidden layer of the network (2048).
        dropout: probability of dropout, in [0, 1] (0.1).
        activation: "relu", "gelu" or a function (`nn.functional.relu`).
        custom_encoder: module in place of the encoder (None).
        custom_decoder: module in place of the decoder (None).
        layer_norm_eps: `eps` of the normalisations (1e-5).
        batch_first: whether the batch is dimension 0 instead of 1 (False).
        norm_first: whether the normalisation comes before each part (False).
        bias: whether linear layers and normalisations have a bias (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        source: (S, N, E), target and output: (T, N, E), with N first if `batch_first`.

    Vaswani and others (arXiv:1706.03762).

    >>> model = Transformer(8, 2, 1, 1, 16)
    >>> model(taeda.zeros(5, 3, 8), taeda.zeros(4, 3, 8)).shape
    taeda.Size([4, 3, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        made = {"bias": bias, "device": device, "dtype": dtype}
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        order = (batch_first, norm_first)
        if custom_encoder is None:
            layer = TransformerEncoderLayer(*options, *order, **made)
            norm = LayerNorm(d_model, eps=layer_norm_eps, **made)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        self.encoder = custom_encoder
        if custom_decoder is None:
            last = TransformerDecoderLayer(*options, *order, **made)
            norm = LayerNorm(d_model, eps=layer_norm_eps, **made)
            custom_decoder = TransformerDecoder(last, num_decoder_layers, norm)
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Source (S, N, E) and target (T, N, E), or with N first, or without N: the target's shape.

        Raises RuntimeError where they do not fit.
        """
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError(
                f"the batch number of src and tgt must be equal, got {src.size(batch)} and {tgt.size(batch)}"
            )
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError(
                "the feature number of src and tgt must be equal to d_model, got "
                f"{src.size(-1)} and {tgt.size(-1)} for {self.d_model}"
            )
        memory = self.encoder(
            src,
            mask=src_mask,
            src_key_padding_mask=src_key_padding_mask,
            is_causal=src_is_causal,
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """(sz, sz): 0 where a place may look, -inf where that would be the future."""
        return causal_mask(sz, device, dtype)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)
