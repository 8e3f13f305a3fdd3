"""Shapes and orders of elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor

from ._common import Axis, axes_of, common

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip",
    "matrix_transpose", "moveaxis", "permute_dims", "repeat",
    "reshape", "roll", "squeeze", "stack", "tile", "unstack",
]  # fmt: skip


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """All in their common shape.

    >>> taeda.array_api.broadcast_arrays(taeda.tensor([1, 2]), taeda.tensor([[3]]))
    (tensor([[1, 2]]), tensor([[3, 3]]))
    """
    return tuple(taeda.broadcast_tensors(*arrays))


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that all of these broadcast to. ValueError if there is none.

    >>> taeda.array_api.broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    try:
        return tuple(taeda.broadcast_shapes(*shapes))
    except MemoryError:  # a RuntimeError as well
        raise
    except RuntimeError as error:
        raise ValueError(f"broadcast_shapes: {error}") from None


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """x in a shape that it broadcasts to.

    >>> taeda.array_api.broadcast_to(taeda.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    return taeda.broadcast_to(x, shape)


def _promoted(arrays: Sequence[Tensor]) -> list[Tensor]:
    dtype = common(*arrays)
    return [a.to(dtype) for a in arrays]


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """One after the other along an axis; flattened first, if that is None.

    >>> taeda.array_api.concat([taeda.tensor([1]), taeda.tensor([2, 3])])
    tensor([1, 2, 3])
    """
    parts = _promoted(arrays)
    if axis is None:
        return taeda.cat([p.flatten() for p in parts])
    return taeda.cat(parts, axes_of(parts[0], axis)[0])


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Beside each other along a new axis.

    >>> taeda.array_api.stack([taeda.tensor([1, 2]), taeda.tensor([3, 4])], axis=1)
    tensor([[1, 3],
            [2, 4]])
    """
    return taeda.stack(_promoted(arrays), axis)


def expand_dims(x: Tensor, /, axis: int | tuple[int, ...] = 0) -> Tensor:
    """New axes of size 1 at these places of the result.
    IndexError for a place that is not there, ValueError for one given twice.

    >>> taeda.array_api.expand_dims(taeda.ones(2, 3), axis=1).shape
    taeda.Size([2, 1, 3])
    """
    if isinstance(axis, int):
        return x.unsqueeze(axis)
    rank = x.ndim + len(axis)
    for a in axis:
        if not -rank <= a < rank:
            raise IndexError(f"expand_dims: axis {a} is out of bounds for {rank} dimensions")
    places = {a % rank for a in axis}
    if len(places) != len(axis):
        raise ValueError(f"expand_dims: {tuple(axis)} names an axis twice")
    for place in sorted(places):
        x = x.unsqueeze(place)
    return x


def squeeze(x: Tensor, /, axis: Axis) -> Tensor:
    """Without these axes of size 1. ValueError for an axis of another size.

    >>> taeda.array_api.squeeze(taeda.ones(1, 3), axis=0).shape
    taeda.Size([3])
    """
    axes = axes_of(x, axis)
    for a in axes:
        if x.shape[a] != 1:
            raise ValueError(f"squeeze: axis {a} has size {x.shape[a]}, not 1")
    return x.squeeze(axes) if axes else x


def flip(x: Tensor, /, *, axis: Axis = None) -> Tensor:
    """The other way round along axes, all of them if None.

    >>> taeda.array_api.flip(taeda.tensor([1, 2, 3]))
    tensor([3, 2, 1])
    """
    return taeda.flip(x, axes_of(x, axis))


def matrix_transpose(x: Tensor, /) -> Tensor:
    """The last two axes exchanged. ValueError for a vector.

    >>> taeda.array_api.matrix_transpose(taeda.ones(2, 3, 4)).shape
    taeda.Size([2, 4, 3])
    """
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: wanted 2 axes at least, got {x.ndim}")
    return x.mT


def moveaxis(x: Tensor, source: Any, destination: Any, /) -> Tensor:
    """Axes at other places.

    >>> taeda.array_api.moveaxis(taeda.ones(2, 3, 4), 0, -1).shape
    taeda.Size([3, 4, 2])
    """
    return taeda.movedim(x, source, destination)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """The axes in another order.

    >>> taeda.array_api.permute_dims(taeda.ones(2, 3, 4), (2, 0, 1)).shape
    taeda.Size([4, 2, 3])
    """
    return x.permute(tuple(axes))


def repeat(x: Tensor, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    """Each element several times.

    >>> taeda.array_api.repeat(taeda.tensor([1, 2]), 2)
    tensor([1, 1, 2, 2])
    """
    return taeda.repeat_interleave(x, repeats, axis)


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """Another shape. ValueError where that needs a copy and `copy` is False.

    >>> taeda.array_api.reshape(taeda.tensor([1, 2, 3, 4]), (2, 2))
    tensor([[1, 2],
            [3, 4]])
    """
    if copy is False:
        try:
            return x.view(shape)
        except MemoryError:  # a RuntimeError as well
            raise
        except RuntimeError as error:
            raise ValueError(f"reshape: {error}") from None
    made = x.reshape(shape)
    return made.clone() if copy else made


def roll(x: Tensor, /, shift: Any, *, axis: Axis = None) -> Tensor:
    """Shifted around along axes; flattened meanwhile if None.

    >>> taeda.array_api.roll(taeda.tensor([1, 2, 3]), 1)
    tensor([3, 1, 2])
    """
    shift = shift if isinstance(shift, int) or axis is None else tuple(shift)
    if axis is not None and not isinstance(axis, int):
        axis = tuple(axis)
        shift = (shift,) * len(axis) if isinstance(shift, int) else shift
    return taeda.roll(x, shift) if axis is None else taeda.roll(x, shift, axis)


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """x several times along each axis.

    >>> taeda.array_api.tile(taeda.tensor([1, 2]), (2,))
    tensor([1, 2, 1, 2])
    """
    return taeda.tile(x, tuple(repetitions))


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The parts along an axis, without it.

    >>> taeda.array_api.unstack(taeda.tensor([[1, 2], [3, 4]]))
    (tensor([1, 2]), tensor([3, 4]))
    """
    return tuple(x.unbind(axes_of(x, axis)[0]))
