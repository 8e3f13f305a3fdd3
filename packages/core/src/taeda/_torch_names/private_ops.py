"""Operators whose names begin with an underscore, as libraries call them under the name of torch."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

__all__ = ["assert_async", "sample_dirichlet", "shape_as_tensor"]


def assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """RuntimeError unless the one element is not zero. The value is waited for: nothing here goes on
    beside a check.
    """
    if not bool(input):
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def shape_as_tensor(input: Tensor) -> Tensor:
    """The sizes as int64, on the cpu."""
    return taeda.tensor(tuple(input.shape), dtype=taeda.int64)


def sample_dirichlet(input: Tensor, generator: Any = None) -> Tensor:
    """Samples of Dirichlet distributions with these concentrations, along the last dimension."""
    drawn = taeda._standard_gamma(input, generator=generator)
    return drawn / drawn.sum(-1, keepdim=True)
