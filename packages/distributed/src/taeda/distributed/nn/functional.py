"""Differentiable collectives. Every process of the group must call the same one, and run backward
through it as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.autograd import Function

from .. import _collectives as plain
from .._setup import get_rank, get_world_size
from .._types import ReduceOp

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]

SUM = ReduceOp.SUM


def _only_sum(op: ReduceOp, name: str) -> None:
    if op != SUM:
        raise ValueError(f"{name}: gradients flow through SUM, not through {op!r}")


class _Broadcast(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, tensor: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        out = tensor.clone()
        plain.broadcast(out, src, group)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        whole = grad.clone()
        plain.reduce(whole, ctx.src, SUM, ctx.group)
        return None, None, whole if get_rank() == ctx.src else taeda.zeros_like(grad)


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """The `tensor` of the rank `src`, on every rank. Its gradient is the sum over all ranks, on `src`.

    Args:
        tensor: on `src` what is sent; elsewhere its shape and dtype.
        src: the rank that gives.
        group: the group that takes part; None is the default one.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed import nn as dist_nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = taeda.tensor([1.0, 2.0], requires_grad=True)
    >>> (dist_nn.broadcast(x, src=0) ** 2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    return _Broadcast.apply(src, group, tensor)


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, op: ReduceOp, group: Any, tensor: Tensor) -> Tensor:
        ctx.op, ctx.group = op, group
        out = tensor.clone()
        plain.all_reduce(out, op, group)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


