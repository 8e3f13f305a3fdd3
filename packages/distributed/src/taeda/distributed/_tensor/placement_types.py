"""The older path of `taeda.distributed.tensor.placement_types`."""

from __future__ import annotations

from ..tensor._spec import DTensorSpec as DTensorSpec  # libraries look for both here
from ..tensor._spec import TensorMeta as TensorMeta
from ..tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = ["Partial", "Placement", "Replicate", "Shard"]
