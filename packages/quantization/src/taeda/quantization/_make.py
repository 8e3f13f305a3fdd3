"""Floats become quantized tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.doors import asks, require_tensors
from taeda._core_api.layouts import require_plain
from taeda._core_api.quantization import choose_parameters

from ._affine import LIMITS, STORED, channel_integers, integers_of, refuse_dtype
from ._parts import per_channel, per_tensor

__all__ = [
    "_empty_affine_quantized", "_make_per_channel_quantized_tensor",
    "_make_per_tensor_quantized_tensor", "check_channels", "checked_scale", "dynamic_parameters",
    "quantize_per_channel", "quantize_per_tensor", "quantize_per_tensor_dynamic",
]  # fmt: skip


def _refuse_input(x: Any, name: str) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}: wanted a Tensor, but got {type(x).__name__}")
    require_plain(f"{name}: the input", x)
    if x.dtype is not taeda.float32:
        raise RuntimeError(f"{name}: only float32 is quantized, but got {x.dtype}: use x.float()")


def checked_scale(scale: float, zero_point: int, dtype: Any, name: str) -> tuple[float, int]:
    """Scale and zero point; RuntimeError for a scale that is not above 0, and a zero point out of range."""
    refuse_dtype(dtype, name)
    if not (scale > 0 and math.isfinite(scale)):
        raise RuntimeError(f"{name}: wanted a finite scale above 0, but got {scale}")
    low, high = LIMITS[dtype]
    if not low <= zero_point <= high:
        raise RuntimeError(
            f"{name}: zero_point {zero_point} is out of the range of {dtype}, {low} to {high}"
        )
    return float(scale), int(zero_point)


def _whole(zero_point: Any, name: str) -> int:
    """TypeError for a number that is no integer, where cutting it off would move every result."""
    number = zero_point.item() if isinstance(zero_point, Tensor) else zero_point
    whole = int(number) if isinstance(number, float) and number.is_integer() else number
    if isinstance(whole, int):
        return whole
    raise TypeError(f"{name}: zero_point must be an integer, but got {number!r}")


@asks
def quantize_per_tensor(input: Any, scale: Any, zero_point: Any, dtype: Any) -> Any:
    """`clamp(round(input / scale + zero_point))` as integers that know their scale.

    Args:
        input: a tensor in float32, or a list of such.
        scale: a number above 0, or a tensor of one; for a list one for each tensor.
        zero_point: the integer that stands for 0, within the range of `dtype`; a number or a tensor
            of one.
        dtype: `quint8`, `qint8`, `qint32`, `quint4x2` or `quint2x4`.

    Returns a tensor of the shape of `input`, or a tuple of them. It has no gradient. NaN becomes the
    greatest integer, or of 32 bits the least. RuntimeError for another dtype of the input, for a scale that
    is not above 0, and for a zero point out of range.

    >>> import taeda
    >>> q = taeda.quantize_per_tensor(taeda.tensor([-1.0, 0.0, 1.26]), 0.5, 10, taeda.quint8)
    >>> q.int_repr().tolist(), q.dequantize().tolist()
    ([8, 10, 13], [-1.0, 0.0, 1.5])
    """
    name = "quantize_per_tensor"
    if isinstance(input, (list, tuple)):
        scales, zeros = list(scale), list(zero_point)
        if not len(input) == len(scales) == len(zeros):
            raise RuntimeError(
                f"{name}: {len(input)} tensors want as many scales and zero points, but got "
                f"{len(scales)} and {len(zeros)}"
            )
        each = zip(input, scales, zeros, strict=True)
        return tuple(quantize_per_tensor(x, s, z, dtype) for x, s, z in each)
    _refuse_input(input, name)
    for what, part in (("scale", scale), ("zero_point", zero_point)):
        require_plain(f"{name}: {what}", part)
    scale = scale.item() if isinstance(scale, Tensor) else scale
    scale, zero_point = checked_scale(scale, _whole(zero_point, name), dtype, name)
    made = integers_of(input.detach(), scale, zero_point, dtype)
    return per_tensor(made, scale, zero_point, dtype)


@asks
def quantize_per_tensor_dynamic(input: Tensor, dtype: Any, reduce_range: bool) -> Tensor:
    """`quantize_per_tensor` with a scale and a zero point for the range of `input`.

    Args:
        input: a tensor in float32 with at least one number, all of them finite.
        dtype: `quint8` or `qint8`; `float16` gives the numbers in that dtype, without a scale.
        reduce_range: whether 7 of the 8 bits are used, as kernels want whose sums have 16 bits.

    RuntimeError for no numbers, for NaN and infinite ones.

    >>> import taeda
    >>> q = taeda.quantize_per_tensor_dynamic(taeda.tensor([0.0, 51.0]), taeda.quint8, False)
    >>> q.q_scale(), q.q_zero_point()
    (0.2, 0)
    """
    name = "quantize_per_tensor_dynamic"
    _refuse_input(input, name)
    if dtype is taeda.float16:
        return input.to(dtype)
    if dtype not in (taeda.quint8, taeda.qint8):
        raise RuntimeError(f"{name}: wanted quint8, qint8 or float16, but got {dtype}")
    if not input.numel():
        raise RuntimeError(f"{name}: the input has no numbers, so no range")
    scale, zero_point = dynamic_parameters(input, dtype, reduce_range)
    made = integers_of(input.detach(), scale, zero_point, dtype)
    return per_tensor(made, scale, zero_point, dtype)


def dynamic_parameters(x: Tensor, dtype: Any, reduce_range: bool) -> tuple[float, int]:
    """Scale and zero point of the range of `x`; RuntimeError for numbers that are not finite."""
    least, most = (end.item() for end in x.detach().aminmax())
    if not (math.isfinite(least) and math.isfinite(most)):
        raise RuntimeError(
            f"quantization wants finite numbers, but the range of the input is {least} to {most}"
        )
    low, high = LIMITS[dtype]
    if reduce_range:
        low, high = low // 2, high // 2
    return choose_parameters(least, most, low, high)


def _vector(values: Any, device: Any) -> Tensor:
    return values if isinstance(values, Tensor) else taeda.tensor(values, device=device)


@asks
def quantize_per_channel(
    input: Tensor, scales: Tensor, zero_points: Tensor, axis: int, dtype: Any
) -> Tensor:
    """As `quantize_per_tensor`, with a scale and a zero point for each place along `axis`.

    Args:
        input: a tensor in float32.
        scales: numbers above 0, (channels).
        zero_points: integers within the range of `dtype`, (channels); floats are kept as such, for
            embeddings.
        axis: the dimension whose places are the channels.
        dtype: `quint8`, `qint8`, `qint32`, `quint4x2` or `quint2x4`.

    RuntimeError for counts that differ, an axis that is not there, and what `quantize_per_tensor` refuses.

    >>> import taeda
    >>> x = taeda.tensor([[1.0, 2.0], [1.0, 2.0]])
    >>> q = taeda.quantize_per_channel(
    ...     x, taeda.tensor([1.0, 0.5]), taeda.tensor([0, 0]), 0, taeda.qint8
    ... )
    >>> q.int_repr().tolist()
    [[1, 2], [2, 4]]
    """
    name = "quantize_per_channel"
    _refuse_input(input, name)
    refuse_dtype(dtype, name)
    scales, zeros = (_vector(x, input.device) for x in (scales, zero_points))
    check_channels(input, scales, zeros, axis, dtype, name)
    narrow = scales.float() if zeros.is_floating_point() else scales.double()
    zeros = zeros.float() if zeros.is_floating_point() else zeros.to(taeda.int64)
    made = channel_integers(input.detach(), narrow, zeros, axis, dtype)
    return per_channel(made, narrow, zeros, axis, dtype)


def check_channels(
    x: Tensor, scales: Tensor, zeros: Tensor, axis: int, dtype: Any, name: str
) -> None:
    """RuntimeError for scales and zero points that do not fit `x` along `axis`."""
    for what, part in (("the input", x), ("scales", scales), ("zero points", zeros)):
        require_plain(f"{name}: {what}", part)
    if scales.dim() != 1 or zeros.dim() != 1 or scales.numel() != zeros.numel():
        raise RuntimeError(
            f"{name}: scales and zero points are vectors of one length, but got "
            f"{tuple(scales.shape)} and {tuple(zeros.shape)}"
        )
    if not 0 <= axis < x.dim():
        raise RuntimeError(
            f"{name}: channel axis out of range, got {axis} for {x.dim()} dimensions"
        )
    if scales.numel() != x.shape[axis]:
        raise RuntimeError(
            f"{name}: wanted {x.shape[axis]} scales, one for each place along dimension {axis}, but got "
            f"{scales.numel()}"
        )
    if not bool((scales.isfinite() & (scales > 0)).all()):
        raise RuntimeError(f"{name}: wanted finite scales above 0, but got {scales.tolist()}")
    low, high = LIMITS[dtype]
    fits = zeros.isfinite() if zeros.is_floating_point() else (zeros >= low) & (zeros <= high)
    if not bool(fits.all()):
        raise RuntimeError(f"{name}: a zero point is out of the range of {dtype}, {low} to {high}")


# ---- of integers that are there already ----


def _dtype_of(integers: Tensor, name: str) -> Any:
    require_tensors(name, input=integers)
    require_plain(f"{name}: the input", integers)
    known = {taeda.uint8: taeda.quint8, taeda.int8: taeda.qint8, taeda.int32: taeda.qint32}
    if integers.dtype not in known:
        raise RuntimeError(f"{name}: wanted uint8, int8 or int32, but got {integers.dtype}")
    return known[integers.dtype]


@asks
def _make_per_tensor_quantized_tensor(input: Tensor, scale: float, zero_point: int) -> Tensor:
    """A copy of integers (uint8, int8, int32) as a quantized tensor with this scale and zero point."""
    name = "_make_per_tensor_quantized_tensor"
    dtype = _dtype_of(input, name)
    return per_tensor(input.clone(), *checked_scale(scale, zero_point, dtype, name), dtype)


@asks
def _make_per_channel_quantized_tensor(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: int
) -> Tensor:
    """A copy of integers as a quantized tensor with scales and zero points along `axis`."""
    name = "_make_per_channel_quantized_tensor"
    dtype = _dtype_of(input, name)
    check_channels(input, scale, zero_point, axis, dtype, name)
    return per_channel(input.clone(), scale, zero_point, axis, dtype)


@asks
def _empty_affine_quantized(
    size: Sequence[int], *, scale: float = 1.0, zero_point: int = 0, dtype: Any, device: Any = None
) -> Tensor:
    """A quantized tensor of this size whose integers are not set."""
    facts = checked_scale(scale, zero_point, dtype, "_empty_affine_quantized")
    return per_tensor(taeda.empty(*size, dtype=STORED[dtype], device=device), *facts, dtype)
