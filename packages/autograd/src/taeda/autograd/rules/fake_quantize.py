"""Derivatives of fake quantization: the gradient passes as it is where nothing was clamped.

Yoshua Bengio, Nicholas Léonard, Aaron Courville: Estimating or Propagating Gradients Through Stochastic
Neurons for Conditional Computation, 2013 (the straight-through estimator).
"""

from __future__ import annotations

from taeda import Tensor

from ._registry import rule_joint


@rule_joint("_fake_quantize", differentiable_results=1)
def _fake_quantize(
    grads: tuple[Tensor | None, ...],
    needs: tuple[bool, ...],
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: int | None,
    quant_min: int,
    quant_max: int,
    result0: Tensor,
    result1: Tensor,
) -> tuple[Tensor | None, ...]:
    return None if grads[0] is None else grads[0] * result1, None, None
