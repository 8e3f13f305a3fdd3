"""What every function here begins with: the input in its dtype, the mask in its shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import taeda
from taeda import Tensor

__all__ = ["Dims", "dims_of", "filled", "highest", "lowest", "mask_of", "typed"]

Dims: TypeAlias = int | Sequence[int] | None


def typed(input: Tensor, dtype: Any, sums: bool = False) -> Tensor:
    """The input in `dtype`; if none is given in its own, where it `sums` integers and bools in int64."""
    if dtype is None and sums and not (input.is_floating_point() or input.is_complex()):
        dtype = taeda.int64
    return input if dtype is None else input.to(dtype)


def mask_of(input: Tensor, mask: Tensor | None) -> Tensor | None:
    """The mask as bools in the shape of the input. RuntimeError if it does not broadcast to it, TypeError for
    what is no tensor.
    """
    if mask is None:
        return None
    if not isinstance(mask, Tensor):
        raise TypeError(f"mask must be a tensor of bools or None, but got {type(mask).__name__}")
    own = mask if mask.dtype is taeda.bool else mask != 0
    return own.expand(input.shape)


def filled(input: Tensor, mask: Tensor | None, value: Any) -> Tensor:
    """The input, with `value` where the mask is False; gradients flow to what counts alone."""
    own = mask_of(input, mask)
    return input if own is None else input.masked_fill(~own, value)


def dims_of(input: Tensor, dim: Dims) -> tuple[int, ...]:
    """The dimensions counted from 0, all if none is named. IndexError for one that there is not,
    RuntimeError for one that is named twice.
    """
    rank = input.dim()
    if dim is None or (not isinstance(dim, int) and not len(dim)):
        return tuple(range(rank))
    named = [dim] if isinstance(dim, int) else [int(d) for d in dim]
    count = max(rank, 1)
    for d in named:
        if not -count <= d < count:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {d})"
            )
    found = tuple(d % count for d in named)
    if len(set(found)) < len(found):
        raise RuntimeError(f"a dimension appears twice in {tuple(named)}")
    return found if rank else ()


def lowest(dtype: Any) -> Any:
    """The least number of a dtype: minus infinity of floats."""
    if dtype is taeda.bool:
        return False
    return -float("inf") if dtype.is_floating_point else taeda.iinfo(dtype).min


def highest(dtype: Any) -> Any:
    """The greatest number of a dtype: infinity of floats."""
    if dtype is taeda.bool:
        return True
    return float("inf") if dtype.is_floating_point else taeda.iinfo(dtype).max
