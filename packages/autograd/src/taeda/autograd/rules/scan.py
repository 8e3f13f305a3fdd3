"""Derivatives of running results: what comes later depends on what came before."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.operators import widened

from ._products import gradient_of_running, has_quotients
from ._registry import differentiated, forward, linear, rule, rule_as_is

#: elements of a matrix that higher derivatives of logcumsumexp may take
SHARES = 1 << 22


def _sum_of_later(x: Tensor, dim: int) -> Tensor:
    """At every place the sum of this and all later elements."""
    if x.dim() == 0 or x.size(dim) <= 1:
        return x
    return x.flip(dim).cumsum(dim).flip(dim)


rule_as_is("cumsum", self=lambda grad, dim: _sum_of_later(grad, dim))
linear("cumsum")


def _cumprod(grad: Tensor, self: Tensor, self_dtype: Any, result: Tensor, dim: int) -> Tensor:
    """By division, where no other derivative follows, the sum of later grad·result, over x."""
    if self.numel() <= 1 or self.size(dim) == 1:
        return grad
    if self_dtype is not self.dtype:  # the range of 16 bits is soon left
        result = self.cumprod(dim)
    if has_quotients(result, self):
        return _sum_of_later(grad * result.conj(), dim) / self.conj()
    return gradient_of_running(grad, self.conj(), result.conj(), dim % self.dim())


rule("cumprod", self=_cumprod)


def _by_signs(weights: Tensor, usable: Tensor, sums: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """What is linear in `weights`, by sums that take logarithms: `sums(w, where)` is of those weights alone.

    A weight of 0 has no logarithm, but a derivative: it is that of one more than 0, less one. NaN counts as
    one of the negative, so that it stays.
    """
    if weights.is_complex():
        total = sums(weights, weights != 0)
    else:
        total = sums(weights, weights > 0) - sums(-weights, ~(weights >= 0))
    if not differentiated():
        return total
    zero = (weights == 0) & usable
    one = zero.to(weights.dtype)
    return total + (sums(weights + one, zero) - sums(one, zero))


def _logs(weights: Tensor, where: Tensor) -> Tensor:
    return taeda.where(where, weights, 1.0).log()


def _is_short(self: Tensor, dim: int) -> bool:
    """Whether a derivative is one of several, and a matrix of shares is small. A step of sums by logarithms
    takes six more in the next derivative, and each of these again.
    """
    few = self.dim() > 0 and self.numel() * self.size(dim) <= SHARES
    return few and not self.is_complex() and differentiated()


def _by_shares(weights: Tensor, self: Tensor, result: Tensor, dim: int, over: int) -> Tensor:
    """The sums over one axis of weight times share: exp(x[j] - result[k]) is the share of element j in each
    result k behind it, at [..., k, j]. Over -1 the weights are of elements, over -2 of results.
    """
    x, whole = self.movedim(dim, -1).unsqueeze(-2), result.movedim(dim, -1).unsqueeze(-1)
    behind = taeda.ones(x.size(-1), x.size(-1), dtype=taeda.bool, device=x.device).tril()
    some = behind & (x != -math.inf) & (whole != -math.inf)
    shares = taeda.where(some, x - whole, 0.0).exp()
    weights = weights.movedim(dim, -1).unsqueeze(-3 - over)
    return taeda.where(some, shares * weights, 0.0).sum(over).movedim(-1, dim)


def _logcumsumexp(grad: Tensor, self: Tensor, self_dtype: Any, result: Tensor, dim: int) -> Tensor:
    """The sum over later i of grad[i] · exp(x - result[i]); 0 where there is nothing but -inf."""
    if self.dim() == 0 or self.numel() == 0:
        return grad
    if self_dtype is not self.dtype:  # what 16 bits round off is a factor of all weights
        result = self.logcumsumexp(dim)
    if _is_short(self, dim):
        return _by_shares(grad, self, result, dim, -2)
    x, whole = (self.conj(), result.conj()) if self.is_complex() else (self, result)

    def sums(weights: Tensor, where: Tensor) -> Tensor:
        where = where & (whole != -math.inf)
        logs = taeda.where(where, _logs(weights, where) - whole, -math.inf)
        return (logs.flip(dim).logcumsumexp(dim).flip(dim) + x).exp()

    return _by_signs(grad, result.isfinite(), sums)


rule("logcumsumexp", self=_logcumsumexp)


def _at_places(grad: Tensor, self_shape: tuple[int, ...], result1: Tensor, dim: int) -> Tensor:
    """Every running extremum sends its gradient to where it was found."""
    if not self_shape:
        return grad
    zeros = taeda.zeros(self_shape, dtype=grad.dtype, device=grad.device)
    return zeros.scatter_add(dim, result1, grad)


rule_as_is("cummax", differentiable_results=1, self=_at_places)
rule_as_is("cummin", differentiable_results=1, self=_at_places)


def _logcumsumexp_forward(self_t: Tensor, self: Tensor, result: Tensor, dim: int) -> Tensor:
    """The sum over earlier j of t[j] · exp(x[j] - result)."""
    wide = widened(self)
    if wide is not self:
        self_t, self, result = widened(self_t), wide, wide.logcumsumexp(dim)
    if _is_short(self, dim):
        return _by_shares(self_t, self, result, dim, -1)
    whole = result if self_t.is_complex() else taeda.where(result.isneginf(), 0.0, result)

    def sums(weights: Tensor, where: Tensor) -> Tensor:
        logs = taeda.where(where, _logs(weights, where) + self, -math.inf)
        return (logs.logcumsumexp(dim) - whole).exp()

    return _by_signs(self_t, self.isfinite(), sums)


forward("logcumsumexp", _logcumsumexp_forward)
