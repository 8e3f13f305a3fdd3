"""Padding of the last dimensions: with a value, or with what is inside."""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor

__all__ = ["pad"]

_constant = taeda.constant_pad_nd


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Extend the last dimensions by pairs (before, after), the last dimension first; negative sizes cut.

    Modes: "constant" (with `value`, 0 if None), and, for the last one to three dimensions after the
    channels, "reflect" (without the edge), "replicate" (the edge) and "circular" (around). Raises
    RuntimeError for sizes that do not fit, NotImplementedError for another mode or rank.
    """
    if len(pad) % 2:
        raise RuntimeError(f"Padding length must be divisible by 2, got {len(pad)}")
    if len(pad) // 2 > input.dim():
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding "
            f"length {len(pad)} and input of dimension {input.dim()}"
        )
    if mode == "constant":
        return _constant(input, pad, 0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in _PLACES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    count = len(pad) // 2
    if not 1 <= count <= 3 or input.dim() not in (count + 1, count + 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {input.dim()}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    for i in range(count):
        input = _pad_one(input, -1 - i, int(pad[2 * i]), int(pad[2 * i + 1]), mode)
    return input


def _pad_one(input: Tensor, dim: int, before: int, after: int, mode: str) -> Tensor:
    if mode == "circular" and min(before, after) < 0:  # around what is left after the cut
        input = _constant(input, _last((min(before, 0), min(after, 0)), dim))
        before, after = max(before, 0), max(after, 0)
    if before == after == 0:
        return input
    size = input.size(dim)
    _PLACES[mode][0](input, dim, before, after)
    if size + before + after < 1:
        raise RuntimeError(
            f"input (size {size} in dimension {dim % input.dim()}) is too small for padding ({before}, {after})"
        )
    wanted = taeda.arange(-before, size + after, device=input.device)
    return input.index_select(dim, _PLACES[mode][1](wanted, size))


def _last(pair: tuple[int, int], dim: int) -> tuple[int, ...]:
    """Padding of the dimension `dim` (from the end) alone."""
    return (0, 0) * (-1 - dim) + pair


def _check_reflect(input: Tensor, dim: int, before: int, after: int) -> None:
    if before >= input.size(dim) or after >= input.size(dim):
        raise RuntimeError(
            "Padding size should be less than the corresponding input dimension, but got: padding "
            f"({before}, {after}) at dimension {dim % input.dim()} of input {list(input.shape)}"
        )


def _check_circular(input: Tensor, dim: int, before: int, after: int) -> None:
    size = input.size(dim)
    if before > size or after > size:
        raise RuntimeError(
            f"Padding value causes wrapping around more than once: ({before}, {after}) for size {size}"
        )


def _check_replicate(input: Tensor, dim: int, before: int, after: int) -> None:
    if input.size(dim) == 0:
        raise RuntimeError(
            f"Expected a non-empty input to replicate, but got {list(input.shape)} (dimension {dim % input.dim()})"
        )


def _reflect(wanted: Tensor, size: int) -> Tensor:
    folded = wanted.abs()
    return (size - 1) - ((size - 1) - folded).abs()


_PLACES = {
    "reflect": (_check_reflect, _reflect),
    "replicate": (_check_replicate, lambda wanted, size: wanted.clamp(0, size - 1)),
    "circular": (_check_circular, lambda wanted, size: wanted % size),
}
