"""From floats to integers and back, where a model's stubs were."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn

from ..._weights import activation_parameters

__all__ = ["DeQuantize", "Quantize"]


class Quantize(nn.Module):
    """Floats become integers with one scale.

    Args:
        scale, zero_point: those; kept in the state dict.
        dtype: `quint8`, `qint8` or `qint32`.
        factory_kwargs: kept for callers (default: None).

    `forward(x)` takes float32 of any shape; what is quantized already passes.

    >>> import taeda
    >>> Quantize(0.5, 3, taeda.quint8)(taeda.ones(2)).int_repr().tolist()
    [5, 5]
    """

    scale: Tensor
    zero_point: Tensor

    def __init__(
        self, scale: float, zero_point: int, dtype: Any, factory_kwargs: Any = None
    ) -> None:
        super().__init__()
        self.register_buffer("scale", taeda.tensor([float(scale)]))
        self.register_buffer("zero_point", taeda.tensor([int(zero_point)]))
        self.dtype = dtype

    def forward(self, X: Tensor) -> Tensor:
        """`X` in integers."""
        if X.is_quantized:
            return X
        made: Tensor = taeda.quantize_per_tensor(
            X, float(self.scale), int(self.zero_point), self.dtype
        )
        return made

    @staticmethod
    def from_float(mod: nn.Module, use_precomputed_fake_quant: bool = False) -> Quantize:
        """The scale that the observer of a `QuantStub` suggests. RuntimeError if it saw nothing."""
        watch: Any = mod.activation_post_process
        return Quantize(*activation_parameters(mod, "Quantize"), watch.dtype)

    def extra_repr(self) -> str:
        return f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}"


class DeQuantize(nn.Module):
    """Integers become floats.

    >>> import taeda
    >>> DeQuantize()(taeda.quantize_per_tensor(taeda.ones(1), 0.5, 3, taeda.quint8)).tolist()
    [1.0]
    """

    def forward(self, Xq: Tensor) -> Tensor:
        """The floats of `Xq`."""
        return Xq.dequantize()

    @staticmethod
    def from_float(mod: nn.Module, use_precomputed_fake_quant: bool = False) -> DeQuantize:
        """A new one: a `DeQuantStub` has seen nothing that matters."""
        return DeQuantize()
