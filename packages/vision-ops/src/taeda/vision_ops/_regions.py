"""Operators on regions of pictures: means, largest values, and those that read a channel for each bin."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._checks import check_regions, computed
from ._kernels import Bins, call

__all__ = ["OPERATORS", "ps_roi_align", "ps_roi_pool", "roi_align", "roi_pool"]


def _bins(
    input_shape: Any,
    rois: Tensor,
    scale: float,
    rows: int,
    columns: int,
    by_bin: bool,
    samples: int = 0,
    aligned: bool = True,
) -> Bins:
    _, channels, height, width = input_shape
    own = channels // (rows * columns) if by_bin else channels
    return Bins(rois.shape[0], own, height, width, rows, columns, channels, scale, samples, aligned)


def _by_bin(op: str, channels: int, rows: int, columns: int) -> None:
    if channels % (rows * columns):
        raise RuntimeError(
            f"{op}: a channel is read for each bin, so the channels of input are a multiple of {rows} x "
            f"{columns}, got {channels}"
        )


def _pooled(kernel: str, input: Tensor, rois: Tensor, bins: Bins, *more: Tensor) -> Tensor:
    """The result of a kernel for each region, in the dtype of the input."""
    pictures, regions = computed(input, "input"), computed(rois, "rois")
    made = taeda.empty(bins.regions, bins.channels, bins.rows, bins.columns, dtype=pictures.dtype)
    call(kernel, pictures.dtype, bins, regions, pictures, made, *more)
    return made.to(input.dtype)


def _spread(
    kernel: str, grad: Tensor, rois: Tensor, bins: Bins, sizes: Any, *more: Tensor
) -> Tensor:
    """The gradient of the pictures."""
    gradient, regions = computed(grad, "grad"), computed(rois, "rois")
    made = taeda.zeros(sizes, dtype=gradient.dtype)
    call(f"{kernel}_backward", gradient.dtype, bins, regions, *more, gradient, made)
    return made.to(grad.dtype)


def _mapping(bins: Bins) -> Tensor:
    """The channel that each bin reads."""
    shape = bins.channels, bins.rows, bins.columns
    numbers = taeda.arange(bins.of_picture, dtype=taeda.int32).view(shape)
    return numbers.expand(bins.regions, *shape).contiguous()


# ---- operators ----


def roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    """The mean of samples between places, in each bin of each region.

    Returns [K, C, pooled_height, pooled_width]; RuntimeError for what does not fit.

    Args:
        input: [N, C, H, W], of a floating-point dtype
        rois: [K, 5] of that dtype: the number of a picture, and x1, y1, x2, y2
        spatial_scale: places of `input` for a unit of those
        pooled_height, pooled_width: bins of a region
        sampling_ratio: samples along a side of a bin; 0 or less: as many as it has places
        aligned: places lie in the middle of their squares; else regions are at least one place large

    >>> picture = taeda.arange(16.0).reshape(1, 1, 4, 4)
    >>> region = taeda.tensor([[0.0, 0, 0, 4, 4]])
    >>> roi_align(picture, region, 1.0, 2, 2, 2, True).tolist()
    [[[[2.5, 4.5], [10.5, 12.5]]]]
    """
    size = pooled_height, pooled_width
    check_regions("roi_align", input, rois, spatial_scale, *size)
    bins = _bins(input.shape, rois, spatial_scale, *size, False, sampling_ratio, aligned)
    return _pooled("roi_align", input, rois, bins)


def _roi_align_backward(
    grad: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    sizes = batch_size, channels, height, width
    bins = _bins(
        sizes, rois, spatial_scale, pooled_height, pooled_width, False, sampling_ratio, aligned
    )
    return _spread("roi_align", grad, rois, bins, sizes)


def roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[Tensor, Tensor]:
    """The largest value in each bin of each region, and its place as int32; 0 and -1 of an empty bin.

    A region is rounded to whole places, and holds its last ones.

    Args:
        input, rois, spatial_scale, pooled_height, pooled_width: as of `roi_align`

    >>> picture = taeda.arange(16.0).reshape(1, 1, 4, 4)
    >>> region = taeda.tensor([[0.0, 0, 0, 3, 3]])
    >>> largest, places = roi_pool(picture, region, 1.0, 2, 2)
    >>> largest.tolist(), places.dtype
    ([[[[5.0, 7.0], [13.0, 15.0]]]], taeda.int32)
    """
    size = pooled_height, pooled_width
    check_regions("roi_pool", input, rois, spatial_scale, *size)
    bins = _bins(input.shape, rois, spatial_scale, *size, False)
    places = taeda.empty(bins.regions, bins.channels, *size, dtype=taeda.int32)
    return _pooled("roi_pool", input, rois, bins, places), places


def _roi_pool_backward(
    grad: Tensor,
    rois: Tensor,
    argmax: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Tensor:
    sizes = batch_size, channels, height, width
    bins = _bins(sizes, rois, spatial_scale, pooled_height, pooled_width, False)
    return _spread("roi_pool", grad, rois, bins, sizes, argmax.contiguous())


def ps_roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
) -> tuple[Tensor, Tensor]:
    """`roi_align` where each bin reads a channel of its own, and the number of that channel as int32.

    The channels of `input` are those of the result times the bins; RuntimeError for others.

    Args:
        input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio: as of `roi_align`

    >>> pictures = taeda.ones(1, 8, 4, 4)  # 2 channels for each of 4 bins
    >>> region = taeda.tensor([[0.0, 0, 0, 4, 4]])
    >>> made, channels = ps_roi_align(pictures, region, 1.0, 2, 2, 2)
    >>> made.shape, channels[0, 0].tolist()
    (taeda.Size([1, 2, 2, 2]), [[0, 1], [2, 3]])
    """
    size = pooled_height, pooled_width
    check_regions("ps_roi_align", input, rois, spatial_scale, *size)
    _by_bin("ps_roi_align", input.shape[1], *size)
    bins = _bins(input.shape, rois, spatial_scale, *size, True, sampling_ratio)
    return _pooled("roi_align", input, rois, bins), _mapping(bins)


def _ps_roi_align_backward(
    grad: Tensor,
    rois: Tensor,
    channel_mapping: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Tensor:
    sizes = batch_size, channels, height, width
    bins = _bins(sizes, rois, spatial_scale, pooled_height, pooled_width, True, sampling_ratio)
    return _spread("roi_align", grad, rois, bins, sizes)


def ps_roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[Tensor, Tensor]:
    """The mean of whole places in each bin, of a channel of the bin's own, and the channel's number.

    The last row and column of a picture are not read, and get no gradient; a bin without places is 0.

    Args:
        input, rois, spatial_scale, pooled_height, pooled_width: as of `ps_roi_align`

    >>> pictures = taeda.ones(1, 8, 4, 4)  # 2 channels for each of 4 bins
    >>> region = taeda.tensor([[0.0, 0, 0, 4, 4]])
    >>> made, channels = ps_roi_pool(pictures, region, 1.0, 2, 2)
    >>> made.shape, channels[0, 1].tolist()
    (taeda.Size([1, 2, 2, 2]), [[4, 5], [6, 7]])
    """
    size = pooled_height, pooled_width
    check_regions("ps_roi_pool", input, rois, spatial_scale, *size)
    _by_bin("ps_roi_pool", input.shape[1], *size)
    bins = _bins(input.shape, rois, spatial_scale, *size, True)
    return _pooled("ps_roi_pool", input, rois, bins), _mapping(bins)


def _ps_roi_pool_backward(
    grad: Tensor,
    rois: Tensor,
    channel_mapping: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Tensor:
    sizes = batch_size, channels, height, width
    bins = _bins(sizes, rois, spatial_scale, pooled_height, pooled_width, True)
    return _spread("ps_roi_pool", grad, rois, bins, sizes)


_REGIONS = "Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width"
_BINS = "float spatial_scale, int pooled_height, int pooled_width"
_SIZES = "int batch_size, int channels, int height, int width"
#: by schema: the operator, and its derivative's operator with the arguments that come before the sizes
OPERATORS: dict[str, Any] = {
    f"roi_align({_REGIONS}, int sampling_ratio, bool aligned) -> Tensor": roi_align,
    f"_roi_align_backward(Tensor grad, Tensor rois, {_BINS}, {_SIZES}, int sampling_ratio, bool aligned) "
    "-> Tensor": _roi_align_backward,
    f"roi_pool({_REGIONS}) -> (Tensor, Tensor)": roi_pool,
    f"_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, {_BINS}, {_SIZES}) -> Tensor": _roi_pool_backward,  # noqa: E501
    f"ps_roi_align({_REGIONS}, int sampling_ratio) -> (Tensor, Tensor)": ps_roi_align,
    f"_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_BINS}, int sampling_ratio, "
    f"{_SIZES}) -> Tensor": _ps_roi_align_backward,
    f"ps_roi_pool({_REGIONS}) -> (Tensor, Tensor)": ps_roi_pool,
    f"_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_BINS}, {_SIZES}) -> Tensor": _ps_roi_pool_backward,  # noqa: E501
}
