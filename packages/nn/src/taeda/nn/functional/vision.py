"""Rearrangements between channels and space."""

from __future__ import annotations

from taeda import Tensor

__all__ = ["channel_shuffle", "native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(*, C · r², H, W) to (*, C, H · r, W · r). Raises RuntimeError where the sizes do not divide."""
    _check_rank("pixel_shuffle", input)
    if upscale_factor <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {upscale_factor}")
    r = upscale_factor
    channels, height, width = input.shape[-3:]
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
            f"upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}"
        )
    batch = input.shape[:-3]
    split = input.reshape(*batch, channels // (r * r), r, r, height, width)
    n = len(batch)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return split.permute(order).reshape(*batch, channels // (r * r), height * r, width * r)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(*, C, H · r, W · r) to (*, C · r², H, W). Raises RuntimeError where the sizes do not divide."""
    _check_rank("pixel_unshuffle", input)
    if downscale_factor <= 0:
        raise RuntimeError(
            f"pixel_unshuffle expects a positive downscale_factor, but got {downscale_factor}"
        )
    r = downscale_factor
    channels, height, width = input.shape[-3:]
    for name, dim, size in (("height", -2, height), ("width", -1, width)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({dim})={size} is not divisible by {r}"
            )
    batch = input.shape[:-3]
    split = input.reshape(*batch, channels, height // r, r, width // r, r)
    n = len(batch)
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return split.permute(order).reshape(*batch, channels * r * r, height // r, width // r)


def _check_rank(name: str, input: Tensor) -> None:
    if input.dim() < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {input.dim()} dimension(s)"
        )


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Deal the channels of (N, C, *) out over `groups`: the first of each group, then the second, ...

    Raises RuntimeError unless the channels divide into the groups.
    """
    if input.dim() < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    channels = input.size(1)
    if channels % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups."
        )
    return input.unflatten(1, (groups, channels // groups)).transpose(1, 2).flatten(1, 2).contiguous()


native_channel_shuffle = channel_shuffle
