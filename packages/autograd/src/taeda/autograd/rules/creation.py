"""Derivatives of what writes whole tensors. Factories take no tensor, or only its shape and dtype."""

from __future__ import annotations

import taeda

from ._registry import forward, linear, not_differentiable
from ._registry import rule_as_is as rule

for _name in (
    "empty_like",
    "zeros_like",
    "ones_like",
    "full_like",
    "new_empty",
    "new_empty_strided",
    "new_zeros",
    "new_ones",
    "new_full",
):
    not_differentiable(_name, "only the shape and dtype of its argument count")

rule("tril", self=lambda grad, diagonal: grad.tril(diagonal))
rule("triu", self=lambda grad, diagonal: grad.triu(diagonal))
rule("diag_embed", self=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2))
for _name in ("fill.Scalar", "fill_.Scalar", "zero_"):
    rule(_name, self=lambda grad: taeda.zeros_like(grad))
for _name in ("fill.Tensor", "fill_.Tensor"):
    rule(_name, self=lambda grad: taeda.zeros_like(grad), value=lambda grad: grad.sum())
rule("copy_", self=lambda grad: taeda.zeros_like(grad), src=lambda grad: grad)
rule("complex", real=lambda grad: grad.real, imag=lambda grad: grad.imag)
linear("tril", "triu", "diag_embed", "complex")
forward("copy_", lambda src_t: src_t)
for _name in ("fill.Tensor", "fill_.Tensor"):
    forward(_name, lambda value_t: value_t)
