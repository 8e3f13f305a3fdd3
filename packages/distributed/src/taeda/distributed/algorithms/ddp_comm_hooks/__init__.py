"""Ways for DistributedDataParallel to reduce its buckets."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any

from . import debugging_hooks, default_hooks, post_localSGD_hook, powerSGD_hook

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]


def _register(model: Any, state: Any, hook: Callable[..., Any]) -> None:
    model.register_comm_hook(state, hook)


class DDPCommHookType(Enum):
    """The hooks that come with this package; each value registers one.

    >>> from taeda.distributed.algorithms.ddp_comm_hooks import DDPCommHookType
    >>> DDPCommHookType["FP16_COMPRESS"].name  # by the word of a program's settings
    'FP16_COMPRESS'
    """

    ALLREDUCE = partial(_register, hook=default_hooks.allreduce_hook)
    FP16_COMPRESS = partial(_register, hook=default_hooks.fp16_compress_hook)
    BF16_COMPRESS = partial(_register, hook=default_hooks.bf16_compress_hook)
    POWER_SGD = partial(_register, hook=powerSGD_hook.powerSGD_hook)
    BATCHED_POWER_SGD = partial(_register, hook=powerSGD_hook.batched_powerSGD_hook)
    NOOP = partial(_register, hook=debugging_hooks.noop_hook)


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Register a hook of this package on a wrapped model.

    >>> from taeda import distributed as dist, nn
    >>> from taeda.distributed.algorithms import ddp_comm_hooks
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = nn.parallel.DistributedDataParallel(nn.Linear(2, 1, bias=False))
    >>> kind = ddp_comm_hooks.DDPCommHookType.BF16_COMPRESS
    >>> ddp_comm_hooks.register_ddp_comm_hook(kind, model)
    >>> model(taeda.tensor([[1.0, 2.0]])).backward()
    >>> model.module.weight.grad
    tensor([[1., 2.]])
    >>> dist.destroy_process_group()
    """
    comm_hook_type.value(model=model, state=state)
