"""Which tensors are memory and nothing else."""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core

__all__ = ["is_plain"]


def is_plain(tensor: Tensor) -> bool:
    """Whether it is strided and not made of other tensors. Quantized and masked ones say that they
    are strided, too.
    """
    return tensor.layout is taeda.strided and _core.parts_of(tensor) is None
