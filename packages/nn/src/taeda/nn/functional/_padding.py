"""Padding of the last dimensions: with a value, or with what is inside."""

from __future__ import annotations

from taeda._core_api.operators import nn as _nn

__all__ = ["pad"]

pad = _nn.pad
