"""Derivatives of running results: what comes later depends on what came before."""

from __future__ import annotations

import taeda
from taeda import Tensor

from ._registry import forward, linear, rule, rule_as_is


def _sum_of_later(x: Tensor, dim: int) -> Tensor:
    """At every place the sum of this and all later elements."""
    if x.dim() == 0 or x.size(dim) <= 1:
        return x
    return x.flip(dim).cumsum(dim).flip(dim)


rule_as_is("cumsum", self=lambda grad, dim: _sum_of_later(grad, dim))
linear("cumsum")


def _cumprod(grad: Tensor, self: Tensor, result: Tensor, dim: int) -> Tensor:
    """Without zeros the sum of later grad·result, over x; with zeros element by element."""
    if self.numel() <= 1 or self.size(dim) == 1:
        return grad
    if not bool((self == 0).any()):
        return _sum_of_later(grad * result.conj(), dim) / self.conj()
    n = self.size(dim)
    columns = []
    for k in range(n):
        # results from k on are x[0..k-1] · x[k] · x[k+1..i]: leave x[k] out
        before = self.narrow(dim, 0, k).prod(dim, True)
        rest = self.narrow(dim, k + 1, n - k - 1).cumprod(dim)
        after = taeda.cat([taeda.ones_like(before), rest], dim)
        later = grad.narrow(dim, k, n - k)
        columns.append((later * (before * after).conj()).sum(dim, True))
    return taeda.cat(columns, dim)


rule("cumprod", self=_cumprod)


def _logcumsumexp(grad: Tensor, self: Tensor, result: Tensor, dim: int) -> Tensor:
    """The sum over later i of grad[i] · exp(x - result[i]), with both signs of grad apart."""
    if self.dim() == 0 or self.numel() == 0:
        return grad
    lowest = -float("inf")
    if grad.is_complex():
        weights = (grad.log() - result.conj()).flip(dim).logcumsumexp(dim).flip(dim)
        return (self.conj() + weights).exp()
    positive = taeda.where(grad > 0, grad.abs(), 1.0).log()
    positive = taeda.where(grad > 0, positive - result, lowest)
    negative = taeda.where(grad < 0, grad.abs(), 1.0).log()
    negative = taeda.where(grad < 0, negative - result, lowest)
    up, down = (t.flip(dim).logcumsumexp(dim).flip(dim) for t in (positive, negative))
    return (up + self).exp() - (down + self).exp()


rule("logcumsumexp", self=_logcumsumexp)


def _at_places(grad: Tensor, self_shape: tuple[int, ...], result1: Tensor, dim: int) -> Tensor:
    """Every running extremum sends its gradient to where it was found."""
    if not self_shape:
        return grad
    zeros = taeda.zeros(self_shape, dtype=grad.dtype, device=grad.device)
    return zeros.scatter_add(dim, result1, grad)


rule_as_is("cummax", differentiable_results=1, self=_at_places)
rule_as_is("cummin", differentiable_results=1, self=_at_places)


def _signed_sums(t: Tensor, self: Tensor, dim: int) -> Tensor:
    return (t.log() + self).logcumsumexp(dim)


def _logcumsumexp_forward(self_t: Tensor, self: Tensor, result: Tensor, dim: int) -> Tensor:
    """The sum over earlier j of t[j] · exp(x[j] - result), with both signs of t apart."""
    if self_t.is_complex():
        return (_signed_sums(self_t, self, dim) - result).exp()
    result = taeda.where(result.isneginf(), 0.0, result)
    up, down = (_signed_sums(taeda.where(t > 0, t, 0.0), self, dim) for t in (self_t, -self_t))
    return (up - result).exp() - (down - result).exp()


forward("logcumsumexp", _logcumsumexp_forward)
