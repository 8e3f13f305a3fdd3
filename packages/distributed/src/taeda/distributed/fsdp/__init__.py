"""Models whose parameters, gradients and optimizer states lie in shards on several processes."""

from __future__ import annotations

from ._fully_shard import FSDPModule, fully_shard

__all__ = ["FSDPModule", "fully_shard"]
