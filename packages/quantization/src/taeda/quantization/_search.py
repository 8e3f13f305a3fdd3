"""Ends of a range for numbers of a few bits: those that leave the least error."""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda._core_api.doors import asks, require_tensors

__all__ = ["choose_qparams_optimized"]


@asks
def choose_qparams_optimized(
    input: Tensor, numel: int, n_bins: int, ratio: float, bit_width: int
) -> tuple[Tensor, Tensor]:
    """The greatest and the least number of a range that quantizes a row of floats with little error.

    From the ends of the row one end after the other moves inwards by a step, whichever leaves the smaller
    error, and the best range from which both moves were worse is taken. Offset and scale are in float16, as
    in packed tables.

    Args:
        input: floats in float32, of which the first `numel` are looked at.
        numel: how many numbers count, from 1.
        n_bins: how many steps there are from the least to the greatest number, from 1.
        ratio: which share of the range may be cut off, from 0 to 1.
        bit_width: the bits of an integer, 1 to 8.

    Returns two tensors of one number, the upper end first. RuntimeError for another dtype, and for numbers
    out of these bounds.

    >>> import taeda
    >>> x = taeda.tensor([0.0, 0.1, 0.2, 0.3, 4.0])
    >>> upper, lower = taeda.choose_qparams_optimized(x, 5, 200, 0.16, 4)
    >>> 0.0 <= lower.item() < upper.item() <= 4.0
    True
    """
    name = "choose_qparams_optimized"
    require_tensors(name, input=input)
    _check(name, input, numel, n_bins, ratio, bit_width)
    row = input.detach().reshape(-1)[:numel].contiguous()
    ends = taeda.stack([row.amin(), row.amax()])
    step = (ends[1] - ends[0]) / n_bins
    best = ends
    if bool(step > 0):
        best = _searched(row, ends, step, int(n_bins * (1 - ratio)), 2**bit_width - 1)
    return best[1:].clone(), best[:1].clone()


def _check(name: str, x: Tensor, numel: int, n_bins: int, ratio: float, bits: int) -> None:
    if x.dtype is not taeda.float32:
        raise RuntimeError(f"{name}: wanted float32, but got {x.dtype}: use input.float()")
    if not 1 <= numel <= x.numel():
        raise RuntimeError(
            f"{name}: numel is out of the bound of input tensor: wanted 1 to {x.numel()}, but got {numel}"
        )
    if n_bins < 1 or not 0 <= ratio <= 1 or not 1 <= bits <= 8:
        raise RuntimeError(
            f"{name}: wanted n_bins from 1, a ratio from 0 to 1 and a bit_width from 1 to 8, but got "
            f"{n_bins}, {ratio} and {bits}"
        )
    if not bool(x.isfinite().all()):
        raise RuntimeError(f"{name}: wanted finite numbers, but the input has others")


def _searched(row: Tensor, ends: Tensor, step: Tensor, kept: int, steps: int) -> Tensor:
    """The best of the ranges that are left when one end after the other moves inwards."""
    moves = taeda.stack(
        [taeda.stack([step, step.new_zeros(())]), taeda.stack([step.new_zeros(()), -step])]
    )
    now, (error,) = ends, _errors(row, ends.unsqueeze(0), steps).tolist()
    best, least = ends, error
    while bool(now[0] + kept * step < now[1]):
        moved = now + moves
        errors = _errors(row, moved, steps).tolist()
        if error < min(errors) and error < least:
            best, least = now, error
        chosen = 0 if errors[0] < errors[1] else 1
        now, error = moved[chosen], errors[chosen]
    return best


def _errors(row: Tensor, ranges: Tensor, steps: int) -> Tensor:
    """The length of what quantizing to each of these ranges (n, 2) leaves."""
    lower = ranges[:, :1].half().float()
    width = ranges[:, 1:] - lower
    scale = taeda.where(width == 0, 1.0, (width / steps).half().float())
    inverse = taeda.where(scale == 0, 1.0, scale.reciprocal())
    integers = ((row - lower) * inverse).round().clamp(0, steps)
    return (row - (integers * scale + lower)).double().square().sum(1).sqrt()
