"""Counts have no derivative."""

from __future__ import annotations

from ._registry import not_differentiable

not_differentiable("_histogramdd", "returns counts of points, which do not change with small steps")
