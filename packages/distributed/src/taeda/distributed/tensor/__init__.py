"""Tensors that lie in parts on the ranks of a mesh."""

from __future__ import annotations

from ._api import DTensor, distribute_tensor
from ._creation import empty, full, ones, rand, randn, zeros
from ._module import distribute_module
from .placement_types import Partial, Placement, Replicate, Shard

__all__ = [
    "DTensor", "Partial", "Placement", "Replicate", "Shard", "distribute_module",
    "distribute_tensor", "empty", "full", "ones", "rand", "randn", "zeros",
]  # fmt: skip
