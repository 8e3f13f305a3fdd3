"""Rules by row, a file for each family."""

from __future__ import annotations

from . import (
    _activation,
    _creation,
    _images,
    _indexing,
    _losses,
    _matmul,
    _norm,
    _pointwise,
    _recurrent,
    _reduction,
    _scans,
    _scatter,
    _special,
    _symbolic,
    _views,
    _windows,
)
from ._registry import FRESH, RULES

_ = (
    _activation, _creation, _images, _indexing, _losses, _matmul, _norm, _pointwise, _recurrent,
    _reduction, _scans, _scatter, _special, _symbolic, _views, _windows,
)  # fmt: skip

__all__ = ["FRESH", "RULES"]
