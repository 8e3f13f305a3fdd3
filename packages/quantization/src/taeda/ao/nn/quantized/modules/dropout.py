"""Dropout after training: nothing."""

from __future__ import annotations

from typing import Any, Self

from taeda import Tensor, nn

__all__ = ["Dropout"]


class Dropout(nn.Dropout):
    """What a dropout is after training: the identity.

    Args:
        p, inplace: kept for callers, as in `nn.Dropout` (defaults: p 0.5, inplace False).

    >>> taeda.ao.nn.quantized.Dropout(0.5).train()(taeda.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """`input` as it is."""
        return input

    def _get_name(self) -> str:
        return "QuantizedDropout"

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of an `nn.Dropout`."""
        return cls(mod.p, mod.inplace)
