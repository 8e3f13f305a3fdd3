"""The older path of `taeda.distributed.tensor.experimental`."""

from __future__ import annotations

from ..tensor.experimental import implicit_replication, local_map, register_sharding

__all__ = ["implicit_replication", "local_map", "register_sharding"]
