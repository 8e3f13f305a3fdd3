"""Means, medians and variances of what counts."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.operators import rounded_once

from ._fill import Dims, counted, dims_of, filled, highest, mask_of, typed

__all__ = ["mean", "median", "std", "var"]


def _counts(input: Tensor, dims: tuple[int, ...], keepdim: bool, mask: Tensor | None) -> Tensor:
    """How many elements count."""
    own = mask_of(input, mask)
    own = taeda.ones_like(input, dtype=taeda.bool) if own is None else own
    return own.sum(dims, keepdim)


def _floats(name: str, input: Tensor, dtype: Any) -> Tensor:
    own = typed(input, dtype)
    if not (own.is_floating_point() or own.is_complex()):
        raise ValueError(
            f"{name}(): Could not infer output dtype. Input dtype must be either a floating point or complex "
            f"dtype. Got: {own.dtype}"
        )
    return own


def mean(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The mean along `dim` of the elements that count; NaN of none. ValueError of integers and
    bools without a `dtype` of floats or complex numbers.

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
    >>> taeda.masked.mean(x, 1, mask=mask)
    tensor([1.0000, 3.5000])
    """
    input, mask = counted("mean", input, mask)
    own, dims = _floats("mean", input, dtype), dims_of(input, dim)
    wide = own.float() if own.dtype in (taeda.float16, taeda.bfloat16) else own
    made = filled(wide, mask, 0).sum(dims, keepdim) / _counts(own, dims, keepdim, mask)
    return made.to(own.dtype)


def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The element in the middle along `dim` of those that count, the lower of two; of none NaN, or
    ValueError if the input has no floats. The arguments are those of `mean`, but one dimension.

    Args:
        input: a masked or ordinary tensor, strided
        dim: the dimension to work along; negative counts from the end (default: -1)
        keepdim: whether the reduced dimensions stay, with size 1 (default: False)
        dtype: the dtype of the result, to which the input is converted first; None for its own
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x = taeda.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> mask = taeda.tensor([[True, False], [True, True]])
    >>> taeda.masked.median(x, 1, mask=mask)
    tensor([1., 3.])
    """
    input, mask = counted("median", input, mask)
    own = typed(input, dtype)
    if not (own.is_floating_point() or own.is_complex()):
        return _middle_integer(own, dim, keepdim, mask)
    whole = bool(own.isnan().any()) and mask is None
    nan = float("nan")
    return (
        own.median(dim, keepdim)[0] if whole else filled(own, mask, nan).nanmedian(dim, keepdim)[0]
    )


def _middle_integer(own: Tensor, dim: int, keepdim: bool, mask: Tensor | None) -> Tensor:
    """The median of integers and bools: what does not count stands last."""
    if own.dim() == 0:
        return _middle_integer(own[None], 0, False, None if mask is None else mask[None])
    counts = _counts(own, dims_of(own, dim), True, mask)
    if not bool((counts > 0).all()):
        raise ValueError(f"median: nothing counts somewhere, and {own.dtype} holds no NaN")
    kept = own.to(taeda.uint8) if own.dtype is taeda.bool else own
    rising = filled(kept, mask, highest(kept.dtype)).sort(dim).values
    middle = rising.gather(dim, (counts - 1) // 2).to(own.dtype)
    return middle if keepdim else middle.squeeze(dim)


def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The variance along `dim` of the elements that count; NaN of fewer than the correction needs.

    `correction` is taken off their number, 1 by default; `unbiased=False` says 0. ValueError for both.
    The variance of complex numbers is complex too, with an imaginary part of 0.
    The other arguments are those of `mean`, but integers become floats.

    Args:
        input: a masked or ordinary tensor, strided
        dim: the dimension, or dimensions, to work along; negative counts from the end. None for
            all
        unbiased: True for a correction of 1, False for 0; None (the default) leaves it to correction
        correction: what is taken off the number of elements in the divisor; None (the default) for 1
        keepdim: whether the reduced dimensions stay, with size 1 (default: False)
        dtype: the dtype of the result, to which the input is converted first; None for its own
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x, mask = taeda.tensor([1.0, 9.0, 3.0]), taeda.tensor([True, False, True])
    >>> taeda.masked.var(x, 0, unbiased=False, mask=mask)
    tensor(1.)
    """
    input, mask = counted("var", input, mask)
    if unbiased is not None and correction is not None:
        raise ValueError("Only one of unbiased and correction may be given")
    off = float(unbiased) if unbiased is not None else (1.0 if correction is None else correction)
    own = typed(input, dtype)
    own = own if own.is_floating_point() or own.is_complex() else own.to(taeda.get_default_dtype())
    dims = dims_of(input, dim)
    wide = own.float() if own.dtype in (taeda.float16, taeda.bfloat16) else own
    count = _counts(own, dims, True, mask)
    middle = filled(wide, mask, 0).sum(dims, True) / count
    apart = filled(wide - middle, mask, 0)
    squares = (apart * apart.conj()).real if own.is_complex() else apart * apart
    left = (count - off).clamp_min(0)
    made = squares.sum(dims, True) / left
    return (made if keepdim else made.squeeze(dims)).to(own.dtype)


def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The root of `var`, with its arguments.

    Args:
        input: a masked or ordinary tensor, strided
        dim: the dimension, or dimensions, to work along; negative counts from the end. None for
            all
        unbiased: True for a correction of 1, False for 0; None (the default) leaves it to correction
        correction: what is taken off the number of elements in the divisor; None (the default) for 1
        keepdim: whether the reduced dimensions stay, with size 1 (default: False)
        dtype: the dtype of the result, to which the input is converted first; None for its own
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x, mask = taeda.tensor([1.0, 9.0, 3.0]), taeda.tensor([True, False, True])
    >>> taeda.masked.std(x, 0, unbiased=False, mask=mask)
    tensor(1.)
    """
    input, mask = counted("std", input, mask)
    return _root(typed(input, dtype), dim, unbiased, correction, keepdim, mask)


@rounded_once
def _root(
    own: Tensor,
    dim: Dims,
    unbiased: bool | None,
    correction: float | None,
    keepdim: bool,
    mask: Tensor | None,
) -> Tensor:
    """The variance may lie beyond 16 bits where its root does not."""
    return var(own, dim, unbiased, correction=correction, keepdim=keepdim, mask=mask).sqrt()
