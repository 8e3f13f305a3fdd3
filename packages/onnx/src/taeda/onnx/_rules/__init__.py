"""Rules by row, a file for each family."""

from __future__ import annotations

from . import (
    _activation,
    _creation,
    _images,
    _indexing,
    _matmul,
    _norm,
    _pointwise,
    _recurrent,
    _reduction,
    _symbolic,
    _views,
)
from ._registry import FRESH, RULES

_ = (
    _activation, _creation, _images, _indexing, _matmul, _norm, _pointwise, _recurrent, _reduction,
    _views,
)  # fmt: skip

__all__ = ["FRESH", "RULES"]
