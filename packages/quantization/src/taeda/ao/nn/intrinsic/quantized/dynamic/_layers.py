"""A linear layer on floats and ReLU."""

from __future__ import annotations

from typing import Any

import taeda

from ....quantized.dynamic.modules.linear import Linear
from ...modules import fused

__all__ = ["LinearReLU"]


class LinearReLU(Linear):
    """`nn.quantized.dynamic.Linear` and ReLU in one.

    Args:
        in_features, out_features: sizes of the last dimension before and after.
        bias: whether there is a bias, in float32 (default: True).
        dtype: of the weight: `qint8` or `float16`.

    >>> layer = taeda.ao.nn.intrinsic.quantized.dynamic.LinearReLU(2, 3)
    >>> layer(taeda.ones(4, 2)).dtype, layer.weight().dtype
    (taeda.float32, taeda.qint8)
    """

    _FLOAT_MODULE: Any = (fused.LinearReLU,)
    _relu = True

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: Any = taeda.qint8
    ) -> None:
        super().__init__(in_features, out_features, bias, dtype)

    def _get_name(self) -> str:
        return "DynamicQuantizedLinearReLU"
