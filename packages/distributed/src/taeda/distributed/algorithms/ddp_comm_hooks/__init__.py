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
    """The hooks that come with this package; each value registers one."""

    ALLREDUCE = partial(_register, hook=default_hooks.allreduce_hook)
    FP16_COMPRESS = partial(_register, hook=default_hooks.fp16_compress_hook)
    BF16_COMPRESS = partial(_register, hook=default_hooks.bf16_compress_hook)
    POWER_SGD = partial(_register, hook=powerSGD_hook.powerSGD_hook)
    BATCHED_POWER_SGD = partial(_register, hook=powerSGD_hook.batched_powerSGD_hook)
    NOOP = partial(_register, hook=debugging_hooks.noop_hook)


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Register a hook of this package on a wrapped model."""
    comm_hook_type.value(model=model, state=state)
