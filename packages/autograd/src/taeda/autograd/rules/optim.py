"""Derivatives of operators on lists of tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import taeda
from taeda import Tensor

from ._registry import not_differentiable, rule

for _name in ("_fused_sgd_", "_fused_adam_", "_fused_adamw_", "_fused_adagrad_"):
    not_differentiable(
        _name, "a step of an optimizer; take differentiable=True for a graph through it"
    )
not_differentiable("_flat_number_", "_foreach_ operations use it only where no graph is wanted")
not_differentiable("_flat_norms", "_foreach_norm uses it only where no graph is wanted")


def _global_norm(
    grad: Tensor, self: Sequence[Tensor], p: float, result: Tensor
) -> list[Tensor] | None:
    """d|x|_p / dx = sign(x) (|x| / |x|_p)^(p - 1); 0 at the origin, shared among equal extremes."""
    if p == 0:
        return None
    if math.isinf(p):
        extreme = [t.abs() == result for t in self]
        share = grad / sum(e.sum() for e in extreme)
        return [t.sign() * e * share for t, e in zip(self, extreme, strict=True)]
    inverse = taeda.where(result == 0, taeda.zeros_like(result), 1 / result)
    if p == 2:
        return [t * (grad * inverse) for t in self]
    return [t.sign() * (t.abs() * inverse) ** (p - 1) * grad for t in self]


rule("_global_norm", self=_global_norm)
