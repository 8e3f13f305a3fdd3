"""Layers on integers whose results are not below 0."""

from __future__ import annotations

from typing import Any

import taeda

from ...quantized.modules import batchnorm, conv, linear
from ..modules import fused

__all__ = ["BNReLU2d", "BNReLU3d", "ConvReLU1d", "ConvReLU2d", "ConvReLU3d", "LinearReLU"]


class LinearReLU(linear.Linear):
    """`nn.quantized.Linear` and ReLU in one.

    Args:
        in_features, out_features: sizes of the last dimension before and after.
        bias: whether there is a bias, in float32 (default: True).
        dtype: of the weight: qint8.

    >>> layer = taeda.ao.nn.intrinsic.quantized.LinearReLU(2, 3)
    >>> x = taeda.quantize_per_tensor(taeda.ones(4, 2), 0.5, 0, taeda.quint8)
    >>> layer(x).shape, layer(x).dtype
    (taeda.Size([4, 3]), taeda.quint8)
    """

    _FLOAT_MODULE: Any = (fused.LinearReLU,)
    _relu = True

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: Any = taeda.qint8
    ) -> None:
        super().__init__(in_features, out_features, bias, dtype)

    def _get_name(self) -> str:
        return "QuantizedLinearReLU"


class ConvReLU1d(conv.Conv1d):
    """`nn.quantized.Conv1d` and ReLU in one.

    Args:
        in_channels, out_channels, kernel_size, stride, padding: as in `nn.quantized.Conv1d`
            (defaults: stride 1, padding 0).
        dilation, groups, bias, padding_mode, device, dtype: as there (defaults: dilation 1,
            groups 1, bias True, padding_mode "zeros", device None, dtype None).

    >>> layer = taeda.ao.nn.intrinsic.quantized.ConvReLU1d(1, 2, 3)
    >>> x = taeda.quantize_per_tensor(taeda.ones(1, 1, 4), 0.5, 0, taeda.quint8)
    >>> layer(x).shape
    taeda.Size([1, 2, 2])
    """

    _relu = True


class ConvReLU2d(conv.Conv2d):
    """`nn.quantized.Conv2d` and ReLU in one.

    Args:
        in_channels, out_channels, kernel_size, stride, padding: as in `nn.quantized.Conv2d`
            (defaults: stride 1, padding 0).
        dilation, groups, bias, padding_mode, device, dtype: as there (defaults: dilation 1,
            groups 1, bias True, padding_mode "zeros", device None, dtype None).

    >>> layer = taeda.ao.nn.intrinsic.quantized.ConvReLU2d(1, 2, 3)
    >>> x = taeda.quantize_per_tensor(taeda.ones(1, 1, 4, 4), 0.5, 0, taeda.quint8)
    >>> layer(x).shape
    taeda.Size([1, 2, 2, 2])
    """

    _relu = True


class ConvReLU3d(conv.Conv3d):
    """`nn.quantized.Conv3d` and ReLU in one.

    Args:
        in_channels, out_channels, kernel_size, stride, padding: as in `nn.quantized.Conv3d`
            (defaults: stride 1, padding 0).
        dilation, groups, bias, padding_mode, device, dtype: as there (defaults: dilation 1,
            groups 1, bias True, padding_mode "zeros", device None, dtype None).

    >>> layer = taeda.ao.nn.intrinsic.quantized.ConvReLU3d(1, 2, 3)
    >>> x = taeda.quantize_per_tensor(taeda.ones(1, 1, 4, 4, 4), 0.5, 0, taeda.quint8)
    >>> layer(x).shape
    taeda.Size([1, 2, 2, 2, 2])
    """

    _relu = True


class BNReLU2d(batchnorm.BatchNorm2d):
    """`nn.quantized.BatchNorm2d` and ReLU in one.

    Args:
        num_features, eps, momentum, device, dtype: as in `nn.quantized.BatchNorm2d` (defaults:
            eps 1e-05, momentum 0.1, device None, dtype None).

    >>> layer = taeda.ao.nn.intrinsic.quantized.BNReLU2d(1).eval()
    >>> x = taeda.quantize_per_tensor(taeda.tensor([[[[-3.0, 2.0]]]]), 1.0, 3, taeda.quint8)
    >>> layer(x).dequantize().tolist()
    [[[[0.0, 2.0]]]]
    """

    _relu = True


class BNReLU3d(batchnorm.BatchNorm3d):
    """`nn.quantized.BatchNorm3d` and ReLU in one.

    Args:
        num_features, eps, momentum, device, dtype: as in `nn.quantized.BatchNorm3d` (defaults:
            eps 1e-05, momentum 0.1, device None, dtype None).

    >>> layer = taeda.ao.nn.intrinsic.quantized.BNReLU3d(1).eval()
    >>> x = taeda.quantize_per_tensor(taeda.tensor([[[[[-3.0, 2.0]]]]]), 1.0, 3, taeda.quint8)
    >>> layer(x).dequantize().tolist()
    [[[[[0.0, 2.0]]]]]
    """

    _relu = True
