"""Derivatives of ordering: every value sends its gradient back to where it came from."""

from __future__ import annotations

import taeda
from taeda import Tensor

from ._registry import forward, not_differentiable
from ._registry import rule_as_is as rule


def _back(grad: Tensor, self_shape: tuple[int, ...], result1: Tensor, dim: int) -> Tensor:
    if not self_shape:
        return grad.reshape(())
    zeros = taeda.zeros(self_shape, dtype=grad.dtype, device=grad.device)
    return zeros.scatter(dim, result1, grad)


for _name in ("sort", "sort.stable", "topk"):
    rule(_name, differentiable_results=1, self=_back)
for _name in ("searchsorted.Tensor", "bucketize.Tensor"):
    not_differentiable(_name, "returns indices")
for _name in ("bincount", "histc"):
    not_differentiable(_name, "returns counts")
for _name in ("_unique2", "unique_dim", "_unique_consecutive"):
    not_differentiable(_name, "which elements are equal does not change with small steps")


def _chosen(self_t: Tensor, result1: Tensor, dim: int) -> tuple[Tensor, None]:
    return self_t.gather(dim, result1) if self_t.dim() else self_t.reshape(result1.shape), None


for _name in ("sort", "sort.stable", "topk"):
    forward(_name, _chosen)
