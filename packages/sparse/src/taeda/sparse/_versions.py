"""Has somebody written into indices that a sparse tensor shares with its maker?"""

from __future__ import annotations

from taeda import Tensor

__all__ = ["version_of"]


def version_of(indices: Tensor) -> int:
    """The count of writes; of inference tensors, which count none, never the one that was noted."""
    return -1 if indices.is_inference() else indices._version
