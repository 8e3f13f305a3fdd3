"""Functions of quantized tensors, as `nn.functional` has them of floats.

Each refuses a plain tensor with ValueError, as PyTorch does: `quantize_per_tensor` quantizes it.
"""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api.doors import require_tensors
from taeda.quantization import _kernels
from taeda.quantization._activations import mapped
from taeda.quantization._parts import is_quantized

__all__ = [
    "adaptive_avg_pool2d", "adaptive_avg_pool3d", "avg_pool2d", "avg_pool3d", "celu", "clamp", "conv1d",
    "conv2d", "conv3d", "elu", "hardsigmoid", "hardswish", "hardtanh", "interpolate", "leaky_relu",
    "linear", "max_pool1d", "max_pool2d", "threshold", "upsample", "upsample_bilinear",
    "upsample_nearest",
]  # fmt: skip

F = nn.functional


def _refuse(input: Tensor, name: str) -> None:
    require_tensors(name, input=input)
    if not is_quantized(input):
        raise ValueError(
            f"Input to 'quantized.{name}' must be quantized, but got {input.dtype}: use quantize_per_tensor"
        )


# ---- pooling ----


def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Averages of windows (samples, channels, height, width); the arguments are those of
    `nn.functional.avg_pool2d`. The result has the scale of `input`.

    Args:
        input: the quantized tensor.
        kernel_size, stride, padding, ceil_mode: as in `nn.functional.avg_pool2d` (defaults:
            stride None, padding 0, ceil_mode False).
        count_include_pad, divisor_override: as there (defaults: count_include_pad True,
            divisor_override None).

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.avg_pool2d(x, 2).shape
    taeda.Size([1, 2, 2, 2])
    """
    _refuse(input, "avg_pool2d")
    return F.avg_pool2d(
        input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Averages of windows (samples, channels, depth, height, width); the arguments are those of
    `nn.functional.avg_pool3d`. The result has the scale of `input`.

    Args:
        input: the quantized tensor.
        kernel_size, stride, padding, ceil_mode: as in `nn.functional.avg_pool3d` (defaults:
            stride None, padding 0, ceil_mode False).
        count_include_pad, divisor_override: as there (defaults: count_include_pad True,
            divisor_override None).

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.avg_pool3d(x, 2).shape
    taeda.Size([1, 2, 2, 2, 2])
    """
    _refuse(input, "avg_pool3d")
    return F.avg_pool3d(
        input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Averages of as many windows as `output_size` (height, width) says, with the scale of `input`.

    Args:
        input: the quantized tensor.
        output_size: numbers of windows, or one number for all dimensions; None keeps a size.

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.adaptive_avg_pool2d(x, 2).shape
    taeda.Size([1, 2, 2, 2])
    """
    _refuse(input, "adaptive_avg_pool2d")
    return F.adaptive_avg_pool2d(input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Averages of as many windows as `output_size` (depth, height, width) says. The result has the scale of
    `input`.

    Args:
        input: the quantized tensor.
        output_size: numbers of windows, or one number for all dimensions; None keeps a size.

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.adaptive_avg_pool3d(x, 1).shape
    taeda.Size([1, 2, 1, 1, 1])
    """
    _refuse(input, "adaptive_avg_pool3d")
    return F.adaptive_avg_pool3d(input, output_size)


def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """Greatest numbers of windows (samples, channels, length); the arguments are those of
    `nn.functional.max_pool1d`. NotImplementedError for indices.

    Args:
        input: the quantized tensor.
        kernel_size, stride, padding, dilation, ceil_mode: as in `nn.functional.max_pool1d`
            (defaults: stride None, padding 0, dilation 1, ceil_mode False).
        return_indices: False; indices are refused.

    >>> x = taeda.quantize_per_tensor(taeda.tensor([[[1.0, 3.0, 2.0, 0.0]]]), 0.5, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.max_pool1d(x, 2).dequantize().tolist()
    [[[3.0, 2.0]]]
    """
    _refuse(input, "max_pool1d")
    _no_indices(return_indices)
    made: Tensor = F.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)
    return made


