"""Softmax and vectors of length 1, over what counts."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._fill import counted, filled, typed
from ._reduce import norm

__all__ = ["log_softmax", "normalize", "softmax", "softmin"]


def _floats(name: str, input: Tensor, dtype: Any) -> Tensor:
    own = typed(input, dtype)
    if not own.is_floating_point():
        raise NotImplementedError(
            f"masked.{name} is not implemented for {own.dtype}: pass floats, or their dtype as `dtype`"
        )
    return own


def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim` over the elements that count: the others get 0. NaN where none counts.

    Args:
        input: a masked or ordinary tensor, strided
        dim: the dimension to work along; negative counts from the end
        dtype: the dtype of the result, to which the input is converted first; None for its own
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x, mask = taeda.tensor([0.0, 9.0, 0.0]), taeda.tensor([True, False, True])
    >>> taeda.masked.softmax(x, 0, mask=mask)
    tensor([0.5000, 0.0000, 0.5000])
    """
    input, mask = counted("softmax", input, mask)
    return taeda.softmax(filled(_floats("softmax", input, dtype), mask, -float("inf")), dim)


def log_softmax(
    input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The logarithm of `softmax`, with its arguments.

    Args:
        input: a masked or ordinary tensor, strided
        dim: the dimension to work along; negative counts from the end
        dtype: the dtype of the result, to which the input is converted first; None for its own
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x, mask = taeda.tensor([0.0, 9.0, 0.0]), taeda.tensor([True, False, True])
    >>> taeda.masked.log_softmax(x, 0, mask=mask)[mask]
    tensor([-0.6931, -0.6931])
    """
    input, mask = counted("log_softmax", input, mask)
    return taeda.log_softmax(filled(_floats("log_softmax", input, dtype), mask, -float("inf")), dim)


def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """`softmax` of the negative input, with its arguments.

    Args:
        input: a masked or ordinary tensor, strided
        dim: the dimension to work along; negative counts from the end
        dtype: the dtype of the result, to which the input is converted first; None for its own
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x, mask = taeda.tensor([0.0, 9.0, 0.0]), taeda.tensor([True, False, True])
    >>> taeda.masked.softmin(x, 0, mask=mask)
    tensor([0.5000, 0.0000, 0.5000])
    """
    input, mask = counted("softmin", input, mask)
    return softmax(-_floats("softmin", input, dtype), dim, mask=mask)


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
        input: a masked or ordinary tensor, strided
        ord: the order of the norm
        dim: the dimension to work along; negative counts from the end
        eps: a small number that keeps the divisor away from 0 (default: 1e-12)
        dtype: the dtype of the result, to which the input is converted first; None for its own
        mask: bools that broadcast to the input, True where an element counts; None for all, or for
            what the masked input says counts, which no mask adds to

    >>> x, mask = taeda.tensor([3.0, 9.0, 4.0]), taeda.tensor([True, False, True])
    >>> taeda.masked.normalize(x, 2.0, 0, mask=mask)[mask]
    tensor([0.6000, 0.8000])
    """
    input, mask = counted("normalize", input, mask)
    own = typed(input, dtype)
    length = norm(own, ord, dim, keepdim=True, mask=mask)
    return filled(own, mask, 0) / length.clamp_min(eps)
