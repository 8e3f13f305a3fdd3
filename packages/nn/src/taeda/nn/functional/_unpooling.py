"""Unpooling, the partial inverse of maximum pools, and pools with windows at random places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.calls import casts_to_float32
from taeda._core_api.doors import asks, call_others, exact, is_for_others, watched

from ._windows import sizes_of

__all__ = [
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]

# ---- unpooling ----


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Maxima put back at their places, zeros elsewhere.

    `output_size` chooses among the sizes that would have been pooled to this one. Raises ValueError for
    one that would not, RuntimeError for indices that lie outside or do not fit the input.

    Args:
        input: what the pool gave, of shape (N, C, *) or (C, *)
        indices: the places that max_pool returned, int64 of the input's shape
        kernel_size: the size of the window, at least 1: an int, or one for each spatial dimension
        stride: the step of the window, at least 1: an int, or a list of one; None for
            kernel_size (default: None)
        padding: the padding that the pooling had: an int, or a list of one (default: 0)
        output_size: the sizes of the result, which pooling may have rounded down: the spatial
            ones, or all; None for (size - 1) stride - 2 padding + kernel_size (default: None)

    >>> x = taeda.tensor([[1.0, 5.0, 3.0, 2.0]])
    >>> values, places = taeda.nn.functional.max_pool1d(x, 2, return_indices=True)
    >>> taeda.nn.functional.max_unpool1d(values, places, 2)
    tensor([[0., 5., 3., 0.]])
    """
    if (watched or type(input) not in exact or type(indices) not in exact) and is_for_others(
        (input, indices)
    ):
        return call_others(max_unpool1d, (input, indices))
    return _max_unpool(input, indices, kernel_size, stride, padding, output_size, 1)


@asks
@casts_to_float32
def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Maxima put back at their places in each plane, zeros elsewhere. Otherwise as `max_unpool1d`.

    Args:
        input: what the pool gave, of shape (N, C, *) or (C, *)
        indices: the places that max_pool returned, int64 of the input's shape
        kernel_size: the size of the window, at least 1: an int, or one for each spatial dimension
        stride: the step of the window, at least 1: an int, or one for each of the 2 spatial
            dimensions; None for kernel_size (default: None)
        padding: the padding that the pooling had: an int, or one for each of the 2 spatial
            dimensions (default: 0)
        output_size: the sizes of the result, which pooling may have rounded down: the spatial
            ones, or all; None for (size - 1) stride - 2 padding + kernel_size (default: None)

    >>> x = taeda.arange(16.0).reshape(1, 4, 4)
    >>> values, places = taeda.nn.functional.max_pool2d(x, 2, return_indices=True)
    >>> taeda.nn.functional.max_unpool2d(values, places, 2)
    tensor([[[ 0.,  0.,  0.,  0.],
             [ 0.,  5.,  0.,  7.],
             [ 0.,  0.,  0.,  0.],
             [ 0., 13.,  0., 15.]]])
    """
    return _max_unpool(input, indices, kernel_size, stride, padding, output_size, 2)


@asks
@casts_to_float32
def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Maxima put back at their places in each volume, zeros elsewhere. Otherwise as `max_unpool1d`.

    Args:
        input: what the pool gave, of shape (N, C, *) or (C, *)
        indices: the places that max_pool returned, int64 of the input's shape
        kernel_size: the size of the window, at least 1: an int, or one for each spatial dimension
        stride: the step of the window, at least 1: an int, or one for each of the 3 spatial
            dimensions; None for kernel_size (default: None)
        padding: the padding that the pooling had: an int, or one for each of the 3 spatial
            dimensions (default: 0)
        output_size: the sizes of the result, which pooling may have rounded down: the spatial
            ones, or all; None for (size - 1) stride - 2 padding + kernel_size (default: None)

    >>> x = taeda.arange(8.0).reshape(1, 2, 2, 2)
    >>> values, places = taeda.nn.functional.max_pool3d(x, 2, return_indices=True)
    >>> taeda.nn.functional.max_unpool3d(values, places, 2)
    tensor([[[[0., 0.],
              [0., 0.]],
    <BLANKLINE>
             [[0., 0.],
              [0., 7.]]]])
    """
    return _max_unpool(input, indices, kernel_size, stride, padding, output_size, 3)


