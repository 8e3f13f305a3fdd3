"""Models whose parameters, gradients and optimizer states lie in shards on several processes."""

from __future__ import annotations

from ._fully_shard import fully_shard
from ._module import FSDPModule, UnshardHandle, register_fsdp_forward_method
from ._policies import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy

__all__ = [
    "CPUOffloadPolicy", "FSDPModule", "MixedPrecisionPolicy", "OffloadPolicy", "UnshardHandle",
    "fully_shard", "register_fsdp_forward_method",
]  # fmt: skip
