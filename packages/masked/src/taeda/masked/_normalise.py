"""Softmax and vectors of length 1, over what counts."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._fill import filled, typed
from ._reduce import norm

__all__ = ["log_softmax", "normalize", "softmax", "softmin"]


def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim` over the elements that count: the others get 0. NaN where none counts.

    Args:
        input: a tensor of floats.
        dim: a dimension.
        dtype: of the result; that of the input by default.
        mask: bools that broadcast to the input: True for what counts; None for all.

    Args:
        input: a masked or ordinary tensor
        dim: the dimension, or dimensions, to work along; negative counts from the end. None for
            all
        dtype: the dtype of the result, to which the input is converted first; None for its own
        mask: a bool tensor of the data's shape, True where an element counts; None for all

    >>> x, mask = taeda.tensor([0.0, 9.0, 0.0]), taeda.tensor([True, False, True])
    >>> taeda.masked.softmax(x, 0, mask=mask)
    tensor([0.5000, 0.0000, 0.5000])
    """
    return taeda.softmax(filled(typed(input, dtype), mask, -float("inf")), dim)


def log_softmax(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The logarithm of `softmax`, with its arguments.

    Args:
        input: a masked or ordinary tensor
        dim: the dimension, or dimensions, to work along; negative counts from the end. None for
            all
        dtype: the dtype of the result, to which the input is converted first; None for its own
        mask: a bool tensor of the data's shape, True where an element counts; None for all

    >>> x, mask = taeda.tensor([0.0, 9.0, 0.0]), taeda.tensor([True, False, True])
    >>> taeda.masked.log_softmax(x, 0, mask=mask)[mask]
    tensor([-0.6931, -0.6931])
    """
    return taeda.log_softmax(filled(typed(input, dtype), mask, -float("inf")), dim)


def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """`softmax` of the negative input, with its arguments.

    Args:
        input: a masked or ordinary tensor
        dim: the dimension, or dimensions, to work along; negative counts from the end. None for
            all
        dtype: the dtype of the result, to which the input is converted first; None for its own
        mask: a bool tensor of the data's shape, True where an element counts; None for all

    >>> x, mask = taeda.tensor([0.0, 9.0, 0.0]), taeda.tensor([True, False, True])
    >>> taeda.masked.softmin(x, 0, mask=mask)
    tensor([0.5000, 0.0000, 0.5000])
    """
    return softmax(-input, dim, dtype=dtype, mask=mask)


def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The elements that count divided by their norm of the order `ord` along `dim`, which is `eps` at
    least; the others get 0. The other arguments are those of `softmax`.

    Args:
        input: a masked or ordinary tensor
        ord: the order of the norm
        dim: the dimension, or dimensions, to work along; negative counts from the end. None for
            all
        eps: a small number that keeps the divisor away from 0 (default: 1e-12)
        dtype: the dtype of the result, to which the input is converted first; None for its own
        mask: a bool tensor of the data's shape, True where an element counts; None for all

    >>> x, mask = taeda.tensor([3.0, 9.0, 4.0]), taeda.tensor([True, False, True])
    >>> taeda.masked.normalize(x, 2.0, 0, mask=mask)[mask]
    tensor([0.6000, 0.8000])
    """
    own = typed(input, dtype)
    length = norm(own, ord, dim, keepdim=True, mask=mask)
    return filled(own, mask, 0) / length.clamp_min(eps)
