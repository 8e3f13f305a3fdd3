"""The loss of scores whose classes lie on several ranks, without gathering them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .._settings import replicating

__all__ = ["loss_parallel"]


@contextlib.contextmanager
def loss_parallel() -> Iterator[None]:
    """Inside, `cross_entropy` of a DTensor whose classes are cut takes plain targets and weights.

    They are taken to be the same on all ranks. The scores stay where they are: the largest, the sum
    of exponentials and the target's score travel, three numbers a row. Backward belongs inside too.
    Label smoothing and targets that are probabilities are right as well, but gather.

    >>> from taeda import distributed as dist
    >>> from taeda import nn
    >>> from taeda.distributed.tensor import Shard, distribute_tensor
    >>> from taeda.distributed.tensor.parallel import loss_parallel
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> scores = distribute_tensor(taeda.zeros(4, 8), mesh, [Shard(1)]).requires_grad_()
    >>> with loss_parallel():
    ...     loss = nn.functional.cross_entropy(scores, taeda.zeros(4, dtype=taeda.int64))
    ...     loss.backward()
    >>> scores.grad.placements
    (Shard(dim=1),)
    >>> dist.destroy_process_group()
    """
    with replicating():
        yield
