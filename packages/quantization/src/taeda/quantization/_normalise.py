"""Batch normalisation of quantized tensors, with the statistics of training."""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda._core_api.doors import asks

from ._affine import LIMITS, STORED
from ._make import checked_scale
from ._parts import per_tensor
from .rules._registry import one_scale

__all__ = ["batch_norm", "quantized_batch_norm"]


def batch_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    scale: float,
    zero_point: int,
    relu: bool = False,
) -> Tensor:
    """`quantized_batch_norm`, and no integer below the zero point if `relu`."""
    name = "quantized_batch_norm"
    parts = one_scale(x, name)
    if x.dim() < 2 or x.shape[1] != mean.numel():
        raise RuntimeError(
            f"{name}: wanted {mean.numel()} channels in dimension 1, but got {tuple(x.shape)}"
        )
    scale, zero_point = checked_scale(scale, zero_point, parts.dtype, name)
    factor = 1 / (var + eps).sqrt()
    factor = factor if weight is None else factor * weight
    shift = -mean * factor if bias is None else bias - mean * factor
    own, made = (taeda.tensor(s, dtype=taeda.float32) for s in (parts.scale, scale))
    shape = (1, -1, *(1,) * (x.dim() - 2))
    slope, start = ((factor * (own / made)).reshape(shape), (shift / made).reshape(shape))
    centred = parts.integers.to(taeda.int64) - parts.zero_point
    exact = centred.double() * slope.double() + start.double()
    low, high = LIMITS[parts.dtype]
    rounded = exact.float().round() + float(zero_point)
    integers = rounded.clamp(zero_point if relu else low, high).to(STORED[parts.dtype])
    return per_tensor(integers, scale, zero_point, parts.dtype)


@asks
def quantized_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
    """Normalise the channels of a quantized tensor with statistics that are there.

    Args:
        input: a quantized tensor (samples, channels, ...) with one scale.
        weight, bias: factor and summand in float32, (channels), or None.
        mean, var: the statistics in float32, (channels).
        eps: what is added to the variance.
        output_scale, output_zero_point: those of the result.

    NotImplementedError for a plain tensor, RuntimeError for sizes that do not fit and a scale that is not
    above 0.

    >>> import taeda
    >>> x = taeda.quantize_per_tensor(taeda.ones(1, 1, 2, 2), 0.1, 0, taeda.quint8)
    >>> one = taeda.ones(1)
    >>> taeda.quantized_batch_norm(x, one, one, one, one, 0.0, 0.1, 0).int_repr().flatten().tolist()
    [10, 10, 10, 10]
    """
    return batch_norm(input, weight, bias, mean, var, eps, output_scale, output_zero_point)
