"""Derivatives of operations that make many elements one.

Among equal extrema a whole-tensor reduction, amax and aminmax spread the gradient evenly; a
reduction that returns indices gives it to the index.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor

from ._products import has_quotients, of_others
from ._registry import (
    forward,
    linear,
    not_differentiable,
    rule,
    rule_as_is,
    rule_joint,
)

Shape = tuple[int, ...]


def _restore(t: Tensor, shape: Shape, dim: Sequence[int] | int | None, keepdim: bool) -> Tensor:
    """A reduced tensor with its reduced dimensions back, as 1; no dims means all."""
    if keepdim or not shape:
        return t
    dims = [dim] if isinstance(dim, int) else dim
    if not dims:
        return t.reshape((1,) * len(shape))
    for d in sorted(d % len(shape) for d in dims):
        t = t.unsqueeze(d)
    return t


def _spread(grad: Tensor, shape: Shape, dim: Sequence[int] | int | None, keepdim: bool) -> Tensor:
    """The gradient of a reduced tensor, seen at every place that was reduced."""
    return _restore(grad, shape, dim, keepdim).expand(shape)


def _count(shape: Shape, dim: Sequence[int] | int | None) -> int:
    """How many elements one result is made of."""
    dims = [dim] if isinstance(dim, int) else dim
    if not shape or not dims:
        return math.prod(shape)
    return math.prod(shape[d] for d in dims)


# ---- sums ----

rule_as_is("sum", self=lambda grad, self_shape: grad.expand(self_shape))
rule_as_is(
    "sum.dim_IntList",
    self=lambda grad, self_shape, dim, keepdim: _spread(grad, self_shape, dim, keepdim),
)
rule_as_is("mean", self=lambda grad, self_shape: grad.expand(self_shape) / math.prod(self_shape))
rule_as_is(
    "mean.dim",
    self=lambda grad, self_shape, dim, keepdim: (
        _spread(grad, self_shape, dim, keepdim) / _count(self_shape, dim)
    ),
)
linear("sum", "sum.dim_IntList", "mean", "mean.dim")
rule_as_is(
    "nansum",
    self=lambda grad, self, dim, keepdim: taeda.where(
        taeda.isnan(self), 0.0, _spread(grad, self.shape, dim, keepdim)
    ),
)


def _logsumexp(
    grad: Tensor, self: Tensor, self_dtype: Any, result: Tensor, dim: list[int], keepdim: bool
) -> Tensor:
    shape = self.shape
    if self_dtype is not self.dtype:  # what 16 bits round off is a factor of all weights
        result = self.logsumexp(dim, keepdim)
    result = _restore(result, shape, dim, keepdim)
    if not result.is_complex():  # a row of -inf alone has weights of 0, one that holds +inf none
        result = taeda.where(result == -math.inf, 0.0, result)
    return _restore(grad, shape, dim, keepdim) * (self - result).exp().conj()


rule("logsumexp", self=_logsumexp)


def _logsumexp_forward(self_t: Tensor, self: Tensor, dim: list[int], keepdim: bool) -> Tensor:
    """The mean of the tangents, weighted by exp(x - max): exact also where x is large."""
    if self.numel() == 0:  # no number has a weight
        return self_t.sum(dim, keepdim)
    top = (self.real if self.is_complex() else self).detach().amax(dim, True)
    weights = (self - taeda.where(top.isinf(), 0.0, top)).exp()
    total = weights.sum(dim, keepdim)
    return (weights * self_t).sum(dim, keepdim) / taeda.where(total == 0, 1.0, total)


forward("logsumexp", _logsumexp_forward)

# ---- products ----


def _prod(grad: Tensor, self: Tensor, self_dtype: Any, result: Tensor, dtype: Any) -> Tensor:
    if self_dtype is not self.dtype:  # the range of 16 bits is soon left
        result = self.prod()
    if self.dim() == 0:
        return grad
    if self.numel() == 0:
        return (grad * result).expand(self.shape)
    if has_quotients(result):
        return grad * (result / self).conj()
    return grad * of_others(self.reshape(-1), 0).view(self.shape).conj()


def _prod_dim(
    grad: Tensor, self: Tensor, self_dtype: Any, result: Tensor, dim: int, keepdim: bool
) -> Tensor:
    if self_dtype is not self.dtype:
        result = self.prod(dim, keepdim)
    if self.dim() == 0:
        return grad
    grad, result = (_restore(t, self.shape, dim, keepdim) for t in (grad, result))
    if self.numel() == 0:
        return (grad * result).expand(self.shape)
    if has_quotients(result):
        return grad * (result / self).conj()
    return grad * of_others(self, dim % self.dim()).conj()


rule("prod", self=_prod)
rule("prod.dim_int", self=_prod_dim)

# ---- extrema ----


def _evenly(
    grad: Tensor, self: Tensor, result: Tensor, dim: Sequence[int] | int | None, keepdim: bool
) -> Tensor:
    """The gradient of a selected value, shared by all elements that equal it."""
    shape = self.shape
    value = _restore(result.detach(), shape, dim, keepdim)
    x = self.detach()
    chosen = x == value
    if x.is_floating_point():
        chosen = chosen | (taeda.isnan(x) & taeda.isnan(value))
    dims = [dim] if isinstance(dim, int) else list(dim or range(self.dim()))
    share = chosen.to(grad.dtype)
    share = share / share.sum(dims, True) if self.dim() else share
    return _restore(grad, shape, dim, keepdim) * share


def _at_index(grad: Tensor, shape: Shape, indices: Tensor, dim: int, keepdim: bool) -> Tensor:
    """Zeros with the gradient at the chosen indices."""
    if not shape:
        return grad
    if not keepdim:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    zeros = taeda.zeros(shape, dtype=grad.dtype, device=grad.device)
    return zeros.scatter(dim, indices, grad)


for _name in ("max", "min", "median", "nanmedian"):
    rule(_name, self=lambda grad, self, result: _evenly(grad, self, result, None, False))
for _name in ("amax", "amin"):
    rule(
        _name,
        self=lambda grad, self, result, dim, keepdim: _evenly(grad, self, result, dim, keepdim),
    )
for _name in ("max.dim", "min.dim", "median.dim", "nanmedian.dim", "kthvalue", "mode"):
    rule_as_is(
        _name,
        differentiable_results=1,
        self=lambda grad, self_shape, result1, dim, keepdim: _at_index(
            grad, self_shape, result1, dim, keepdim
        ),
    )


@rule_joint("aminmax")
def _aminmax(
    grads: tuple[Tensor | None, ...],
    self: Tensor,
    result0: Tensor,
    result1: Tensor,
    dim: int | None,
    keepdim: bool,
) -> tuple[Tensor | None]:
    total = None
    for grad, result in zip(grads, (result0, result1), strict=True):
        if grad is not None:
            part = _evenly(grad, self, result, dim, keepdim)
            total = part if total is None else total + part
    return (total,)


for _name in ("argmax", "argmin"):
    not_differentiable(_name, "returns indices")
for _name in ("any", "any.dim", "any.dims", "all", "all.dim", "all.dims"):
    not_differentiable(_name, "returns truth values")
for _name in ("count_nonzero", "count_nonzero.dim_IntList"):
    not_differentiable(_name, "returns counts")

# ---- moments ----


def _of_variance(
    grad: Tensor, self: Tensor, dim: Sequence[int] | None, correction: float, keepdim: bool
) -> Tensor:
    freedom = _count(self.shape, dim) - correction
    scale = 2 / freedom if freedom > 0 else math.nan if freedom == 0 else math.inf
    mean = self.mean(dim or None, True) if self.dim() else self
    return _restore(grad, self.shape, dim, keepdim) * ((self - mean) * scale)


def _of_deviation(
    grad: Tensor,
    self: Tensor,
    self_dtype: Any,
    result: Tensor,
    dim: Sequence[int] | None,
    correction: float,
    keepdim: bool,
) -> Tensor:
    if self_dtype is not self.dtype:  # the result may lie beyond 16 bits, its gradient does not
        result = self.std(dim, correction=correction, keepdim=keepdim)
    zero = result == 0
    half = taeda.where(zero, 0.0, grad) / (taeda.where(zero, 1.0, result) * 2)
    return _of_variance(half, self, dim, correction, keepdim)


def _of_mean(grad: Tensor, shape: Shape, dim: Sequence[int] | None, keepdim: bool) -> Tensor:
    return _spread(grad, shape, dim, keepdim) / _count(shape, dim)


def _correction(value: Any) -> float:
    return 1 if value is None else value


rule("var", self=lambda grad, self, unbiased: _of_variance(grad, self, None, unbiased, False))
rule(
    "var.dim",
    self=lambda grad, self, dim, unbiased, keepdim: _of_variance(
        grad, self, dim, unbiased, keepdim
    ),
)
rule(
    "var.correction",
    self=lambda grad, self, dim, correction, keepdim: _of_variance(
        grad, self, dim, _correction(correction), keepdim
    ),
)
rule(
    "std",
    self=lambda grad, self, self_dtype, result, unbiased: _of_deviation(
        grad, self, self_dtype, result, None, unbiased, False
    ),
)
rule(
    "std.dim",
    self=lambda grad, self, self_dtype, result, dim, unbiased, keepdim: _of_deviation(
        grad, self, self_dtype, result, dim, unbiased, keepdim
    ),
)
rule(
    "std.correction",
    self=lambda grad, self, self_dtype, result, dim, correction, keepdim: _of_deviation(
        grad, self, self_dtype, result, dim, _correction(correction), keepdim
    ),
)


def _both(
    grads: tuple[Tensor | None, ...],
    self: Tensor,
    self_dtype: Any,
    spread: Tensor | None,
    dim: Sequence[int] | None,
    correction: float,
    keepdim: bool,
) -> tuple[Tensor | None]:
    """Gradients of (variance, mean), or of (deviation, mean) if `spread` is the deviation."""
    first, second = grads
    total = None
    if first is not None:
        total = (
            _of_variance(first, self, dim, correction, keepdim)
            if spread is None
            else _of_deviation(first, self, self_dtype, spread, dim, correction, keepdim)
        )
    if second is not None:
        part = _of_mean(second, self.shape, dim, keepdim)
        total = part if total is None else total + part
    return (total,)


rule_joint("var_mean")(
    lambda grads, self, unbiased: _both(grads, self, None, None, None, unbiased, False)
)
rule_joint("var_mean.dim")(
    lambda grads, self, dim, unbiased, keepdim: _both(
        grads, self, None, None, dim, unbiased, keepdim
    )
)
rule_joint("var_mean.correction")(
    lambda grads, self, dim, correction, keepdim: _both(
        grads, self, None, None, dim, _correction(correction), keepdim
    )
)
rule_joint("std_mean")(
    lambda grads, self, self_dtype, result0, unbiased: _both(
        grads, self, self_dtype, result0, None, unbiased, False
    )
)
rule_joint("std_mean.dim")(
    lambda grads, self, self_dtype, result0, dim, unbiased, keepdim: _both(
        grads, self, self_dtype, result0, dim, unbiased, keepdim
    )
)
rule_joint("std_mean.correction")(
    lambda grads, self, self_dtype, result0, dim, correction, keepdim: _both(
        grads, self, self_dtype, result0, dim, _correction(correction), keepdim
    )
)

# ---- norms ----


def _vector_norm(
    grad: Tensor,
    self: Tensor,
    self_dtype: Any,
    result: Tensor,
    ord: float,
    dim: Sequence[int] | None,
    keepdim: bool,
) -> Tensor:
    shape = self.shape
    if self_dtype is not self.dtype and ord not in (0, 1):  # as for a deviation
        result = taeda.linalg.vector_norm(self, ord, dim, keepdim)
    grad, norm = (_restore(t, shape, dim, keepdim) for t in (grad, result))
    if ord == 0:
        return taeda.zeros_like(self)
    if ord == 1:
        return grad * self.sgn()
    if ord == 2:
        # grad / norm, which is smaller, may be 0 though its product with a large number is not
        return taeda.where(norm == 0, 0.0, grad) * (self / taeda.where(norm == 0, 1.0, norm))
    size = self.abs()
    if math.isinf(ord):
        dims = list(dim or range(self.dim()))
        if self.is_complex():  # the result was rounded, and equals no size
            norm = size.amax(dims, True) if ord > 0 else size.amin(dims, True)
        chosen = (size == norm) | (taeda.isnan(size) & taeda.isnan(norm))
        count = chosen.sum(dims, True) if self.dim() else chosen
        return self.sgn() * (grad / count * chosen)
    zero = norm == 0
    norm = taeda.where(zero, 1.0, norm)
    share = size / norm  # powers of the two alone may leave the dtype
    if ord < 1:
        return grad * taeda.where(zero | (self == 0), 0.0, self.sgn() * share.pow(ord - 1))
    if ord < 2:
        return grad * taeda.where(zero, 0.0, self.sgn() * share.pow(ord - 1))
    return grad * taeda.where(zero, 0.0, self / norm * share.pow(ord - 2))


rule("vector_norm", self=_vector_norm)
