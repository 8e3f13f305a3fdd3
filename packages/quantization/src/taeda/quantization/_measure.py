"""How far a packed layer is from the float one, and how long both take."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import taeda
from taeda import Tensor
from taeda.nn import Module

__all__ = ["error_of", "times_of"]

_SAMPLES = 16  # rows of input for the error: as many as go through the packed kernels
_TURNS = 9
_TURN_SECONDS = 0.001  # calls are repeated until a turn takes about as long


def _normal(rows: int, columns: int, dtype: taeda.dtype) -> Tensor:
    """Of a seed: the same numbers for every layer of a size, and none of the program's own generator."""
    drawn = taeda.Generator().manual_seed(0)
    return taeda.randn(rows, columns, generator=drawn).to(dtype)


def error_of(linear: Module, packed: Module) -> float:
    """Root mean square of the differences in the output, over that of the output; biases count."""
    x = _normal(_SAMPLES, linear.in_features, linear.weight.dtype)
    with taeda.no_grad():
        want, got = linear(x).double(), packed(x).double()
    size = float(want.square().mean().sqrt())
    return float((got - want).square().mean().sqrt()) / size if size else 0.0


def times_of(linear: Module, packed: Module) -> tuple[float, float]:
    """Milliseconds of one row through each: medians of turns, so that a busy moment meets both."""
    x = _normal(1, linear.in_features, linear.weight.dtype)
    with taeda.no_grad():
        once = max(_seconds(linear, x, 1), _seconds(packed, x, 1), 1e-7)
        count = max(1, int(_TURN_SECONDS / once))
        turns = [(_seconds(linear, x, count), _seconds(packed, x, count)) for _ in range(_TURNS)]
    first, second = (statistics.median(column) / count * 1e3 for column in zip(*turns, strict=True))
    return first, second


def _seconds(layer: Callable[[Tensor], Tensor], x: Tensor, count: int) -> float:
    begin = time.perf_counter()
    for _ in range(count):
        layer(x)
    return time.perf_counter() - begin
