"""Means over all ranks at first, then over a smaller group only; an averager of models does the rest."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda.futures import Future

from ..._bucket_view import GradBucket
from ..._setup import new_subgroups
from .default_hooks import mean_of

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]


class PostLocalSGDState:
    """`process_group` is used until step `start_localSGD_iter`, then `subgroup` (a machine's
    processes for None).

    Without `post_local_gradient_allreduce` gradients stay local after that step.

    >>> state = PostLocalSGDState(process_group=None, subgroup=None, start_localSGD_iter=100)
    >>> state.iter, state.post_local_gradient_allreduce
    (0, True)
    """

    def __init__(
        self,
        process_group: Any,
        subgroup: Any,
        start_localSGD_iter: int,
        post_local_gradient_allreduce: bool = True,
    ) -> None:
        self.process_group, self.subgroup = process_group, subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter = 0

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Count a step when its last bucket comes."""
        if bucket.is_last():
            self.iter += 1


def post_localSGD_hook(state: PostLocalSGDState, bucket: GradBucket) -> Future[Tensor]:
    """The mean over the group that the state names for this step.

    >>> from taeda import distributed as dist, nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = nn.parallel.DistributedDataParallel(nn.Linear(2, 1, bias=False))
    >>> state = PostLocalSGDState(None, None, start_localSGD_iter=1)
    >>> model.register_comm_hook(state, post_localSGD_hook)
    >>> model(taeda.tensor([[1.0, 2.0]])).backward()  # the mean of all: later ones are a machine's
    >>> model.module.weight.grad, state.iter
    (tensor([[1., 2.]]), 1)
    >>> dist.destroy_process_group()
    """
    buffer, late = bucket.buffer(), state.iter >= state.start_localSGD_iter
    state.maybe_increase_iter(bucket)
    if not late:
        return mean_of(buffer, state.process_group)
    if not state.post_local_gradient_allreduce:
        future: Future[Tensor] = Future()
        future.set_result(buffer)
        return future
    if state.subgroup is None:
        state.subgroup, _ = new_subgroups()
    return mean_of(buffer, state.subgroup)
