"""Functions over the parts of DTensors, and rules of programs for operators."""

from __future__ import annotations

from ._local_map import local_map
from ._register import implicit_replication, register_sharding

__all__ = ["implicit_replication", "local_map", "register_sharding"]
