"""What every function here begins with: the input in its dtype, the mask in its shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import taeda
from taeda import Tensor

from ._graph import data_of, is_masked, mask_of_parts

__all__ = [
    "Dims",
    "counted",
    "dims_of",
    "filled",
    "highest",
    "index_dtype",
    "lowest",
    "mask_of",
    "typed",
]

Dims: TypeAlias = int | Sequence[int] | None


def typed(input: Tensor, dtype: Any, sums: bool = False) -> Tensor:
    """The input in `dtype`; if none is given in its own, where it `sums` integers and bools in int64."""
    if dtype is None and sums and not (input.is_floating_point() or input.is_complex()):
        dtype = taeda.int64
    return input if dtype is None else input.to(dtype)


def counted(name: str, input: Any, mask: Any) -> tuple[Tensor, Tensor | None]:
    """Input and mask of a function; of a masked tensor its data, and both masks have to say True.

    TypeError for what is no tensor, NotImplementedError for an input that is not strided.
    """
    if not isinstance(input, Tensor):
        raise TypeError(f"masked.{name}: input must be a tensor, but got {type(input).__name__}")
    if is_masked(input):
        own, given = mask_of_parts(input), mask_of(input, mask)
        return data_of(input), own if given is None else own & given
    if input.layout is not taeda.strided:
        raise NotImplementedError(
            f"masked.{name}: the input has layout {input.layout}: pass to_dense() of it and a mask, or use "
            "taeda.sparse, where what is not stored does not count"
        )
    return input, mask


def mask_of(input: Tensor, mask: Tensor | None) -> Tensor | None:
    """The mask as bools in the shape of the input. RuntimeError if it does not broadcast to it, TypeError for
    what is no tensor.
    """
    if mask is None:
        return None
    if not isinstance(mask, Tensor):
        raise TypeError(f"mask must be a tensor of bools or None, but got {type(mask).__name__}")
    if is_masked(mask):
        raise TypeError(
            "mask must be a plain tensor, but got a MaskedTensor: pass get_data() of it"
        )
    if mask.layout is not taeda.strided:
        mask = mask.to_dense()
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
    """The least number of a dtype: minus infinity of floats. TypeError for complex numbers."""
    return _end(dtype, -1)


def highest(dtype: Any) -> Any:
    """The greatest number of a dtype: infinity of floats. TypeError for complex numbers."""
    return _end(dtype, 1)


def _end(dtype: Any, sign: int) -> Any:
    if dtype.is_complex:
        raise TypeError(
            f"numbers of {dtype} have no order: take the real part, or the absolute values"
        )
    if dtype is taeda.bool:
        return sign > 0
    if dtype.is_floating_point:
        return sign * float("inf")
    return taeda.iinfo(dtype).max if sign > 0 else taeda.iinfo(dtype).min


def index_dtype(name: str, input: Tensor, dim: int | None, dtype: Any) -> Any:
    """The dtype of indices along `dim`: that of the input by default. RuntimeError if it does not hold the
    last of them, which would be rounded to another place.
    """
    held = input.dtype if dtype is None else dtype
    places = input.numel() if dim is None or not input.dim() else input.shape[dim]
    if places - 1 > _last_integer(held):
        raise RuntimeError(
            f"{name}: {held} does not hold each index of {places} places exactly; ask for dtype=taeda.int64"
        )
    return held


def _last_integer(dtype: Any) -> int:
    """How far a dtype holds every integer from 0 on."""
    if dtype is taeda.bool:
        return 1
    if dtype.is_floating_point or dtype.is_complex:
        return int(2 / taeda.finfo(dtype).eps)
    return int(taeda.iinfo(dtype).max)
