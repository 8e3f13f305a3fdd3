"""Affine and bilinear maps over the last dimension."""

from __future__ import annotations

import taeda

__all__ = ["bilinear", "linear"]

linear = taeda._C._nn.linear
bilinear = taeda.bilinear
