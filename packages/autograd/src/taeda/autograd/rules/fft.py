"""Derivatives of Fourier transforms: the transform back, unscaled where the transform is."""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor

from ._registry import linear
from ._registry import rule_as_is as rule

rule(
    "_fft_c2c",
    self=lambda grad, dim, normalization, forward: taeda._fft_c2c(
        grad, dim, normalization, not forward
    ),
)


def _r2c(
    grad: Tensor,
    self_shape: tuple[int, ...],
    dim: Sequence[int],
    normalization: int,
    onesided: bool,
) -> Tensor:
    """Points that were left out had no gradient."""
    last = dim[-1] % len(self_shape)
    missing = self_shape[last] - grad.size(last)
    if onesided and missing > 0:
        grad = taeda.constant_pad_nd(grad, [0, 0] * (len(self_shape) - 1 - last) + [0, missing], 0)
    return taeda._fft_c2c(grad, dim, normalization, False).real


def _c2r(
    grad: Tensor, self_shape: tuple[int, ...], dim: Sequence[int], normalization: int
) -> Tensor:
    """Points that stood for two count twice."""
    made = taeda._fft_r2c(grad, dim, normalization, True)
    last = dim[-1] % len(self_shape)
    doubled = grad.size(last) - made.size(last)
    counts = [2.0 if 1 <= k <= doubled else 1.0 for k in range(made.size(last))]
    shape = [-1 if d == last else 1 for d in range(len(self_shape))]
    return made * taeda.tensor(counts, dtype=grad.dtype, device=grad.device).reshape(shape)


rule("_fft_r2c", self=_r2c)
rule("_fft_c2r", self=_c2r)
linear("_fft_c2c", "_fft_r2c", "_fft_c2r")
