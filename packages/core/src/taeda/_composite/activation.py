"""Activation functions written in terms of other operations."""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda._short_floats import rounded_once

__all__ = ["prelu", "rrelu", "softsign", "tanhshrink"]


@rounded_once
def softsign(self: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return self / (self.abs() + 1)


@rounded_once
def tanhshrink(self: Tensor) -> Tensor:
    """x - tanh(x)."""
    return self - self.tanh()


def prelu(self: Tensor, weight: Tensor) -> Tensor:
    """One slope for all, or one per channel (dimension 1)."""
    if weight.dim() > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}"
        )
    if weight.numel() == 1:
        return taeda._prelu_kernel(self, weight.reshape(()))
    channels = self.shape[1] if self.dim() > 1 else 1
    if weight.numel() != channels:
        raise RuntimeError(
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{weight.numel()} and channel size = {channels}."
        )
    return taeda._prelu_kernel(self, weight.reshape([-1] + [1] * (self.dim() - 2)))


def rrelu(
    self: Tensor,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: taeda.Generator | None = None,
) -> Tensor:
    """In training every element that is not positive has a slope of its own."""
    if lower > upper:
        raise RuntimeError(
            f"rrelu: Lower bound should be less than or equal to the upper bound, but got {lower} "
            f"and {upper}"
        )
    if not training:
        return taeda._C._nn.leaky_relu(self, (lower + upper) / 2)
    slopes = taeda.empty_like(self.detach()).uniform_(lower, upper, generator=generator)
    return taeda.where(self <= 0, self * slopes, self)
