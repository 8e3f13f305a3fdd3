"""The functions of quantized tensors that stand in `taeda` itself."""

from . import rules as _rules
from ._make import (
    _empty_affine_quantized,
    _make_per_channel_quantized_tensor,
    _make_per_tensor_quantized_tensor,
    quantize_per_channel,
    quantize_per_tensor,
    quantize_per_tensor_dynamic,
)
from ._methods import (
    dequantize,
    int_repr,
    q_per_channel_axis,
    q_per_channel_scales,
    q_per_channel_zero_points,
    q_scale,
    q_zero_point,
)
from ._normalise import quantized_batch_norm
from .rules.pooling import quantized_max_pool1d, quantized_max_pool2d, quantized_max_pool3d

_rules.load()  # the code of the package itself may not have run

__all__ = [
    "_empty_affine_quantized", "_make_per_channel_quantized_tensor", "_make_per_tensor_quantized_tensor",
    "dequantize", "int_repr", "q_per_channel_axis", "q_per_channel_scales", "q_per_channel_zero_points",
    "q_scale", "q_zero_point", "quantize_per_channel", "quantize_per_tensor", "quantize_per_tensor_dynamic",
    "quantized_batch_norm", "quantized_max_pool1d", "quantized_max_pool2d", "quantized_max_pool3d",
]  # fmt: skip
