"""gradcheck for functions of sparse tensors: their values are moved, and looked at."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

from ._compress import to_compressed
from ._compressed import BLOCKED
from ._graph import at_places, built, entries
from ._parts import coalesced, parts_of

__all__ = ["as_sparse_gradcheck"]


def as_sparse_gradcheck(gradcheck: Callable[..., bool]) -> Callable[..., bool]:
    """A gradcheck that takes sparse tensors as inputs and outputs.

    With `masked=True` elements without an entry are no inputs: their derivatives are not looked at. With
    masked=False (the default) each element is an input, so the function is called with all of them as
    entries.

    Args:
        gradcheck: a function such as `taeda.autograd.gradcheck`.

    >>> import taeda
    >>> x = taeda.eye(2, dtype=taeda.float64).to_sparse().requires_grad_()
    >>> check = taeda.sparse.as_sparse_gradcheck(taeda.autograd.gradcheck)
    >>> check(lambda x: (x * x).to_dense(), x, masked=True)
    True
    """

    @functools.wraps(gradcheck)
    def check(func: Callable[..., Any], inputs: Any, **options: Any) -> bool:
        masked = bool(options.pop("masked", False))
        given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
        rebuild = [_rebuilder(x, masked) for x in given]
        values = tuple(
            x if made is None else made[0] for x, made in zip(given, rebuild, strict=True)
        )

        def of_values(*args: Any) -> Any:
            own = [
                arg if made is None else built(made[1], arg, made[2])
                for arg, made in zip(args, rebuild, strict=True)
            ]
            return _strided(func(*own), masked)

        return gradcheck(of_values, values, **options)

    return check


def _rebuilder(x: Any, masked: bool) -> tuple[Tensor, Any, Any] | None:
    """(values that are moved, parts, size) of a sparse tensor that requires grad."""
    if not isinstance(x, Tensor) or x.layout is taeda.strided or not x.requires_grad:
        return None
    own = x.detach()
    parts = coalesced(parts_of(own), x.shape) if masked else _whole(own)
    values = parts.values if masked else at_places(own, parts)
    return values.detach().clone().requires_grad_(), parts, tuple(x.shape)


def _whole(x: Tensor) -> Any:
    """Parts that have each element of the tensor as an entry."""
    ones = taeda.ones(x.shape, dtype=x.dtype)
    if x.layout is taeda.sparse_coo:
        return parts_of(ones.to_sparse(x.sparse_dim()))
    block = parts_of(x).blocksize if x.layout in BLOCKED else None
    return parts_of(to_compressed(ones, x.layout, block, x.dense_dim()))


def _strided(made: Any, masked: bool) -> Any:
    if isinstance(made, (tuple, list)):
        return type(made)(_strided(one, masked) for one in made)
    if not isinstance(made, Tensor) or made.layout is taeda.strided:
        return made
    return entries(made)[1] if masked else made.to_dense()
