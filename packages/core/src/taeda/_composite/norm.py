"""Normalisation as users call it, over the kernels that also return statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence

import taeda
from taeda import Tensor

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "native_batch_norm",
    "rms_norm",
]


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    cudnn_enable: bool,
) -> Tensor:
    """The first result of native_layer_norm."""
    return taeda.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, eps: float | None
) -> Tensor:
    """x / root of (mean square + eps), times weight; eps is the dtype's own if None.

    Half types compute in float32, whose eps then counts.
    """
    if input.is_complex():
        return _rms_norm_of_complex(input, normalized_shape, weight, eps)
    if eps is None:
        double = input.dtype == taeda.float64
        eps = taeda.finfo(taeda.float64 if double else taeda.float32).eps
    if weight is not None and weight.dtype != input.dtype:
        both = taeda.promote_types(input.dtype, weight.dtype)
        made = taeda._fused_rms_norm(input.to(both), normalized_shape, weight.to(both), eps)[0]
        return made.to(input.dtype)
    return taeda._fused_rms_norm(input, normalized_shape, weight, eps)[0]


def _rms_norm_of_complex(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, eps: float | None
) -> Tensor:
    dims = list(range(-len(normalized_shape), 0))
    small = taeda.finfo(input.dtype).eps if eps is None else eps
    result = input * ((input * input).mean(dims, True) + small).rsqrt()
    return result if weight is None else result * weight


# ---- batch and instance ----


def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """The result, and the statistics of the batch if they were used."""
    result, mean, invstd = taeda._batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )
    if not training:
        mean, invstd = mean.new_empty(0), invstd.new_empty(0)
    dtype = input.dtype if weight is None else weight.dtype
    return result, mean.detach().to(dtype), invstd.detach().to(dtype)


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """The first result of _batch_norm; an empty input keeps its shape, whatever it is."""
    if input.numel() == 0:
        scaled = input.clone() if weight is None or weight.numel() == 0 else input * weight[0]
        return scaled if bias is None or bias.numel() == 0 else scaled + bias[0]
    return taeda._batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )[0]


def _repeat(vector: Tensor | None, times: int) -> Tensor | None:
    return None if vector is None else vector.repeat(times)


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """batch_norm over samples * channels channels; running statistics get the mean over samples."""
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    samples, channels = input.shape[:2]
    flat = input.reshape(1, samples * channels, *input.shape[2:])
    mean, var = _repeat(running_mean, samples), _repeat(running_var, samples)
    result = taeda._batch_norm(
        flat,
        _repeat(weight, samples),
        _repeat(bias, samples),
        mean,
        var,
        use_input_stats,
        momentum,
        eps,
    )[0]
    if use_input_stats:
        for kept, updated in ((running_mean, mean), (running_var, var)):
            if kept is not None and updated is not None:
                kept.copy_(updated.view(samples, channels).mean(0))
    return result.view(input.shape)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """The first result of native_group_norm."""
    if input.dim() < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.dim()}"
        )
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    samples, channels = input.size(0), input.size(1)
    positions = math.prod(input.shape[2:])
    return taeda.native_group_norm(
        input, weight, bias, samples, channels, positions, num_groups, eps
    )[0]
