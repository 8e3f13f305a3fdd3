"""Batch normalisation over the batches of all ranks: what `nn.SyncBatchNorm` does once there is a group."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.autograd import Function
from taeda.nn.modules import batchnorm

from ._collectives import all_gather_into_tensor, all_reduce
from ._groups.group import ProcessGroup
from ._groups.world import world

__all__ = ["teach"]


class _Normalize(Function):
    """By the mean and variance over all ranks; the sums of its backward are over all ranks, too."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, mean: Tensor, scale: Tensor, total: float, group: Any
    ) -> Tensor:
        shape = [1, -1] + [1] * (x.dim() - 2)
        normal = (x - mean.view(shape)) * scale.view(shape)
        ctx.save_for_backward(normal, scale)
        ctx.shape, ctx.total, ctx.group = shape, total, group
        return normal

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        normal, scale = ctx.saved_tensors
        dims = [0, *range(2, grad.dim())]
        sums = taeda.cat([grad.sum(dims), (grad * normal).sum(dims)])
        all_reduce(sums, group=ctx.group)
        first, second = (part.view(ctx.shape) / ctx.total for part in sums.chunk(2))
        return (grad - first - normal * second) * scale.view(ctx.shape), None, None, None, None


def _statistics(x: Tensor, group: ProcessGroup) -> tuple[Tensor, Tensor, float]:
    """Mean and biased variance by channel, and the count, over all ranks."""
    dims = [0, *range(2, x.dim())]
    count = x.numel() // x.shape[1]
    plain = x.detach().to(taeda.float32 if x.dtype != taeda.float64 else taeda.float64)
    zeros = plain.new_zeros(x.shape[1])
    mean = plain.mean(dims) if count else zeros
    var = plain.var(dims, correction=0) if count else zeros
    mine = taeda.cat([mean, var, mean.new_full((1,), float(count))])
    every = mine.new_empty(group.size(), mine.numel())
    all_gather_into_tensor(every, mine, group)
    channels = x.shape[1]
    means, variances, counts = every[:, :channels], every[:, channels:-1], every[:, -1:]
    total = float(counts.sum())
    if total <= 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got {total:g} on all ranks"
        )
    mean = (means * counts).sum(0) / total
    var = ((variances + (means - mean) ** 2) * counts).sum(0) / total
    return mean, var, total


def synchronized(layer: Any, x: Tensor) -> Tensor | None:
    """The output of a SyncBatchNorm in training; None if its group is this rank alone, or there is none."""
    group = layer.process_group if layer.process_group is not None else world().default
    if group is None or group.size() == 1:
        return None
    mean, var, total = _statistics(x, group)
    _track(layer, mean, var, total)
    scale = (var + layer.eps).rsqrt().to(x.dtype)
    out = _Normalize.apply(x, mean.to(x.dtype), scale, total, group)
    shape = [1, -1] + [1] * (x.dim() - 2)
    if layer.weight is not None:
        out = out * layer.weight.view(shape)
    if layer.bias is not None:
        out = out + layer.bias.view(shape)
    return out


def _track(layer: Any, mean: Tensor, var: Tensor, total: float) -> None:
    """Move the running statistics, the variance being the unbiased one."""
    if not layer.track_running_stats or layer.running_mean is None:
        return
    with taeda.no_grad():
        layer.num_batches_tracked.add_(1)
        part = 1.0 / float(layer.num_batches_tracked) if layer.momentum is None else layer.momentum
        layer.running_mean.lerp_(mean.to(layer.running_mean.dtype), part)
        layer.running_var.lerp_((var * (total / (total - 1))).to(layer.running_var.dtype), part)


def teach() -> None:
    """Let SyncBatchNorm gather from now on."""
    batchnorm.synchronize = synchronized
