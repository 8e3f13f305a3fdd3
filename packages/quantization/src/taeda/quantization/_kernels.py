"""Layers on integers: sums in int32, then one rounding of each result, as PyTorch's kernels do it.

A result is `rint((sum + bias / (sx * sw)) * (sx * sw / sy)) + zero`: sx, sw and sy are the scales of input,
weight and result, and all of it but the sum is float32. With the scale of each input's own range (dynamic) it
is a float, `sum * (sx * sw) + bias`, rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor

from ._affine import LIMITS, STORED, integers_of
from ._make import dynamic_parameters
from ._parts import Quantized, is_quantized, parts_of, per_tensor
from .rules._registry import one_scale

__all__ = [
    "convolution", "convolution_sums", "dynamic_linear", "linear", "linear_sums", "requantized_sums",
    "transposed_sums", "weight_of",
]  # fmt: skip

_F32 = taeda.float32


def weight_of(weight: Tensor, name: str) -> Quantized:
    """The parts of a weight; RuntimeError unless it is in qint8."""
    if not is_quantized(weight):
        raise RuntimeError(f"{name}: wanted a weight in qint8, but got {weight.dtype}")
    parts = parts_of(weight, name)
    if parts.dtype is not taeda.qint8:
        raise RuntimeError(f"{name}: wanted a weight in qint8, but got {parts.dtype}")
    return parts


def _zeros_of(parts: Quantized) -> Tensor | int:
    """Zero points of a weight: 0 where they all are."""
    zeros: Tensor | int = parts.zero_point
    return 0 if isinstance(zeros, Tensor) and not bool(zeros.any()) else zeros


def _scales_of(parts: Quantized) -> Tensor:
    """Scales in float32: one, or one for each channel."""
    if parts.axis is None:
        return taeda.tensor([parts.scale], dtype=_F32)
    found: Tensor = parts.scale
    return found.float()


def _small(x: Quantized) -> tuple[Tensor, int]:
    """(int8 integers, the zero point that belongs to them)."""
    if x.dtype is taeda.qint8:
        return x.integers, x.zero_point
    if x.dtype is not taeda.quint8:
        raise RuntimeError(f"a layer on integers takes quint8 or qint8, but got {x.dtype}")
    return (x.integers.contiguous() ^ 128).view(taeda.int8), x.zero_point - 128


def _product(
    rows: Tensor, zero: int, weight: Tensor, sums: Tensor, weight_zero: Tensor | int
) -> Tensor:
    """(rows - zero) @ (weight - weight_zero).T in int32, of int8 (m, k) and (n, k), whose rows have these
    sums.
    """
    made = taeda._int_mm(rows.contiguous(), weight.t())
    if zero:
        made = made - zero * sums
    if isinstance(weight_zero, int) and not weight_zero:
        return made
    centred = rows.sum(1, dtype=taeda.int32) - zero * rows.shape[1]
    shift = weight_zero if isinstance(weight_zero, int) else weight_zero.to(taeda.int32)
    return made - centred.unsqueeze(1) * shift


def linear_sums(x: Quantized, weight: Quantized) -> Tensor:
    """The sums of `x @ weight.T` in int32, zero points taken off."""
    rows, zero = _small(x)
    flat = rows.reshape(-1, rows.shape[-1])
    if flat.shape[1] != weight.integers.shape[1]:
        raise RuntimeError(
            f"linear: wanted {weight.integers.shape[1]} input features, but got {flat.shape[1]}"
        )
    made = _product(flat, zero, weight.integers, weight.row_sums(), _zeros_of(weight))
    return made.reshape(*rows.shape[:-1], -1)


def requantized_sums(
    sums: Tensor, x: Quantized, weight: Quantized, bias: Tensor | None, scale: float, zero: int,
    relu: bool = False, channel: int = -1, dtype: Any = None,
) -> Tensor:  # fmt: skip
    """Sums, whose channels lie along `channel`, as integers with this scale."""
    dtype = dtype or x.dtype
    shape = [1] * sums.dim()
    shape[channel] = -1
    both = taeda.tensor([x.scale], dtype=_F32) * _scales_of(weight)
    made = sums.float()
    if bias is not None:
        made = made + (bias.detach() / both).reshape(shape)
    factor = (both / taeda.tensor(scale, dtype=_F32)).reshape(shape)
    low, high = LIMITS[dtype]
    rounded = (made * factor).round() + float(zero)
    integers = rounded.clamp(max(zero, low) if relu else low, high).to(STORED[dtype])
    return per_tensor(integers, scale, zero, dtype)


def linear(
    x: Tensor, weight: Tensor, bias: Tensor | None, scale: float, zero: int, relu: bool = False
) -> Tensor:
    """A linear layer on integers (..., in) with a weight (out, in) in qint8 and a bias in float32."""
    own, factor = one_scale(x, "quantized linear"), weight_of(weight, "linear")
    sums = linear_sums(own, factor)
    return requantized_sums(sums, own, factor, bias, scale, zero, relu)


def dynamic_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None, reduce_range: bool = True, relu: bool = False
) -> Tensor:
    """A linear layer on floats (..., in), which become integers with the scale of their own range."""
    factor = weight_of(weight, "dynamic linear")
    if is_quantized(x) or x.dtype is not _F32:
        raise RuntimeError(f"dynamic linear: wanted float32, but got {x.dtype}")
    if not x.numel():
        return x.new_zeros((*x.shape[:-1], factor.integers.shape[0]))
    scale, zero = dynamic_parameters(x, taeda.quint8, reduce_range)
    integers = integers_of(x.detach(), scale, zero, taeda.quint8)
    own = Quantized(integers, taeda.quint8, scale, zero, None, taeda.per_tensor_affine)
    both = taeda.tensor([scale], dtype=_F32) * _scales_of(factor)
    exact = linear_sums(own, factor).double() * both.double()
    made = (exact if bias is None else exact + bias.detach().double()).float()
    return made.relu() if relu else made


# ---- convolutions ----


def _windows(
    x: Tensor, size: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> Tensor:
    """(samples, channels, places..., offsets...) of int8 that are padded already: a view."""
    reach = [d * (n - 1) + 1 for n, d in zip(size, dilation, strict=True)]
    for dim, (n, step) in enumerate(zip(reach, stride, strict=True)):
        if x.shape[dim + 2] < n:
            raise RuntimeError(
                f"convolution: a window of {tuple(reach)} does not fit into {tuple(x.shape[2:])}"
            )
        x = x.unfold(dim + 2, n, step)
    every = tuple(slice(None, None, d) for d in dilation)
    return x[(..., *every)] if any(d > 1 for d in dilation) else x


def _padded(x: Tensor, padding: Sequence[int], zero: int) -> Tensor:
    if not any(padding):
        return x
    flat = [n for p in reversed(padding) for n in (p, p)]
    return taeda.nn.functional.pad(x, flat, value=zero)


def convolution_sums(
    x: Quantized, weight: Quantized, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], groups: int,
) -> Tensor:  # fmt: skip
    """The sums of a convolution in int32 (samples, out, places...), zero points taken off."""
    small, zero = _small(x)
    factor = weight.integers
    out, each = factor.shape[0] // groups, factor.shape[1]
    if small.dim() != factor.dim() or small.shape[1] != each * groups:
        raise RuntimeError(
            f"convolution: wanted {each * groups} channels in {factor.dim()} dimensions, but got a tensor of "
            f"shape {tuple(small.shape)}"
        )
    seen = _windows(_padded(small, padding, zero), factor.shape[2:], stride, dilation)
    rank = factor.dim() - 2
    places = seen.shape[2 : 2 + rank]
    order = [0, *range(2, 2 + rank), 1, *range(2 + rank, 2 + 2 * rank)]
    made = []
    for group in range(groups):
        part = seen[:, group * each : (group + 1) * each].permute(order)
        rows = part.reshape(-1, each * math.prod(factor.shape[2:]))
        mine = slice(group * out, (group + 1) * out)
        own, sums = factor[mine].reshape(out, -1), weight.row_sums()[mine]
        shift = _zeros_of(weight)
        if isinstance(shift, Tensor):
            shift = shift[mine]
        made.append(_product(rows, zero, own, sums, shift))
    total = taeda.cat(made, 1) if groups > 1 else made[0]
    return total.reshape(small.shape[0], *places, -1).movedim(-1, 1)


def transposed_sums(
    x: Quantized, weight: Quantized, stride: Sequence[int], padding: Sequence[int],
    output_padding: Sequence[int], dilation: Sequence[int], groups: int,
) -> Tensor:  # fmt: skip
    """The sums of a transposed convolution, of a weight (in, out / groups, ...): a convolution of the input
    with its numbers `stride` apart, with the weight turned around.
    """
    factor = weight.integers
    rank = factor.dim() - 2
    size = factor.shape[2:]
    spread = _spread(x, stride, output_padding)
    grouped = factor.reshape(groups, -1, *factor.shape[1:]).transpose(1, 2)
    turned = grouped.reshape(-1, *grouped.shape[2:]).flip(tuple(range(2, 2 + rank)))
    inner = [d * (n - 1) - p for n, d, p in zip(size, dilation, padding, strict=True)]
    if min(inner) < 0:
        raise NotImplementedError(
            f"a transposed convolution on integers with padding {tuple(padding)} beyond its window "
            f"{tuple(size)}"
        )
    own = Quantized(turned, weight.dtype, weight.scale, weight.zero_point, None, weight.scheme)
    return convolution_sums(spread, own, [1] * rank, inner, dilation, groups)


def _spread(x: Quantized, stride: Sequence[int], more: Sequence[int]) -> Quantized:
    """Numbers `stride` apart, zeros between them, and `more` zeros behind the last."""
    sizes = [
        (n - 1) * s + 1 + m for n, s, m in zip(x.integers.shape[2:], stride, more, strict=True)
    ]
    wide = taeda.full((*x.integers.shape[:2], *sizes), x.zero_point, dtype=x.integers.dtype)
    ends = [(n - 1) * s + 1 for n, s in zip(x.integers.shape[2:], stride, strict=True)]
    wide[(..., *(slice(0, end, s) for end, s in zip(ends, stride, strict=True)))] = x.integers
    return x.like(wide)


def convolution(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], groups: int, scale: float, zero: int, relu: bool = False, dtype: Any = None,
) -> Tensor:  # fmt: skip
    """A convolution on integers (samples, channels, ...), with a weight in qint8 and a bias in float32."""
    own, factor = one_scale(x, "quantized convolution"), weight_of(weight, "convolution")
    sums = convolution_sums(own, factor, stride, padding, dilation, groups)
    return requantized_sums(sums, own, factor, bias, scale, zero, relu, 1, dtype)
