"""Affine and bilinear maps over the last dimension."""

from __future__ import annotations

import taeda
from taeda._core_api.operators import nn as _nn

__all__ = ["bilinear", "linear"]

linear = _nn.linear
bilinear = taeda.bilinear
