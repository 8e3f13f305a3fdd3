"""Sums and products up to each element."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from ._fill import counted, filled, typed

__all__ = ["cumprod", "cumsum"]


def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The sum of the elements that count up to each one along `dim`.

    Args:
        input: a masked or ordinary tensor, strided
        dim: the dimension to work along; negative counts from the end
        dtype: the dtype of the result, to which the input is converted first; None for its own,
            int64 of integers and bools
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x, mask = taeda.tensor([1.0, 9.0, 4.0]), taeda.tensor([True, False, True])
    >>> taeda.masked.cumsum(x, 0, mask=mask)
    tensor([1., 1., 5.])
    """
    input, mask = counted("cumsum", input, mask)
    return filled(typed(input, dtype, sums=True), mask, 0).cumsum(dim)


def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The product of the elements that count up to each one along `dim`. The arguments are those of
    `cumsum`.

    Args:
        input: a masked or ordinary tensor, strided
        dim: the dimension to work along; negative counts from the end
        dtype: the dtype of the result, to which the input is converted first; None for its own,
            int64 of integers and bools
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x, mask = taeda.tensor([2.0, 9.0, 4.0]), taeda.tensor([True, False, True])
    >>> taeda.masked.cumprod(x, 0, mask=mask)
    tensor([2., 2., 8.])
    """
    input, mask = counted("cumprod", input, mask)
    return filled(typed(input, dtype, sums=True), mask, 1).cumprod(dim)