def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """Greatest numbers of windows (samples, channels, height, width); the arguments are those of
    `nn.functional.max_pool2d`. NotImplementedError for indices.

    Args:
        input: the quantized tensor.
        kernel_size, stride, padding, dilation, ceil_mode: as in `nn.functional.max_pool2d`
            (defaults: stride None, padding 0, dilation 1, ceil_mode False).
        return_indices: False; indices are refused.

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.max_pool2d(x, 2).shape
    taeda.Size([1, 2, 2, 2])
    """
    _refuse(input, "max_pool2d")
    _no_indices(return_indices)
    made: Tensor = F.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)
    return made


def _no_indices(return_indices: bool) -> None:
    if return_indices:
        raise NotImplementedError("return_indices is not yet implemented for quantized tensors")


# ---- layers ----


def _zeros(rank: int, value: Any) -> tuple[int, ...]:
    return (int(value),) * rank if isinstance(value, int) else tuple(int(n) for n in value)


def _conv(
    rank: int,
    input: Tensor,
    weight: Tensor,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    padding_mode: str,
    scale: float,
    zero_point: int,
    dtype: Any,
) -> Tensor:
    require_tensors(f"conv{rank}d", input=input, weight=weight)
    if padding_mode != "zeros":
        raise NotImplementedError(f"only padding with zeros is supported, but got {padding_mode!r}")
    if input.dtype is not taeda.quint8:
        raise NotImplementedError(f"a quantized conv{rank}d takes quint8, but got {input.dtype}")
    if input.dim() != rank + 2:
        raise ValueError(f"conv{rank}d wants {rank + 2} dimensions, but got {tuple(input.shape)}")
    stride, padding, dilation = (_zeros(rank, x) for x in (stride, padding, dilation))
    return _kernels.convolution(
        input, weight, bias, stride, padding, dilation, groups, scale, zero_point, False, dtype
    )


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    padding_mode: str = "zeros",
    scale: float = 1.0,
    zero_point: int = 0,
    dtype: Any = taeda.quint8,
) -> Tensor:
    """A convolution of quint8 (samples, channels, length) with a weight in qint8 and a bias in float32.

    Args:
        input, weight, bias, stride, padding, dilation, groups: as in `nn.functional.conv1d`
            (defaults: stride 1, padding 0, dilation 1, groups 1).
        padding_mode: "zeros".
        scale, zero_point, dtype: those of the result (defaults: scale 1.0, zero_point 0).

    NotImplementedError for another padding or dtype, RuntimeError for a weight in float.

    >>> x = taeda.quantize_per_tensor(taeda.tensor([[[1.0, 3.0, 2.0]]]), 0.5, 0, taeda.quint8)
    >>> weight = taeda.quantize_per_tensor(taeda.tensor([[[1.0, 0.5]]]), 0.5, 0, taeda.qint8)
    >>> made = taeda.ao.nn.quantized.functional.conv1d(x, weight, None, scale=0.5)
    >>> made.dequantize().tolist()
    [[[2.5, 4.0]]]
    """
    return _conv(
        1,
        input,
        weight,
        bias,
        stride,
        padding,
        dilation,
        groups,
        padding_mode,
        scale,
        zero_point,
        dtype,
    )


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    padding_mode: str = "zeros",
    scale: float = 1.0,
    zero_point: int = 0,
    dtype: Any = taeda.quint8,
) -> Tensor:
    """As `conv1d`, of (samples, channels, height, width).

    Args:
        input, weight, bias, stride, padding, dilation, groups: as in `nn.functional.conv2d`
            (defaults: stride 1, padding 0, dilation 1, groups 1).
        padding_mode: "zeros".
        scale, zero_point, dtype: those of the result (defaults: scale 1.0, zero_point 0).

    >>> x = taeda.quantize_per_tensor(taeda.ones(1, 1, 4, 4), 0.5, 0, taeda.quint8)
    >>> weight = taeda.quantize_per_tensor(taeda.ones(2, 1, 3, 3), 0.5, 0, taeda.qint8)
    >>> made = taeda.ao.nn.quantized.functional.conv2d(x, weight, taeda.tensor([0.0, 1.0]))
    >>> made.shape, made.dequantize().amax((0, 2, 3)).tolist()
    (taeda.Size([1, 2, 2, 2]), [9.0, 10.0])
    """
    return _conv(
        2,
        input,
        weight,
        bias,
        stride,
        padding,
        dilation,
        groups,
        padding_mode,
        scale,
        zero_point,
        dtype,
    )


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    padding_mode: str = "zeros",
    scale: float = 1.0,
    zero_point: int = 0,
    dtype: Any = taeda.quint8,
) -> Tensor:
    """As `conv1d`, of (samples, channels, depth, height, width).

    Args:
        input, weight, bias, stride, padding, dilation, groups: as in `nn.functional.conv3d`
            (defaults: stride 1, padding 0, dilation 1, groups 1).
        padding_mode: "zeros".
        scale, zero_point, dtype: those of the result (defaults: scale 1.0, zero_point 0).

    >>> x = taeda.quantize_per_tensor(taeda.ones(1, 1, 4, 4, 4), 0.5, 0, taeda.quint8)
    >>> weight = taeda.quantize_per_tensor(taeda.ones(2, 1, 3, 3, 3), 0.5, 0, taeda.qint8)
    >>> taeda.ao.nn.quantized.functional.conv3d(x, weight, None).shape
    taeda.Size([1, 2, 2, 2, 2])
    """
    return _conv(
        3,
        input,
        weight,
        bias,
        stride,
        padding,
        dilation,
        groups,
        padding_mode,
        scale,
        zero_point,
        dtype,
    )


