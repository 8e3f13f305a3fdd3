"""Derivatives of joins: each tensor gets its piece of the gradient."""

from __future__ import annotations

from taeda import Tensor

from ._registry import linear
from ._registry import rule_as_is as rule


def _cat(grad: Tensor, tensors_shape: tuple[tuple[int, ...], ...], dim: int) -> list[Tensor]:
    pieces, at = [], 0
    for shape in tensors_shape:
        if tuple(shape) == (0,):  # skipped when joining, whatever the others' rank
            pieces.append(grad.new_zeros((0,)))
            continue
        pieces.append(grad.narrow(dim, at, shape[dim]))
        at += shape[dim]
    return pieces


rule("cat", tensors=_cat)
rule("stack", tensors=lambda grad, dim: grad.unbind(dim))
linear("cat", "stack")