def _max_unpool(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    output_size: Any,
    count: int,
) -> Tensor:
    if input.dim() not in (count + 1, count + 2):
        raise RuntimeError(
            f"Input to max_unpooling{count}d should be a {count + 1}d or {count + 2}d Tensor, but got a "
            f"tensor with {input.dim()} dimensions."
        )
    if indices.dtype != taeda.int64:
        raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype}")
    if indices.shape != input.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got "
            f"indices tensor with shape: {list(indices.shape)}"
        )
    kernel = sizes_of("kernel_size", kernel_size, count)
    steps = kernel if stride is None else sizes_of("stride", stride, count)
    size = _unpooled_size(
        input.shape[-count:], kernel, steps, sizes_of("padding", padding, count), output_size
    )
    places = indices.flatten(-count)
    volume = math.prod(size)
    zeros = taeda.zeros((*places.shape[:-1], volume), dtype=input.dtype, device=input.device)
    try:  # values are read only for the message: a graph has none
        return zeros.scatter(-1, places, input.flatten(-count)).unflatten(-1, size)
    except RuntimeError:
        _check_places(places, volume, size)
        raise


def _check_places(places: Tensor, volume: int, size: Sequence[int]) -> None:
    outside = (places < 0) | (places >= volume)
    if bool(outside.any()):
        shown = "x".join(map(str, size))
        raise RuntimeError(
            f"Found an invalid max index: {int(places[outside][0])} (output volumes are of size {shown})"
        )


def _unpooled_size(
    pooled: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    output_size: Any,
) -> tuple[int, ...]:
    default = tuple(
        (n - 1) * s + k - 2 * p for n, k, s, p in zip(pooled, kernel, stride, padding, strict=True)
    )
    if output_size is None:
        return default
    count = len(pooled)
    if len(output_size) == count + 2:
        output_size = output_size[2:]
    if len(output_size) != count:
        raise ValueError(
            f"output_size should be a sequence containing {count} or {count + 2} elements, but it has a "
            f"length of '{len(output_size)}'"
        )
    for i, (wanted, middle, step) in enumerate(zip(output_size, default, stride, strict=True)):
        if not middle - step < wanted < middle + step:
            raise ValueError(
                f'invalid output_size "{tuple(output_size)}" (dim {i} must be between '
                f"{middle - step} and {middle + step})"
            )
    return tuple(output_size)


# ---- windows at random places ----


