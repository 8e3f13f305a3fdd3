"""Reading: what a tensor holds as a value of Python."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

__all__ = ["_local_scalar_dense"]


def _local_scalar_dense(self: Tensor) -> Any:
    """The one element as a number; what item() asks of a tensor whose type has a __torch_dispatch__."""
    return self.item()
