"""Layers that were joined: in float, while training for integers (`qat`), and on integers (`quantized`)."""

from taeda._core_api import lazy_attributes

from .modules.fused import (
    BNReLU2d,
    BNReLU3d,
    ConvBn1d,
    ConvBn2d,
    ConvBn3d,
    ConvBnReLU1d,
    ConvBnReLU2d,
    ConvBnReLU3d,
    ConvReLU1d,
    ConvReLU2d,
    ConvReLU3d,
    LinearBn1d,
    LinearReLU,
    _FusedModule,
)

__all__ = [
    "BNReLU2d", "BNReLU3d", "ConvBn1d", "ConvBn2d", "ConvBn3d", "ConvBnReLU1d", "ConvBnReLU2d",
    "ConvBnReLU3d", "ConvReLU1d", "ConvReLU2d", "ConvReLU3d", "LinearBn1d", "LinearReLU", "_FusedModule",
]  # fmt: skip

# layers of these are made of layers of nn.quantized and nn.qat, which know the joined ones
_EXPORTS = {"qat": "ao.nn.intrinsic.qat:", "quantized": "ao.nn.intrinsic.quantized:"}
__getattr__, __dir__ = lazy_attributes(__name__, _EXPORTS)
