"""Sums, means, norms and `any`: of all elements, or along dimensions."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.layouts import dimension

from .._compress import to_compressed
from .._compressed import Compressed
from .._convert import to_coo, to_dense
from .._graph import built, entries, raw_entries
from .._parts import Coo, parts_of
from ._registry import rule


@rule("_local_scalar_dense")
def number(x: Tensor) -> Any:
    """The number of a tensor of one element, stored or not."""
    return to_dense(x.detach()).item()


@rule("is_nonzero")
def is_nonzero(x: Tensor) -> bool:
    if x.numel() != 1:
        raise RuntimeError(
            f"Boolean value of a tensor of {x.numel()} elements is ambiguous: ask any()"
        )
    return bool(number(x))


@rule("sum")
def total(x: Tensor, dtype: Any = None) -> Tensor:
    return raw_entries(x)[1].sum(dtype=dtype)


@rule("sum.dim_IntList")
def total_along(x: Tensor, dim: Any, keepdim: bool = False, dtype: Any = None) -> Any:
    dims = sorted({dimension(d, x.dim()) for d in dim or range(x.dim())})
    if isinstance(parts_of(x), Compressed):
        if not keepdim or x.dim() != 2 or x.layout not in (taeda.sparse_csr, taeda.sparse_csc):
            return NotImplemented
        return to_compressed(total_along(to_coo(x), dims, True, dtype), x.layout)
    parts, values = raw_entries(x)
    count = int(parts.indices.size(0))
    wide = [d - count + 1 for d in dims if d >= count]
    dtype = dtype or _dtype_of_sum(x.dtype)
    summed = values.sum(wide, keepdim, dtype=dtype) if wide else values.to(dtype)
    left = [d for d in range(count) if d not in dims]
    if not left and not keepdim:
        return summed.sum(0)
    indices = parts.indices.clone()
    if keepdim:
        indices[[d for d in dims if d < count]] = 0
    else:
        indices = indices[left]
    size = [1 if d in dims else n for d, n in enumerate(x.shape) if keepdim or d not in dims]
    made = built(Coo(indices, summed.detach(), False), summed, size)
    return made.coalesce()


def _dtype_of_sum(dtype: Any) -> Any:
    is_number = dtype.is_floating_point or dtype.is_complex
    return dtype if is_number else taeda.int64


@rule("mean")
def mean(x: Tensor, dtype: Any = None) -> Any:
    kind = dtype or x.dtype
    if not (kind.is_floating_point or kind.is_complex):
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex "
            f"dtype. Got: {kind}"
        )
    values = raw_entries(x)[1]
    return values.sum(dtype=dtype) / x.numel()


@rule("mean.dim")
def mean_along(x: Tensor, dim: Any, keepdim: bool = False, dtype: Any = None) -> Any:
    if not dim:
        return NotImplemented
    made = total_along(x, dim, keepdim, dtype)
    count = math.prod(x.shape[dimension(d, x.dim())] for d in dim)
    return made if made is NotImplemented else made / count


@rule("any")
def any_element(x: Tensor) -> Tensor:
    return entries(x)[1].any()


@rule("vector_norm")
def vector_norm(x: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    if dim not in (None, ()) or keepdim or ord <= 0:
        return NotImplemented
    return _norm(x, ord, dtype)


def _norm(x: Tensor, ord: Any, dtype: Any) -> Tensor:
    values = entries(x)[1]
    if not values.numel():
        values = values.new_zeros(1)  # of infinite order there is no norm of nothing
    return taeda.linalg.vector_norm(values, ord, dtype=dtype)


@rule("norm")
def norm(
    x: Tensor, p: Any = None, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    order = 2 if p is None else p
    if dim not in (None, ()) or keepdim or order <= 0:
        return NotImplemented
    return _norm(x, order, dtype)


@rule("norm.str")
def norm_named(x: Tensor, p: str, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return norm(x, 2, dim, keepdim, dtype) if p == "fro" else NotImplemented