def all_reduce(tensor: Tensor, op: ReduceOp = SUM, group: Any = None) -> Tensor:
    """The sum of `tensor` over all ranks; so is its gradient.

    Args:
        tensor: this rank's values.
        op: `ReduceOp.SUM`, the default; a gradient is known of sums alone.
        group: the group that takes part; None is the default one.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed import nn as dist_nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = taeda.tensor([1.0, 2.0], requires_grad=True)
    >>> (dist_nn.all_reduce(x) ** 2).sum().backward()  # through the sum of all ranks
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    _only_sum(op, "all_reduce")
    return _AllReduce.apply(op, group, tensor)


class _Reduce(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, group: Any, tensor: Tensor) -> Tensor:
        ctx.dst, ctx.group = dst, group
        out = tensor.clone()
        plain.reduce(out, dst, SUM, group)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return None, None, _Broadcast.apply(ctx.dst, ctx.group, grad)


def reduce(tensor: Tensor, dst: int, op: ReduceOp = SUM, group: Any = None) -> Tensor:
    """The sum of `tensor` over all ranks, on `dst`; the others keep theirs.
    The gradient is that of `dst`, everywhere.

    Args:
        tensor: this rank's values.
        dst: the rank that gets the sum.
        op: `ReduceOp.SUM`, the default; a gradient is known of sums alone.
        group: the group that takes part; None is the default one.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed import nn as dist_nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = taeda.tensor([1.0, 2.0], requires_grad=True)
    >>> (dist_nn.reduce(x, dst=0) ** 2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    _only_sum(op, "reduce")
    return _Reduce.apply(dst, group, tensor)


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, tensor: Tensor) -> tuple[Tensor, ...]:
        ctx.group = group
        outputs = [taeda.empty_like(tensor) for _ in range(get_world_size(group))]
        plain.all_gather(outputs, tensor, group)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        out = taeda.empty_like(grads[0])
        plain.reduce_scatter(out, list(grads), SUM, ctx.group)
        return None, out


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """Every rank's `tensor`, in the order of ranks. Its gradient is the sum of what all ranks give for it.

    Args:
        tensor: this rank's values, of one shape on all.
        group: the group that takes part; None is the default one.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed import nn as dist_nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = taeda.tensor([1.0, 2.0], requires_grad=True)
    >>> parts = dist_nn.all_gather(x)  # such as the features of a contrastive loss
    >>> (taeda.cat(parts) ** 2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    return _AllGather.apply(group, tensor)


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, output: Tensor, *inputs: Tensor) -> Tensor:
        ctx.group = group
        out = taeda.empty_like(output)
        plain.reduce_scatter(out, list(inputs), SUM, group)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return (None, None, *_AllGather.apply(ctx.group, grad))


def reduce_scatter(
    output: Tensor, input_list: Sequence[Tensor], op: ReduceOp = SUM, group: Any = None
) -> Tensor:
    """The sum over all ranks of `input_list[rank]`, shaped as `output`.
    The gradient of each input is its rank's.

    Args:
        output: a tensor of the shape and dtype that comes; not written.
        input_list: a tensor for each rank.
        op: `ReduceOp.SUM`, the default; a gradient is known of sums alone.
        group: the group that takes part; None is the default one.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed import nn as dist_nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = taeda.tensor([1.0, 2.0], requires_grad=True)
    >>> got = dist_nn.reduce_scatter(taeda.zeros(2), [x])  # a tensor for each rank
    >>> (got**2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    _only_sum(op, "reduce_scatter")
    return _ReduceScatter.apply(group, output, *input_list)


class _Gather(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, group: Any, tensor: Tensor) -> tuple[Tensor, ...]:
        ctx.dst, ctx.group = dst, group
        outputs = [taeda.zeros_like(tensor) for _ in range(get_world_size(group))]
        plain.gather(tensor, outputs if get_rank() == dst else None, dst, group)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return None, None, _Scatter.apply(ctx.dst, ctx.group, *grads)


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """Every rank's `tensor` on `dst`, zeros on the others.

    Args:
        tensor: this rank's values, of one shape on all.
        dst: the rank that gets them: 0 by default.
        group: the group that takes part; None is the default one.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed import nn as dist_nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = taeda.tensor([1.0, 2.0], requires_grad=True)
    >>> (dist_nn.gather(x, dst=0)[0] ** 2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    return _Gather.apply(dst, group, tensor)


class _Scatter(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, *tensors: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        out = taeda.empty_like(tensors[0])
        plain.scatter(out, list(tensors) if get_rank() == src else None, src, group)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return (None, None, *_Gather.apply(ctx.src, ctx.group, grad))


def scatter(tensors: Sequence[Tensor], src: int = 0, group: Any = None) -> Tensor:
    """This rank's tensor of the `tensors` of `src`. The other ranks give tensors of the same shape.

    Args:
        tensors: a tensor for each rank, of one shape; `src` gives their values.
        src: the rank that gives: 0 by default.
        group: the group that takes part; None is the default one.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed import nn as dist_nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = taeda.tensor([1.0, 2.0], requires_grad=True)
    >>> (dist_nn.scatter([x], src=0) ** 2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    return _Scatter.apply(src, group, *tensors)


class _AllToAll(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, outputs: list[Tensor], *inputs: Tensor) -> tuple[Tensor, ...]:
        ctx.group, ctx.shapes = group, [(t.shape, t.dtype, t.device) for t in inputs]
        made = [taeda.empty_like(output) for output in outputs]
        plain.all_to_all(made, [t.contiguous() for t in inputs], group)
        return tuple(made)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        outputs = [taeda.empty(shape, dtype=dtype, device=at) for shape, dtype, at in ctx.shapes]
        return (None, None, *_AllToAll.apply(ctx.group, outputs, *grads))


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: Sequence[Tensor], group: Any = None
) -> tuple[Tensor, ...]:
    """Rank i's input j is rank j's output i. Gradients travel back the same way.

    Args:
        output_tensor_list: tensors of the shapes and dtypes that come, one from each rank; not
            written.
        input_tensor_list: a tensor for each rank.
        group: the group that takes part; None is the default one.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed import nn as dist_nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = taeda.tensor([1.0, 2.0], requires_grad=True)
    >>> (got,) = dist_nn.all_to_all([taeda.zeros(2)], [x])
    >>> (got**2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    return _AllToAll.apply(group, output_tensor_list, *input_tensor_list)


class _AllToAllSingle(Function):
    @staticmethod
    def forward(
        ctx: Any, group: Any, output: Tensor, out_sizes: Any, in_sizes: Any, tensor: Tensor
    ) -> Tensor:
        ctx.group, ctx.sizes, ctx.shape = group, (in_sizes, out_sizes), tensor.shape
        made = taeda.empty_like(output)
        plain.all_to_all_single(made, tensor, out_sizes, in_sizes, group)
        return made

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        output = taeda.empty(ctx.shape, dtype=grad.dtype, device=grad.device)
        back = _AllToAllSingle.apply(ctx.group, output, *ctx.sizes, grad.contiguous())
        return None, None, None, None, back


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: Any = None,
) -> Tensor:
    """Parts of `input` to all ranks, along dimension 0, and what comes, shaped as `output`.

    Args:
        output: a tensor of the shape and dtype that comes; not written.
        input: the parts for all ranks, one after the other along dimension 0.
        output_split_sizes: how many rows come from each rank; None is as many from each.
        input_split_sizes: how many rows go to each rank; None is as many to each.
        group: the group that takes part; None is the default one.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed import nn as dist_nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = taeda.tensor([1.0, 2.0], requires_grad=True)
    >>> got = dist_nn.all_to_all_single(taeda.zeros(2), x)
    >>> (got**2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    return _AllToAllSingle.apply(group, output, output_split_sizes, input_split_sizes, input)
