"""Autograd's part of `python -m taeda`: a derivative against a difference quotient, and one of a
derivative.
"""

from __future__ import annotations

from collections.abc import Callable

import taeda

from .gradcheck import gradcheck, gradgradcheck

__all__ = ["CHECKS", "FACTS"]


def _derivatives() -> str:
    generator = taeda.Generator().manual_seed(0)
    x = taeda.randn(3, 4, dtype=taeda.float64, generator=generator).requires_grad_()
    w = taeda.randn(4, 2, dtype=taeda.float64, generator=generator).requires_grad_()

    def function(x: taeda.Tensor, w: taeda.Tensor) -> taeda.Tensor:
        return taeda.softmax((x @ w).tanh(), 1).log().sum(0)

    assert gradcheck(function, (x, w)) and gradgradcheck(function, (x, w))
    return "first and second, against difference quotients"


CHECKS = {"derivatives": _derivatives}
FACTS: dict[str, Callable[[], str]] = {}
