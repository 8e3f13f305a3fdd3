"""Sums, products, extremes and norms of what counts."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._fill import Dims, counted, dims_of, filled, highest, index_dtype, lowest, typed

__all__ = ["amax", "amin", "argmax", "argmin", "logaddexp", "logsumexp", "norm", "prod", "sum"]


def sum(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The sum along `dim` of the elements that count; 0 of none.

    Args:
        input: a masked or ordinary tensor, strided
        dim: the dimension, or dimensions, to work along; negative counts from the end. None for
            all
        keepdim: whether the reduced dimensions stay, with size 1 (default: False)
        dtype: the dtype of the result, to which the input is converted first; None for its own,
            int64 of integers and bools
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x = taeda.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> mask = taeda.tensor([[True, False], [True, True]])
    >>> taeda.masked.sum(x, 1, mask=mask)
    tensor([1., 7.])
    """
    input, mask = counted("sum", input, mask)
    return filled(typed(input, dtype, sums=True), mask, 0).sum(dims_of(input, dim), keepdim)


def prod(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The product along `dim` of the elements that count; 1 of none. The arguments are those of `sum`.

    Args:
        input: a masked or ordinary tensor, strided
        dim: the dimension, or dimensions, to work along; negative counts from the end. None for
            all
        keepdim: whether the reduced dimensions stay, with size 1 (default: False)
        dtype: the dtype of the result, to which the input is converted first; None for its own,
            int64 of integers and bools
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x = taeda.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> mask = taeda.tensor([[True, False], [True, True]])
    >>> taeda.masked.prod(x, 1, mask=mask)
    tensor([ 1., 12.])
    """
    input, mask = counted("prod", input, mask)
    made = filled(typed(input, dtype, sums=True), mask, 1)
    for d in sorted(dims_of(input, dim), reverse=True):
        made = made.prod(d, keepdim)
    return made


def amax(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The largest element along `dim` that counts; of none the least of the dtype. The arguments are those of
    `sum`.

    Args:
        input: a masked or ordinary tensor, strided
        dim: the dimension, or dimensions, to work along; negative counts from the end. None for
            all
        keepdim: whether the reduced dimensions stay, with size 1 (default: False)
        dtype: the dtype of the result, to which the input is converted first; None for its own
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x = taeda.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> mask = taeda.tensor([[True, False], [True, True]])
    >>> taeda.masked.amax(x, 1, mask=mask)
    tensor([1., 4.])
    """
    input, mask = counted("amax", input, mask)
    own = typed(input, dtype)
    return filled(own, mask, lowest(own.dtype)).amax(dims_of(input, dim), keepdim)


def amin(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The least element along `dim` that counts; of none the greatest of the dtype. The arguments are
    those of `sum`.

    Args:
        input: a masked or ordinary tensor, strided
        dim: the dimension, or dimensions, to work along; negative counts from the end. None for
            all
        keepdim: whether the reduced dimensions stay, with size 1 (default: False)
        dtype: the dtype of the result, to which the input is converted first; None for its own
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x = taeda.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> mask = taeda.tensor([[True, False], [True, True]])
    >>> taeda.masked.amin(x, 1, mask=mask)
    tensor([1., 3.])
    """
    input, mask = counted("amin", input, mask)
    own = typed(input, dtype)
    return filled(own, mask, highest(own.dtype)).amin(dims_of(input, dim), keepdim)


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Where along `dim` the largest element that counts stands, the first of equal ones; 0 if none counts.
    Without `dim` the number in row-major order. The other arguments are those of `sum`.

    As in PyTorch the result has the dtype of the input by default: to index with it, ask for
    `dtype=taeda.int64`. RuntimeError where that dtype does not hold the last index.

    Args:
        input: a masked or ordinary tensor, strided
        dim: the dimension to work along; negative counts from the end. None for all
        keepdim: whether the reduced dimensions stay, with size 1 (default: False)
        dtype: the dtype of the result; None for that of the input
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x, mask = taeda.tensor([1.0, 9.0, 4.0]), taeda.tensor([True, False, True])
    >>> int(taeda.masked.argmax(x, 0, mask=mask))
    2
    """
    input, mask = counted("argmax", input, mask)
    held = index_dtype("argmax", input, dim, dtype)
    return filled(input, mask, lowest(input.dtype)).argmax(dim, keepdim).to(held)


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Where along `dim` the least element that counts stands, the first of equal ones; 0 if none counts.
    Without `dim` the number in row-major order. The other arguments are those of `sum`.

    As in PyTorch the result has the dtype of the input by default: to index with it, ask for
    `dtype=taeda.int64`. RuntimeError where that dtype does not hold the last index.

    Args:
        input: a masked or ordinary tensor, strided
        dim: the dimension to work along; negative counts from the end. None for all
        keepdim: whether the reduced dimensions stay, with size 1 (default: False)
        dtype: the dtype of the result; None for that of the input
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x, mask = taeda.tensor([1.0, 9.0, 4.0]), taeda.tensor([False, True, True])
    >>> int(taeda.masked.argmin(x, 0, mask=mask))
    2
    """
    input, mask = counted("argmin", input, mask)
    held = index_dtype("argmin", input, dim, dtype)
    return filled(input, mask, highest(input.dtype)).argmin(dim, keepdim).to(held)


def logsumexp(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """log(sum(exp(x))) along `dim` over the elements that count; minus infinity of none. The arguments
    are those of `sum`.

    Args:
        input: a masked or ordinary tensor, strided
        dim: the dimension, or dimensions, to work along; negative counts from the end. None for
            all
        keepdim: whether the reduced dimensions stay, with size 1 (default: False)
        dtype: the dtype of the result, to which the input is converted first; None for its own
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x, mask = taeda.tensor([0.0, 9.0, 0.0]), taeda.tensor([True, False, True])
    >>> taeda.masked.logsumexp(x, 0, mask=mask)
    tensor(0.6931)
    """
    input, mask = counted("logsumexp", input, mask)
    own = typed(input, dtype)
    if not (own.is_floating_point() or own.is_complex()):
        own = own.to(taeda.get_default_dtype())
    return taeda.logsumexp(filled(own, mask, -float("inf")), dims_of(input, dim), keepdim)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: Any = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """log(exp(x) + exp(y)), where an element that does not count is minus infinity.

    Args:
        input: a masked or ordinary tensor, strided
        other: the second operand, which broadcasts with the first
        dtype: the dtype of the result, to which the input is converted first; None for its own
        input_mask: True where an element of the first counts; None for all
        other_mask: True where an element of the second counts; None for all

    >>> x, y = taeda.tensor([0.0, 1.0]), taeda.tensor([0.0, 1.0])
    >>> mask = taeda.tensor([True, False])
    >>> taeda.masked.logaddexp(x, y, input_mask=mask, other_mask=~mask)
    tensor([0., 1.])
    """
    input, input_mask = counted("logaddexp", input, input_mask)
    other, other_mask = counted("logaddexp", other, other_mask)
    low = -float("inf")
    one, two = typed(input, dtype), typed(other, dtype)
    return taeda.logaddexp(filled(one, input_mask, low), filled(two, other_mask, low))


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The norm of the order `ord` along `dim` of the elements that count; 0 of none, infinity for negative
    orders. The other arguments are those of `sum`.

    Args:
        input: a masked or ordinary tensor, strided
        ord: the order of the norm (default: 2.0)
        dim: the dimension, or dimensions, to work along; negative counts from the end. None for
            all
        keepdim: whether the reduced dimensions stay, with size 1 (default: False)
        dtype: the dtype of the result, to which the input is converted first; None for its own
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x, mask = taeda.tensor([3.0, 9.0, 4.0]), taeda.tensor([True, False, True])
    >>> taeda.masked.norm(x, 2.0, 0, mask=mask)
    tensor(5.)
    """
    input, mask = counted("norm", input, mask)
    order = 2.0 if ord is None else ord
    own = filled(typed(input, dtype), mask, 0 if order >= 0 else float("inf"))
    return taeda.linalg.vector_norm(own, order, dims_of(input, dim), keepdim)