def linear(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    scale: float | None = None,
    zero_point: int | None = None,
) -> Tensor:
    """A linear layer on integers (..., in) with a weight (out, in) in qint8 and a bias in float32; without
    `scale` and `zero_point` the result has those of `input`.

    Args:
        input: the quantized tensor.
        weight, bias: the weight in qint8, the bias in float32 (out,) or None.
        scale, zero_point: those of the result, or None.

    >>> x = taeda.quantize_per_tensor(taeda.tensor([[4.0, 2.0]]), 0.5, 0, taeda.quint8)
    >>> weight = taeda.quantize_per_tensor(taeda.tensor([[1.0, -0.5]]), 0.5, 0, taeda.qint8)
    >>> taeda.ao.nn.quantized.functional.linear(x, weight).dequantize().tolist()
    [[3.0]]
    """
    _refuse(input, "linear")
    require_tensors("linear", weight=weight)
    scale = input.q_scale() if scale is None else scale
    zero_point = input.q_zero_point() if zero_point is None else zero_point
    return _kernels.linear(input, weight, bias, scale, zero_point)


# ---- activations ----


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """`input` clamped to `min_val` and `max_val`, with its scale; written into it if `inplace`.

    Args:
        input: the quantized tensor.
        min_val, max_val: the bounds (defaults: min_val -1.0, max_val 1.0).
        inplace: whether the result is written into `input` (default: False).

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.hardtanh(x, 0.0, 0.5).shape
    taeda.Size([1, 2, 4, 4])
    """
    _refuse(input, "hardtanh")
    return input.clamp_(min_val, max_val) if inplace else input.clamp(min_val, max_val)


def clamp(input: Tensor, min_: float, max_: float) -> Tensor:
    """`input` clamped to `min_` and `max_`, with its scale.

    Args:
        input: the quantized tensor.
        min_, max_: the bounds.

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.clamp(x, 0.0, 0.5).shape
    taeda.Size([1, 2, 4, 4])
    """
    _refuse(input, "clamp")
    return input.clamp(min_, max_)


def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """`input` above `threshold`, `value` elsewhere, with its scale. ValueError without numbers.

    Args:
        input: the quantized tensor.
        threshold: what numbers are compared with.
        value: what takes the place of the others.

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.threshold(x, 0.1, 0.0).shape
    taeda.Size([1, 2, 4, 4])
    """
    _refuse(input, "threshold")
    if threshold is None or value is None:
        raise ValueError("threshold and value are numbers, but got None")
    return F.threshold(input, threshold, value)


def elu(input: Tensor, scale: float, zero_point: int, alpha: float = 1.0) -> Tensor:
    """`x` above 0, `alpha * (exp(x) - 1)` below; `scale` and `zero_point` are those of the result.

    Args:
        input: the quantized tensor.
        scale, zero_point: those of the result.
        alpha: how far results go below 0 (default: 1.0).

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.elu(x, 0.1, 0).shape
    taeda.Size([1, 2, 4, 4])
    """
    _refuse(input, "elu")
    return mapped(input, "elu", lambda x: F.elu(x, alpha), scale, zero_point)


