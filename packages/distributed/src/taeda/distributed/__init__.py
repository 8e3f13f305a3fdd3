"""Processes that train together: groups, collectives, stores.

Importing it starts nothing and needs no engine. `taedarun --nproc-per-node 2 train.py` starts processes;
`init_process_group()` makes them a group, on MPI (`pip install mpi4py mpich`).

>>> import taeda.distributed as dist
>>> dist.is_available(), dist.is_initialized()
(True, False)
"""

from __future__ import annotations

from taeda._core_api import lazy_attributes

from . import distributed_c10d
from ._bucket_view import GradBucket
from ._errors import DistMismatchError, DistPeerDiedError, DistTimeoutError
from ._settings import DebugLevel, get_debug_level, set_debug_level, set_debug_level_from_env
from .distributed_c10d import *  # noqa: F403 - it names what it gives

__all__ = [
    "DebugLevel",
    "DistMismatchError",
    "DistPeerDiedError",
    "DistTimeoutError",
    "GradBucket",
    "distributed_c10d",
    "get_debug_level",
    "set_debug_level",
    "set_debug_level_from_env",
]
__all__ += distributed_c10d.__all__

# What needs more than groups loads when it is first named.
__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        "breakpoint": "distributed._breakpoint",
        "DeviceMesh": "distributed.device_mesh",
        "init_device_mesh": "distributed.device_mesh",
        **{
            name: f"distributed.{name}:"
            for name in (
                "algorithms",
                "checkpoint",
                "device_mesh",
                "elastic",
                "fsdp",
                "nn",
                "optim",
                "tensor",
            )
        },
    },
)
