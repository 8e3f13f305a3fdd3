"""Convolutions: samples join the batch, or become groups where each has a kernel of its own."""

from __future__ import annotations

from typing import Any

from ._batched import WIDE, Level, rank
from ._registry import Decline, rule

__all__: list[str] = []


@rule("conv1d", "conv2d", "conv3d")
def _conv(
    level: Level,
    func: Any,
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    spatial = rank(weight) - 2
    single = rank(x) == spatial + 1
    if not single and rank(x) != spatial + 2:
        raise Decline
    if bias is not None and bias.shape != weight.shape[:1]:
        raise Decline
    options = (stride, padding, dilation)
    own = level.on(weight) or (bias is not None and level.on(bias))
    if bias is not None and own and x.dtype in WIDE:  # the sum is rounded once
        return _grouped(level, func, x, level.full(weight), (*options, groups), single, bias)
    if not level.on(weight):
        shared = None if bias is not None and level.on(bias) else bias
        made = _joined(level, func, x, weight, shared, (*options, groups), single)
    else:
        made, shared = _grouped(level, func, x, weight._value, (*options, groups), single), None
    if bias is None or shared is not None:
        return made
    shift = level.full(bias).reshape(level.size, *[1] * (not single), -1, *[1] * spatial)
    return made + shift


def _joined(
    level: Level, func: Any, x: Any, weight: Any, bias: Any, options: Any, single: bool
) -> Any:
    value = level.full(x)
    if single:
        return func(value, weight, bias, *options)
    made = func(value.reshape(-1, *value.shape[2:]), weight, bias, *options)
    return made.reshape(*value.shape[:2], *made.shape[1:])


def _grouped(
    level: Level, func: Any, x: Any, kernels: Any, options: Any, single: bool, bias: Any = None
) -> Any:
    value = level.full(x)
    value = value.unsqueeze(1) if single else value  # (B, N, C, ...)
    count, batch, channels = value.shape[:3]
    merged = value.transpose(0, 1).reshape(batch, count * channels, *value.shape[3:])
    filters = kernels.reshape(-1, *kernels.shape[2:])
    *rest, groups = options
    shift = None if bias is None else level.full(bias).reshape(-1)
    made = func(merged, filters, shift, *rest, groups * count)
    made = made.reshape(batch, count, -1, *made.shape[2:]).transpose(0, 1)
    return made.squeeze(1) if single else made
