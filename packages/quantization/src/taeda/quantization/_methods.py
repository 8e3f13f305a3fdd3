"""Methods of tensors that have to do with scales; `Tensor` calls them by name."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._affine import BITS
from ._nibbles import packed
from ._parts import Quantized, is_quantized, parts_of, tensor_of

__all__ = [
    "dequantize", "int_repr", "q_per_channel_axis", "q_per_channel_scales", "q_per_channel_zero_points",
    "q_scale", "q_zero_point", "qscheme", "resize_",
]  # fmt: skip


def dequantize(self: Any) -> Any:
    """The numbers in float32: of a quantized tensor, of a plain one, or of a list of either (a tuple).

    >>> import taeda
    >>> taeda.dequantize(taeda.quantize_per_tensor(taeda.ones(2), 0.4, 0, taeda.qint8)).tolist()
    [0.800000011920929, 0.800000011920929]
    """
    if isinstance(self, (list, tuple)):
        return tuple(dequantize(x) for x in self)
    if not is_quantized(self):
        return self.to(taeda.float32)
    return parts_of(self, "dequantize").floats()


def int_repr(self: Tensor) -> Tensor:
    """A copy of the integers: uint8, int8 or int32; of four or two bits several in a byte, in one dimension.

    >>> x = taeda.quantize_per_tensor(taeda.tensor([0.1, 0.2]), 0.1, 10, taeda.quint8)
    >>> taeda.int_repr(x)
    tensor([11, 12], dtype=taeda.uint8)
    """
    parts = parts_of(self, "int_repr")
    bits = BITS.get(parts.dtype)
    return parts.integers.clone() if bits is None else packed(parts.integers, bits)


def qscheme(self: Tensor) -> Any:
    """How the integers are scaled."""
    return parts_of(self, "qscheme").scheme


def _one_scale(self: Tensor, name: str) -> Quantized:
    parts = parts_of(self, name)
    if parts.axis is not None:
        raise RuntimeError(
            f"{name}: the tensor is {parts.scheme}, with a scale for each channel: use "
            "q_per_channel_scales(), q_per_channel_zero_points() and q_per_channel_axis()"
        )
    return parts


def _channels(self: Tensor, name: str) -> Quantized:
    parts = parts_of(self, name)
    if parts.axis is None:
        raise RuntimeError(
            f"{name}: the tensor is {parts.scheme}, with one scale for all: use q_scale() and q_zero_point()"
        )
    return parts


def q_scale(self: Tensor) -> float:
    """The scale of a tensor with one for all. RuntimeError for channels.

    >>> x = taeda.quantize_per_tensor(taeda.tensor([0.1, 0.2]), 0.5, 10, taeda.quint8)
    >>> taeda.q_scale(x), taeda.q_zero_point(x)
    (0.5, 10)
    """
    scale: float = _one_scale(self, "q_scale").scale
    return scale


def q_zero_point(self: Tensor) -> int:
    """The integer that stands for 0, of a tensor with one for all. RuntimeError for channels.

    >>> x = taeda.quantize_per_tensor(taeda.tensor([0.1, 0.2]), 0.5, 10, taeda.quint8)
    >>> taeda.q_zero_point(x)
    10
    """
    zero: int = _one_scale(self, "q_zero_point").zero_point
    return zero


def q_per_channel_scales(self: Tensor) -> Tensor:
    """The scale of each channel. RuntimeError for one scale for all.

    >>> scales, zeros = taeda.tensor([0.25, 0.5]), taeda.tensor([0, 5])
    >>> x = taeda.quantize_per_channel(taeda.ones(2, 3), scales, zeros, 0, taeda.qint8)
    >>> taeda.q_per_channel_scales(x)
    tensor([0.2500, 0.5000], dtype=taeda.float64)
    """
    scales: Tensor = _channels(self, "q_per_channel_scales").scale
    return scales.clone()


def q_per_channel_zero_points(self: Tensor) -> Tensor:
    """The zero point of each channel. RuntimeError for one for all.

    >>> scales, zeros = taeda.tensor([0.25, 0.5]), taeda.tensor([0, 5])
    >>> x = taeda.quantize_per_channel(taeda.ones(2, 3), scales, zeros, 0, taeda.qint8)
    >>> taeda.q_per_channel_zero_points(x)
    tensor([0, 5])
    """
    zeros: Tensor = _channels(self, "q_per_channel_zero_points").zero_point
    return zeros.clone()


def q_per_channel_axis(self: Tensor) -> int:
    """The dimension whose places are the channels. RuntimeError for one scale for all.

    >>> scales, zeros = taeda.tensor([0.1, 0.2]), taeda.tensor([0, 5])
    >>> x = taeda.quantize_per_channel(taeda.ones(2, 3), scales, zeros, 0, taeda.qint8)
    >>> taeda.q_per_channel_axis(x)
    0
    """
    axis = _channels(self, "q_per_channel_axis").axis
    assert axis is not None
    return axis


def resize_(self: Tensor, sizes: tuple[int, ...], memory_format: Any) -> Tensor:
    """Other sizes of a tensor with one scale: its integers stay in their order, new ones are not set."""
    if memory_format not in (None, taeda.contiguous_format):
        raise RuntimeError(f"resize_: a quantized tensor stays contiguous, but got {memory_format}")
    parts = _one_scale(self, "resize_")
    if tuple(sizes) != tuple(self.shape):
        integers = parts.integers.detach()  # views of the same memory keep their sizes
        integers.resize_(sizes)
        self.data = tensor_of(parts.like(integers))
    return self