@asks
@casts_to_float32
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Maxima of windows whose steps are drawn at random so that `output_size` of them cover each plane.

    Exactly one of `output_size` and `output_ratio` is needed. Raises ValueError without either, and
    RuntimeError where the windows are larger than the input allows.

    Args:
        input: what the pool gave, of shape (N, C, *) or (C, *)
        kernel_size: the size of the window, at least 1: an int, or one for each spatial dimension
        output_size: the spatial sizes of the result: an int, or one for each spatial dimension;
            None if output_ratio says them (default: None)
        output_ratio: the output sizes as shares of the input sizes, between 0 and 1; None if
            output_size is given
        return_indices: whether the places of the largest elements come too: int64, counted
            through the spatial dimensions of each channel (default: False)

    >>> x = taeda.rand(1, 3, 9, 9)
    >>> taeda.nn.functional.fractional_max_pool2d(x, 2, output_ratio=0.6).shape
    taeda.Size([1, 3, 5, 5])
    """
    given = (output_size, output_ratio, _random_samples)
    pooled = _fractional(input, kernel_size, *given, 2)
    return pooled if return_indices else pooled[0]


@asks
@casts_to_float32
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """`fractional_max_pool2d` over volumes.

    Args:
        input: what the pool gave, of shape (N, C, *) or (C, *)
        kernel_size: the size of the window, at least 1: an int, or one for each spatial dimension
        output_size: the spatial sizes of the result: an int, or one for each spatial dimension;
            None if output_ratio says them (default: None)
        output_ratio: the output sizes as shares of the input sizes, between 0 and 1; None if
            output_size is given
        return_indices: whether the places of the largest elements come too: int64, counted
            through the spatial dimensions of each channel (default: False)

    >>> x = taeda.rand(1, 3, 9, 9, 9)
    >>> taeda.nn.functional.fractional_max_pool3d(x, 2, output_size=(5, 4, 3)).shape
    taeda.Size([1, 3, 5, 4, 3])
    """
    given = (output_size, output_ratio, _random_samples)
    pooled = _fractional(input, kernel_size, *given, 3)
    return pooled if return_indices else pooled[0]


@asks
@casts_to_float32
def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """`fractional_max_pool2d` and the places of the maxima.

    Args:
        input: what the pool gave, of shape (N, C, *) or (C, *)
        kernel_size: the size of the window, at least 1: an int, or one for each spatial dimension
        output_size: the spatial sizes of the result: an int, or one for each spatial dimension;
            None if output_ratio says them (default: None)
        output_ratio: the output sizes as shares of the input sizes, between 0 and 1; None if
            output_size is given
        return_indices: whether the places of the largest elements come too: int64, counted
            through the spatial dimensions of each channel (default: False)

    >>> x = taeda.rand(1, 3, 9, 9)
    >>> values, places = taeda.nn.functional.fractional_max_pool2d_with_indices(x, 2, (5, 4))
    >>> taeda.equal(x.flatten(2).gather(2, places.flatten(2)), values.flatten(2))
    True
    """
    return _fractional(input, kernel_size, output_size, output_ratio, _random_samples, 2)


@asks
@casts_to_float32
def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """`fractional_max_pool3d` and the places of the maxima.

    Args:
        input: what the pool gave, of shape (N, C, *) or (C, *)
        kernel_size: the size of the window, at least 1: an int, or one for each spatial dimension
        output_size: the spatial sizes of the result: an int, or one for each spatial dimension;
            None if output_ratio says them (default: None)
        output_ratio: the output sizes as shares of the input sizes, between 0 and 1; None if
            output_size is given
        return_indices: whether the places of the largest elements come too: int64, counted
            through the spatial dimensions of each channel (default: False)

    >>> x = taeda.rand(1, 3, 9, 9, 9)
    >>> values, places = taeda.nn.functional.fractional_max_pool3d_with_indices(x, 2, (5, 4, 3))
    >>> taeda.equal(x.flatten(2).gather(2, places.flatten(2)), values.flatten(2))
    True
    """
    return _fractional(input, kernel_size, output_size, output_ratio, _random_samples, 3)


def _fractional(
    input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any, count: int
) -> tuple[Tensor, Tensor]:
    name = f"fractional_max_pool{count}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if input.dim() not in (count + 1, count + 2):
        raise RuntimeError(
            f"{name}(): Expected {count + 1}D or {count + 2}D tensor, but got: {list(input.shape)}"
        )
    size = tuple(input.shape[-count:])
    kernel = sizes_of("kernel_size", kernel_size, count)
    if output_size is None:
        ratios = output_ratio if isinstance(output_ratio, Sequence) else (output_ratio,) * count
        output_size = tuple(int(n * ratio) for n, ratio in zip(size, ratios, strict=True))
    wanted = sizes_of("output_size", output_size, count)
    for n, k, out in zip(size, kernel, wanted, strict=True):
        if out + k - 1 > n:
            raise RuntimeError(
                f"{name}(): pool size {k} too large relative to input size {n} for {out} windows"
            )
    batch = input.unsqueeze(0) if input.dim() == count + 1 else input
    if samples is None:
        shape = (*batch.shape[:2], count)
        samples = taeda.rand(shape, dtype=input.dtype, device=input.device)
    samples = samples[: batch.size(0)]
    places = _window_places(samples, size, kernel, wanted)
    taken = batch.flatten(2).gather(2, places.flatten(2)).unflatten(2, places.shape[2:])
    values, chosen = taken.max(-1)
    indices = places.gather(-1, chosen.unsqueeze(-1)).squeeze(-1)
    shape = (*batch.shape[:2], *wanted)
    pair = values.reshape(shape), indices.reshape(shape)
    return (pair[0][0], pair[1][0]) if batch is not input else pair


def _window_places(
    samples: Tensor, size: Sequence[int], kernel: Sequence[int], wanted: Sequence[int]
) -> Tensor:
    """Index into the flattened input, (N, C, windows, kernel elements)."""
    count = len(size)
    places = taeda.zeros((*samples.shape[:2], 1, 1), dtype=taeda.int64, device=samples.device)
    for axis in range(count):
        # the samples of a plane are in the order of the axes from the last to the first
        at = count - 1 - axis if count == 2 else axis
        starts = _starts(samples[..., at], size[axis], kernel[axis], wanted[axis])
        along = starts.unsqueeze(-1) + taeda.arange(kernel[axis], device=samples.device)
        combined = places[:, :, :, None, :, None] * size[axis] + along[:, :, None, :, None, :]
        places = combined.flatten(4).flatten(2, 3)
    return places


def _starts(sample: Tensor, size: int, kernel: int, wanted: int) -> Tensor:
    """First index of every window along one axis: even steps, shifted by the sample; the last ends
    the axis.
    """
    last = taeda.full((*sample.shape, 1), size - kernel, dtype=taeda.int64, device=sample.device)
    if wanted == 1:
        return last
    step = (size - kernel) / (wanted - 1)
    offset = sample.unsqueeze(-1)
    i = taeda.arange(wanted - 1, device=sample.device, dtype=sample.dtype)
    starts = ((i + offset) * step).to(taeda.int64) - (offset * step).to(taeda.int64)
    return taeda.cat([starts, last], -1)