def celu(input: Tensor, scale: float, zero_point: int, alpha: float = 1.0) -> Tensor:
    """`x` above 0, `alpha * (exp(x / alpha) - 1)` below; `scale` and `zero_point` are those of the result.

    Args:
        input: the quantized tensor.
        scale, zero_point: those of the result.
        alpha: how far results go below 0 (default: 1.0).

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.celu(x, 0.1, 0).shape
    taeda.Size([1, 2, 4, 4])
    """
    _refuse(input, "celu")
    return mapped(input, "celu", lambda x: F.celu(x, alpha), scale, zero_point)


def leaky_relu(
    input: Tensor,
    negative_slope: float = 0.01,
    inplace: bool = False,
    scale: float | None = None,
    zero_point: int | None = None,
) -> Tensor:
    """`x` above 0, `negative_slope * x` below; `scale` and `zero_point` are those of the result, without them
    it has those of `input` and is written into it if `inplace`.

    Args:
        input: the quantized tensor.
        negative_slope: the factor below 0 (default: 0.01).
        inplace: whether the result is written into `input` (default: False).
        scale, zero_point: those of the result, or None.

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.leaky_relu(x, 0.1).shape
    taeda.Size([1, 2, 4, 4])
    """
    _refuse(input, "leaky_relu")
    if scale is not None and zero_point is not None:
        if inplace:
            raise AssertionError("a result with a scale of its own is not written into the input")
        return mapped(
            input, "leaky_relu", lambda x: F.leaky_relu(x, negative_slope), scale, zero_point
        )
    made = F.leaky_relu(input, negative_slope)
    return input.copy_(made) if inplace else made


def hardswish(input: Tensor, scale: float, zero_point: int) -> Tensor:
    """`x * min(max(x + 3, 0), 6) / 6`; `scale` and `zero_point` are those of the result.

    Args:
        input: the quantized tensor.
        scale, zero_point: those of the result.

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.hardswish(x, 0.1, 0).shape
    taeda.Size([1, 2, 4, 4])
    """
    _refuse(input, "hardswish")
    return mapped(input, "hardswish", F.hardswish, scale, zero_point)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """`min(max(x + 3, 0), 6) / 6`, with the scale that holds 0 to 1; written into `input` if `inplace`.

    Args:
        input: the quantized tensor.
        inplace: whether the result is written into `input` (default: False).

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.hardsigmoid(x).shape
    taeda.Size([1, 2, 4, 4])
    """
    _refuse(input, "hardsigmoid")
    made = F.hardsigmoid(input)
    return input.copy_(made) if inplace else made


# ---- resampling ----


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """`input` (samples, channels, ...) in another size, with its scale; the arguments are those of
    `nn.functional.interpolate`.

    Args:
        input: the quantized tensor.
        size, scale_factor: the new sizes, or the factor to them (default: None).
        mode, align_corners: as in `nn.functional.interpolate` (defaults: mode "nearest",
            align_corners None).

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.interpolate(x, scale_factor=2).shape
    taeda.Size([1, 2, 8, 8])
    """
    _refuse(input, "interpolate")
    return F.interpolate(input, size, scale_factor, mode, align_corners)


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The old name of `interpolate`.

    Args:
        input, size, scale_factor, mode, align_corners: as in `interpolate` (defaults: size
            None, scale_factor None, mode "nearest", align_corners None).

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.upsample(x, scale_factor=2).shape
    taeda.Size([1, 2, 8, 8])
    """
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` between neighbours, corners kept.

    Args:
        input, size, scale_factor: as in `interpolate` (default: None).

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.upsample_bilinear(x, scale_factor=2).shape
    taeda.Size([1, 2, 8, 8])
    """
    return interpolate(input, size, scale_factor, "bilinear", True)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with nearest neighbours.

    Args:
        input, size, scale_factor: as in `interpolate` (default: None).

    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 2, 4, 4), 1 / 128, 0, taeda.quint8)
    >>> taeda.ao.nn.quantized.functional.upsample_nearest(x, scale_factor=2).shape
    taeda.Size([1, 2, 8, 8])
    """
    return interpolate(input, size, scale_factor, "nearest")
