"""Arrays from nothing, and from others."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like",
    "linspace", "meshgrid", "ones",
    "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip

Shape = int | tuple[int, ...]


def _sizes(shape: Shape) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: Any = None,
    device: Any = None,
) -> Tensor:
    """start, start + step, ... before stop; from 0 on if only one number is given.

    >>> taeda.array_api.arange(0, 6, 2)
    tensor([0, 2, 4])
    """
    start, stop = (0, start) if stop is None else (start, stop)
    if (stop - start) * step <= 0:
        kind = (
            taeda.result_type(taeda.tensor(start), taeda.tensor(step)) if dtype is None else dtype
        )
        return taeda.empty(0, dtype=kind, device=device)
    return taeda.arange(start, stop, step, dtype=dtype, device=device)


def asarray(
    obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None
) -> Tensor:
    """Anything as a tensor. ValueError where `copy` is False and one is needed.

    >>> taeda.array_api.asarray([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    if copy is False:
        return taeda.asarray(obj, dtype=dtype, device=device, copy=False)
    made = taeda.asarray(obj, dtype=dtype, device=device)
    return (
        made.clone() if copy and made is obj else taeda.asarray(made, copy=True) if copy else made
    )


def empty(shape: Shape, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Any values.

    >>> taeda.array_api.empty((2, 3)).shape
    taeda.Size([2, 3])
    """
    return taeda.empty(_sizes(shape), dtype=dtype, device=device)


def zeros(shape: Shape, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Zeros.

    >>> taeda.array_api.zeros((2,))
    tensor([0., 0.])
    """
    return taeda.zeros(_sizes(shape), dtype=dtype, device=device)


def ones(shape: Shape, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones.

    >>> taeda.array_api.ones((2,))
    tensor([1., 1.])
    """
    return taeda.ones(_sizes(shape), dtype=dtype, device=device)


def full(shape: Shape, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """One value everywhere, in its kind's default dtype unless told.

    >>> taeda.array_api.full((2,), 7)
    tensor([7, 7])
    """
    return taeda.full(_sizes(shape), fill_value, dtype=dtype, device=device)


def empty_like(x: Tensor, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Any values in the shape of x.

    >>> taeda.array_api.empty_like(taeda.ones(2, 3)).shape
    taeda.Size([2, 3])
    """
    return taeda.empty_like(x, dtype=dtype, device=device)


def zeros_like(x: Tensor, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Zeros in the shape of x.

    >>> taeda.array_api.zeros_like(taeda.tensor([1, 2]))
    tensor([0, 0])
    """
    return taeda.zeros_like(x, dtype=dtype, device=device)


def ones_like(x: Tensor, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones in the shape of x.

    >>> taeda.array_api.ones_like(taeda.tensor([1, 2]))
    tensor([1, 1])
    """
    return taeda.ones_like(x, dtype=dtype, device=device)


def full_like(x: Tensor, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """One value in the shape of x.

    >>> taeda.array_api.full_like(taeda.tensor([1, 2]), 7)
    tensor([7, 7])
    """
    return taeda.full_like(x, fill_value, dtype=dtype, device=device)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None
) -> Tensor:
    """Ones on the k-th diagonal.

    >>> taeda.array_api.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    columns = n_rows if n_cols is None else n_cols
    made = taeda.zeros((n_rows, columns), dtype=dtype, device=device)
    if -n_rows < k < columns:
        made.diagonal(k).fill_(1)
    return made


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Tensor:
    """`num` numbers at even distances, the last of them stop, or one distance before it.

    >>> taeda.array_api.linspace(0.0, 1.0, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if dtype is None and (isinstance(start, complex) or isinstance(stop, complex)):
        dtype = taeda.get_default_dtype().to_complex()
    if endpoint:
        return taeda.linspace(start, stop, num, dtype=dtype, device=device)
    return taeda.linspace(start, stop, num + 1, dtype=dtype, device=device)[:num]


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Coordinates of the grid that vectors span.

    >>> taeda.array_api.meshgrid(taeda.tensor([1, 2]), taeda.tensor([3]))
    (tensor([[1, 2]]), tensor([[3, 3]]))
    """
    return tuple(taeda.meshgrid(*arrays, indexing=indexing)) if arrays else ()


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The triangle below the k-th diagonal, zeros above.

    >>> taeda.array_api.tril(taeda.ones(2, 2))
    tensor([[1., 0.],
            [1., 1.]])
    """
    return taeda.tril(x, k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The triangle above the k-th diagonal, zeros below.

    >>> taeda.array_api.triu(taeda.ones(2, 2))
    tensor([[1., 1.],
            [0., 1.]])
    """
    return taeda.triu(x, k)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """The memory of another library's array as a tensor, or a copy.

    >>> taeda.array_api.from_dlpack(taeda.tensor([1, 2]))
    tensor([1, 2])
    """
    made = taeda.from_dlpack(x)
    if device is not None and taeda.device(device) != made.device:
        if copy is False:
            raise ValueError(
                f"from_dlpack: moving to {device} needs a copy, and copy=False forbids it"
            )
        made = made.to(device)
    return made.clone() if copy else made
