"""Methods and questions of quantized tensors; taeda-quantization answers them."""

from __future__ import annotations

from typing import Any

from .._native import core as _core
from ._method import Tensor, method, set_property


def _methods() -> Any:
    import taeda  # late: it needs Tensor complete

    quantization: Any = taeda.quantization  # upward: says what to install if it is missing
    return quantization._methods


@method
def dequantize(self: Tensor) -> Tensor:
    """The numbers in float32 that the integers stand for; of a plain tensor its numbers in float32."""
    made: Tensor = _methods().dequantize(self)
    return made


@method
def int_repr(self: Tensor) -> Tensor:
    """A copy of the integers: uint8, int8 or int32; of four bits two in a byte, in one dimension."""
    made: Tensor = _methods().int_repr(self)
    return made


@method
def qscheme(self: Tensor) -> Any:
    """How the integers are scaled: `taeda.per_tensor_affine`, and so on."""
    return _methods().qscheme(self)


@method
def q_scale(self: Tensor) -> float:
    """The scale of a tensor with one for all."""
    made: float = _methods().q_scale(self)
    return made


@method
def q_zero_point(self: Tensor) -> int:
    """The integer that stands for 0, of a tensor with one for all."""
    made: int = _methods().q_zero_point(self)
    return made


@method
def q_per_channel_scales(self: Tensor) -> Tensor:
    """The scale of each channel, in float64; in float32 where zero points are floats."""
    made: Tensor = _methods().q_per_channel_scales(self)
    return made


@method
def q_per_channel_zero_points(self: Tensor) -> Tensor:
    """The integer of each channel that stands for 0, in int64; or floats."""
    made: Tensor = _methods().q_per_channel_zero_points(self)
    return made


@method
def q_per_channel_axis(self: Tensor) -> int:
    """The dimension whose places are the channels."""
    made: int = _methods().q_per_channel_axis(self)
    return made


def _is_quantized(self: Tensor) -> bool:
    return getattr(_core.parts_of(self), "in_files", None) == "quantized"


set_property("is_quantized", _is_quantized, "True for integers with scales and zero points.")


def resize_(self: Tensor, sizes: tuple[int, ...], memory_format: Any) -> Tensor:
    """`Tensor.resize_` of a quantized tensor."""
    made: Tensor = _methods().resize_(self, sizes, memory_format)
    return made
