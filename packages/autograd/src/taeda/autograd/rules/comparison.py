"""Questions about whole tensors: their answers are values of Python."""

from __future__ import annotations

from ._registry import not_differentiable

not_differentiable("_local_scalar_dense", "it gives a number of Python, outside of every graph")
