"""The functions of quantized tensors that stand in `taeda` itself."""

from taeda._core_api.doors import asks

from . import _methods
from . import rules as _rules
from ._make import (
    _empty_affine_quantized,
    _make_per_channel_quantized_tensor,
    _make_per_tensor_quantized_tensor,
    quantize_per_channel,
    quantize_per_tensor,
    quantize_per_tensor_dynamic,
)
from ._normalise import quantized_batch_norm
from ._search import choose_qparams_optimized
from .rules.pooling import quantized_max_pool1d, quantized_max_pool2d, quantized_max_pool3d

# of a method the method itself asks
dequantize, int_repr = asks(_methods.dequantize), asks(_methods.int_repr)
q_scale, q_zero_point = asks(_methods.q_scale), asks(_methods.q_zero_point)
q_per_channel_axis = asks(_methods.q_per_channel_axis)
q_per_channel_scales = asks(_methods.q_per_channel_scales)
q_per_channel_zero_points = asks(_methods.q_per_channel_zero_points)

_rules.load()  # the code of the package itself may not have run

__all__ = [
    "_empty_affine_quantized", "_make_per_channel_quantized_tensor", "_make_per_tensor_quantized_tensor",
    "choose_qparams_optimized", "dequantize", "int_repr", "q_per_channel_axis",
    "q_per_channel_scales", "q_per_channel_zero_points", "q_scale", "q_zero_point", "quantize_per_channel",
    "quantize_per_tensor", "quantize_per_tensor_dynamic",
    "quantized_batch_norm", "quantized_max_pool1d", "quantized_max_pool2d", "quantized_max_pool3d",
]  # fmt: skip
