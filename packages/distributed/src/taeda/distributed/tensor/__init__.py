"""Tensors of which every rank of a mesh holds a part: as `fully_shard` and checkpoints use them."""

from __future__ import annotations

from ._api import DTensor, distribute_tensor
from .placement_types import Placement, Replicate, Shard

__all__ = ["DTensor", "Placement", "Replicate", "Shard", "distribute_tensor"]
