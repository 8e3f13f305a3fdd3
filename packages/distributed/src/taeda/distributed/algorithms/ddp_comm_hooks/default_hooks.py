"""Means of gradients, also in narrower types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda.futures import Future

from ..._bucket_view import GradBucket
from ..._collectives import all_reduce
from ..._groups.world import the_group

__all__ = [
    "allreduce_hook",
    "bf16_compress_hook",
    "bf16_compress_wrapper",
    "fp16_compress_hook",
    "fp16_compress_wrapper",
]

Hook = Callable[[Any, GradBucket], Future[Tensor]]


def mean_of(tensor: Tensor, group: Any) -> Future[Tensor]:
    """A future of the mean of `tensor` over a group, computed in place."""
    made = the_group(group, "a communication hook")
    assert made is not None
    work = all_reduce(tensor, group=made, async_op=True)
    assert work is not None
    size = made.size()
    return work.get_future().then(lambda future: future.value()[0].div_(size))


def allreduce_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """The same as without a hook: the mean over `process_group`, the default group for None.

    >>> from taeda import distributed as dist, nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = nn.parallel.DistributedDataParallel(nn.Linear(2, 1, bias=False))
    >>> model.register_comm_hook(None, allreduce_hook)
    >>> model(taeda.tensor([[1.0, 2.0]])).backward()
    >>> model.module.weight.grad
    tensor([[1., 2.]])
    >>> dist.destroy_process_group()
    """
    return mean_of(bucket.buffer(), process_group)


def _narrow(dtype: taeda.dtype, process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    made = the_group(process_group, "a communication hook")
    assert made is not None
    buffer = bucket.buffer()
    narrow = buffer.to(dtype).div_(made.size())  # divided first: a sum might overflow
    work = all_reduce(narrow, group=made, async_op=True)
    assert work is not None
    return work.get_future().then(lambda future: buffer.copy_(future.value()[0]))


def fp16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """The mean, with gradients in float16 on the way: divided by the number of ranks, summed, cast back.

    >>> from taeda import distributed as dist, nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = nn.parallel.DistributedDataParallel(nn.Linear(2, 1, bias=False))
    >>> model.register_comm_hook(None, fp16_compress_hook)
    >>> model(taeda.tensor([[1.0, 0.1]])).backward()
    >>> model.module.weight.grad  # 0.1 went through float16
    tensor([[1.0000, 0.1000]])
    >>> dist.destroy_process_group()
    """
    return _narrow(taeda.float16, process_group, bucket)


def bf16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """The mean, with gradients in bfloat16 on the way.

    >>> from taeda import distributed as dist, nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = nn.parallel.DistributedDataParallel(nn.Linear(2, 1, bias=False))
    >>> model.register_comm_hook(None, bf16_compress_hook)
    >>> model(taeda.tensor([[1.0, 0.1]])).backward()
    >>> model.module.weight.grad  # 0.1 went through bfloat16
    tensor([[1.0000, 0.1001]])
    >>> dist.destroy_process_group()
    """
    return _narrow(taeda.bfloat16, process_group, bucket)


def _wrapper(dtype: taeda.dtype, hook: Hook) -> Hook:
    def narrowed(state: Any, bucket: GradBucket) -> Future[Tensor]:
        buffer = bucket.buffer()
        bucket.set_buffer(buffer.to(dtype))
        return hook(state, bucket).then(lambda future: buffer.copy_(future.value()))

    return narrowed


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """`hook` on gradients in float16, and what it returns cast back.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> flat = taeda.tensor([1.0, 2.0])
    >>> bucket = dist.GradBucket(0, flat, [flat], [taeda.zeros(2)], [2], last=True)
    >>> fp16_compress_wrapper(allreduce_hook)(None, bucket).wait()
    tensor([1., 2.])
    >>> bucket.buffer().dtype  # what the hook inside saw
    taeda.float16
    >>> dist.destroy_process_group()
    """
    return _wrapper(taeda.float16, hook)


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """`hook` on gradients in bfloat16, and what it returns cast back.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> flat = taeda.tensor([1.0, 2.0])
    >>> bucket = dist.GradBucket(0, flat, [flat], [taeda.zeros(2)], [2], last=True)
    >>> bf16_compress_wrapper(allreduce_hook)(None, bucket).wait()
    tensor([1., 2.])
    >>> bucket.buffer().dtype  # what the hook inside saw
    taeda.bfloat16
    >>> dist.destroy_process_group()
    """
    return _wrapper(taeda.bfloat16, hook)
