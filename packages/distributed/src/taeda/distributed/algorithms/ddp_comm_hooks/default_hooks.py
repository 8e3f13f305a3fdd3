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
    """The same as without a hook: the mean over `process_group`, the default group for None."""
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
    """The mean, with gradients in float16 on the way: divided by the number of ranks, summed, cast back."""
    return _narrow(taeda.float16, process_group, bucket)


def bf16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """The mean, with gradients in bfloat16 on the way."""
    return _narrow(taeda.bfloat16, process_group, bucket)


def _wrapper(dtype: taeda.dtype, hook: Hook) -> Hook:
    def narrowed(state: Any, bucket: GradBucket) -> Future[Tensor]:
        buffer = bucket.buffer()
        bucket.set_buffer(buffer.to(dtype))
        return hook(state, bucket).then(lambda future: buffer.copy_(future.value()))

    return narrowed


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """`hook` on gradients in float16, and what it returns cast back."""
    return _wrapper(taeda.float16, hook)


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """`hook` on gradients in bfloat16, and what it returns cast back."""
    return _wrapper(taeda.bfloat16, hook)
