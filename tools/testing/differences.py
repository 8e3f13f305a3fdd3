"""Derivatives of a function of tensors of given shapes, against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import taeda
from taeda.autograd import gradcheck, gradgradcheck

__all__ = ["check", "draw"]


def draw(*shape: int, seed: int = 0, dtype: Any = taeda.float64) -> Any:
    """A leaf with normal numbers."""
    rng = np.random.default_rng(seed)
    made = taeda.from_numpy(rng.standard_normal(shape))
    if dtype is taeda.complex128:
        made = taeda.complex(made, taeda.from_numpy(rng.standard_normal(shape)))
    return made.requires_grad_()


def check(
    function: Callable[..., Any], *shapes: Any, dtype: Any = taeda.float64, twice: bool = True
) -> None:
    """First derivatives, forward ones, and second ones, by differences."""
    inputs = [draw(*s, seed=i, dtype=dtype) for i, s in enumerate(shapes)]
    assert gradcheck(function, inputs, check_forward_ad=True)
    if twice:
        assert gradgradcheck(function, inputs, check_fwd_over_rev=True)
