"""Reductions and normalisations: over what counts. A result does not count where nothing did."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from .. import _normalise, _reduce, _statistics
from .._fill import Dims, dims_of
from .._graph import built, data_of, is_masked, mask_of_parts
from ._registry import rule


def _left(x: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    """Where anything counts."""
    mask = mask_of_parts(x)
    dims = dims_of(x, dim)
    if not dims:
        return mask
    return mask.any(dims, keepdim)


def _reduced(x: Tensor, function: Any, dim: Any, keepdim: bool, **more: Any) -> Tensor:
    data, mask = _settled(x, dim)
    made = function(data, dim=dim, keepdim=keepdim, mask=mask, **more)
    return built(made, _left(x, dim, keepdim))


def _settled(x: Tensor, dim: Dims) -> tuple[Tensor, Tensor]:
    """Data and mask to reduce. If gradients are recorded, what has no element that counts is made of other
    numbers that do: its result does not count, and its gradient shall not be NaN, which anomaly mode
    takes for a fault.
    """
    data, mask = data_of(x), mask_of_parts(x)
    if not (x.requires_grad and taeda.is_grad_enabled()):
        return data, mask
    numbers = taeda.linspace(1, 2, x.numel(), device=data.device).reshape(x.shape)
    data = taeda.where(mask, data, numbers.to(data.dtype))
    return data, mask | ~_left(x, dim, True)


@rule("sum")
def total(x: Tensor, dtype: Any = None) -> Tensor:
    return _reduced(x, _reduce.sum, None, False, dtype=dtype)


@rule("sum.dim_IntList")
def total_along(x: Tensor, dim: Any, keepdim: bool = False, dtype: Any = None) -> Tensor:
    return _reduced(x, _reduce.sum, dim, keepdim, dtype=dtype)


@rule("mean")
def mean(x: Tensor, dtype: Any = None) -> Tensor:
    return _reduced(x, _statistics.mean, None, False, dtype=dtype)


@rule("mean.dim")
def mean_along(x: Tensor, dim: Any, keepdim: bool = False, dtype: Any = None) -> Tensor:
    return _reduced(x, _statistics.mean, dim, keepdim, dtype=dtype)


@rule("prod")
def product(x: Tensor, dtype: Any = None) -> Tensor:
    return _reduced(x, _reduce.prod, None, False, dtype=dtype)


@rule("prod.dim_int")
def product_along(x: Tensor, dim: int, keepdim: bool = False, dtype: Any = None) -> Tensor:
    return _reduced(x, _reduce.prod, dim, keepdim, dtype=dtype)


@rule("amax")
def amax(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    return _reduced(x, _reduce.amax, dim, keepdim)


@rule("amin")
def amin(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    return _reduced(x, _reduce.amin, dim, keepdim)


@rule("max")
def largest(x: Tensor) -> Tensor:
    return _reduced(x, _reduce.amax, None, False)


@rule("min")
def least(x: Tensor) -> Tensor:
    return _reduced(x, _reduce.amin, None, False)


@rule("argmax")
def argmax(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    return _reduced(x, _reduce.argmax, dim, keepdim, dtype=taeda.int64)


@rule("argmin")
def argmin(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    return _reduced(x, _reduce.argmin, dim, keepdim, dtype=taeda.int64)


def _truths(x: Tensor, name: str, dim: Any, keepdim: bool) -> Tensor:
    mask, left = mask_of_parts(x), _left(x, dim, keepdim)
    own = data_of(x).detach() != 0
    dims = dims_of(x, dim)
    own = own | ~mask if name == "all" else own & mask
    made = getattr(own, name)(dims, keepdim) if dims else own
    return built(made, left)


def _register_truths(name: str) -> None:
    @rule(name)
    def whole(x: Tensor) -> Tensor:
        return _truths(x, name, None, False)

    @rule(f"{name}.dim", f"{name}.dims")
    def along(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        return _truths(x, name, dim, keepdim)


for _name in ("all", "any"):
    _register_truths(_name)


@rule("norm")
def norm(
    x: Tensor, p: Any = None, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    return _reduced(x, _reduce.norm, dim, keepdim, ord=2.0 if p is None else p, dtype=dtype)


@rule("norm.str")
def norm_named(x: Tensor, p: str, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return norm(x, 2.0, dim, keepdim, dtype) if p == "fro" else NotImplemented


@rule("vector_norm")
def vector_norm(x: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    return _reduced(x, _reduce.norm, dim, keepdim, ord=ord, dtype=dtype)


@rule("logsumexp")
def logsumexp(x: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    return _reduced(x, _reduce.logsumexp, dim, keepdim)


def _register_spread(name: str) -> None:
    function = getattr(_statistics, name)

    def reals(data: Tensor, **more: Any) -> Tensor:
        made: Tensor = function(data, **more)
        return made.real if made.is_complex() else made

    def spread(x: Tensor, dim: Any, correction: Any, keepdim: bool) -> Any:
        if correction not in (0, 1):
            return NotImplemented
        return _reduced(x, reals, dim, keepdim, unbiased=bool(correction))

    @rule(name)
    def whole(x: Tensor, unbiased: bool = True) -> Any:
        return spread(x, None, int(unbiased), False)

    @rule(f"{name}.dim")
    def along(x: Tensor, dim: Any, unbiased: bool = True, keepdim: bool = False) -> Any:
        return spread(x, dim, int(unbiased), keepdim)

    @rule(f"{name}.correction")
    def corrected(x: Tensor, dim: Any = None, correction: Any = None, keepdim: bool = False) -> Any:
        return spread(x, dim, 1 if correction is None else correction, keepdim)


for _name in ("var", "std"):
    _register_spread(_name)


def _register_softmax(name: str) -> None:
    function = getattr(_normalise, name)

    @rule(f"{name}.int")
    def run(x: Tensor, dim: int, dtype: Any = None) -> Tensor:
        data, mask = _settled(x, dim)
        made = function(data, dim, dtype=dtype, mask=mask)
        return built(made, mask_of_parts(x))


for _name in ("softmax", "log_softmax"):
    _register_softmax(_name)


@rule("where.self")
def where(condition: Tensor, self: Tensor, other: Tensor) -> Any:
    """The chosen element counts if it does where it comes from."""
    if is_masked(condition):
        return NotImplemented
    (data, mask), (other_data, other_mask) = _parts(self), _parts(other)
    made = taeda.where(condition, data, other_data)
    return built(made, taeda.where(condition, mask, other_mask).expand(made.shape))


def _parts(x: Any) -> tuple[Any, Any]:
    """Data and mask; of a plain tensor and of a number every element counts."""
    return (data_of(x), mask_of_parts(x)) if is_masked(x) else (x, True)


@rule("_local_scalar_dense")
def number(x: Tensor) -> Any:
    """The number of a tensor with one element, which has to count."""
    if x.numel() == 1 and not bool(mask_of_parts(x)):
        raise ValueError("item(): the element does not count. Ask get_data(), or to_tensor(value)")
    return data_of(x).item()
