"""Batch normalisation on integers, with the statistics of training."""

from __future__ import annotations

from typing import Any, Self

import taeda
from taeda import Tensor, nn
from taeda.quantization._normalise import batch_norm

from ..._weights import activation_parameters
from ...intrinsic.modules import fused

__all__ = ["BatchNorm2d", "BatchNorm3d"]


class _BatchNorm(nn.modules.batchnorm._BatchNorm):
    scale: Tensor
    zero_point: Tensor
    _rank: int
    _relu = False

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, True, True, device=device, dtype=dtype)
        self.register_buffer("scale", taeda.tensor(1.0))
        self.register_buffer("zero_point", taeda.tensor(0))

    def _get_name(self) -> str:
        return f"Quantized{'BNReLU' if self._relu else 'BatchNorm'}{self._rank}d"

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != self._rank + 2:
            raise ValueError(
                f"{type(self).__name__} wants {self._rank + 2} dimensions, but got {tuple(input.shape)}"
            )

    def forward(self, input: Tensor) -> Tensor:
        """Integers of the shape of `input`, with the layer's scale. ValueError for another rank."""
        self._check_input_dim(input)
        assert self.running_mean is not None
        assert self.running_var is not None
        weight, bias = (None if x is None else x.detach() for x in (self.weight, self.bias))
        return batch_norm(
            input,
            weight,
            bias,
            self.running_mean,
            self.running_var,
            self.eps,
            float(self.scale),
            int(self.zero_point),
            self._relu,
        )

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of an observed batch normalisation, alone or joined with ReLU."""
        scale, zero = activation_parameters(mod, cls.__name__)
        inner = mod[0] if isinstance(mod, fused._FusedModule) else mod
        made = cls(inner.num_features, inner.eps)
        made.weight, made.bias = inner.weight, inner.bias
        made.running_mean, made.running_var = inner.running_mean, inner.running_var
        made.scale, made.zero_point = taeda.tensor(scale), taeda.tensor(zero)
        return made


_TEXT = """Batch normalisation of integers (samples, num_features, {places}) with the statistics of training.

    Args:
        num_features: the number of channels
        eps: what is added to variances (default: 1e-05)
        momentum: kept for callers: no statistics are gathered (default: 0.1)
        device, dtype: of weights and statistics (default: None)

    >>> layer = taeda.ao.nn.quantized.BatchNorm{rank}d(2).eval()
    >>> x = taeda.quantize_per_tensor(taeda.ones({shape}), 0.5, 0, taeda.quint8)
    >>> layer(x).shape, layer(x).q_scale()
    (taeda.Size({made}), 1.0)
    """


def _text(rank: int, places: str) -> str:
    shape = [1, 2, *[3] * rank]
    return _TEXT.format(rank=rank, places=places, shape=tuple(shape), made=shape)


class BatchNorm2d(_BatchNorm):
    __doc__ = _text(2, "height, width")
    _rank = 2


class BatchNorm3d(_BatchNorm):
    __doc__ = _text(3, "depth, height, width")
    _rank = 3
