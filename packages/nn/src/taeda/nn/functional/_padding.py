"""Padding of the last dimensions: with a value, or with what is inside."""

from __future__ import annotations

import taeda

__all__ = ["pad"]

pad = taeda._C._nn.pad
