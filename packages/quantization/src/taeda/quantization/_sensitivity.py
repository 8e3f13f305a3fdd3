"""Which quantized layers cost a model most: each is put back in float, one after the other."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import taeda
from taeda.nn import Module

from ._bars import draw
from ._compare import bytes_of, error_between, inputs_of, pairs_of
from ._parts import is_quantized, parts_of
from ._report import table

__all__ = ["Left", "Sensitivity", "sensitivity"]

Progress = bool | Callable[[int, int], object]


@dataclass(frozen=True)
class Left:
    """A layer, and the model with this layer alone left in float.

    Args:
        layer: its name.
        error: the error of the model's results with it in float.
        gain: by how much that is less than with all layers quantized.
        bytes_more: by how much the model is larger.

    >>> row = Left("fc", error=0.004, gain=0.017, bytes_more=12160)
    >>> row.layer, row.gain / row.bytes_more > 1e-6
    ('fc', True)
    """

    layer: str
    error: float
    gain: float
    bytes_more: int


@dataclass(frozen=True)
class Sensitivity:
    """What `sensitivity` returns; `str()` is a table.

    Args:
        rows: a row for each quantized layer, the largest gain first.
        error: that of the model with all of them quantized.

    >>> print(Sensitivity((Left("fc", 0.004, 0.017, 12160),), 0.021))
    left float     error   less by  bytes more
    fc          4.00e-03  1.70e-02      12,160
    all quantized: error 2.10e-02
    """

    rows: tuple[Left, ...]
    error: float

    def draw(self, path: str | Path) -> None:
        """Write a picture (SVG): a bar for each layer, as long as its gain, and the bytes that it takes.
        Where the error grows, the bar has another colour.

        Args:
            path: the file, which appears only when it is complete.
        """
        bars = [(row.layer, row.gain, f"{row.bytes_more:+,} bytes") for row in self.rows]
        label = f"by how much the error of {self.error:.2e} gets less if one layer stays float"
        draw(bars, label, Path(path))

    def __str__(self) -> str:
        head = ("left float", "error", "less by", "bytes more")
        cells = [
            (row.layer, f"{row.error:.2e}", f"{row.gain:.2e}", f"{row.bytes_more:,}")
            for row in self.rows
        ]
        return "\n".join(
            [*table([head, *cells], range(1, 4)), f"all quantized: error {self.error:.2e}"]
        )


class _Back(Module):
    """A float layer in the place of a quantized one: integers become floats, and results integers with the
    scale that the quantized layer gave them.
    """

    def __init__(self, plain: Module, small: Any) -> None:
        super().__init__()
        self.plain = plain
        self.facts = getattr(small, "scale", None), getattr(small, "zero_point", None)

    def forward(self, *given: Any) -> Any:
        integers = [x for x in given if is_quantized(x)]
        result = self.plain(*(x.dequantize() if is_quantized(x) else x for x in given))
        if not integers:
            return result
        scale, zero = self.facts
        if scale is None or zero is None:
            raise ValueError(
                f"a {type(self.plain).__name__} between integers has no scale of its own to go back with"
            )
        dtype = parts_of(integers[0], "sensitivity").dtype
        return taeda.quantize_per_tensor(result, scale, zero, dtype)


def sensitivity(
    model: Module, quantized: Module, data: Iterable[Any], *, progress: Progress = True
) -> Sensitivity:
    """Put each quantized layer back in float, one after the other, and see what the model gains.

    Args:
        model: the float model, its layers fused as those of `quantized` are.
        quantized: what `quantize_`, `convert` or `quantize_dynamic` made of a copy of it; it stays as it is.
        data: inputs: a tensor each, or a tuple of arguments. Both models run on all of them, and once more
            for each layer.
        progress: True for a bar on stderr, False for silence, or a function of (layers done, layers in all).

    Returns a `Sensitivity`, the layer that costs most first. Raises what `compare` raises.

    >>> import copy
    >>> from taeda import nn
    >>> model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)).eval()
    >>> small = copy.deepcopy(model)
    >>> report = taeda.quantization.quantize_(
    ...     small, taeda.quantization.int8_weight_only(), measure=False
    ... )
    >>> found = sensitivity(model, small, [taeda.ones(4, 64)], progress=False)
    >>> sorted(row.layer for row in found.rows), found.rows[0].gain >= found.rows[1].gain
    (['0', '2'], True)
    """
    pairs, batches = pairs_of(model, quantized), inputs_of(data)
    report = _bar if progress is True else progress
    if report is not False and not callable(report):
        raise TypeError(f"progress is a bool or a function of (done, total), got {progress!r}")
    changed = copy.deepcopy(quantized)
    whole, rows = error_between(model, changed, batches), []
    for done, (name, plain, small) in enumerate(pairs, 1):
        changed.set_submodule(name, _Back(plain, small))
        try:
            error = error_between(model, changed, batches)
        finally:
            changed.set_submodule(name, copy.deepcopy(small))
        rows.append(Left(name, error, whole - error, bytes_of(plain) - bytes_of(small)))
        if report:
            report(done, len(pairs))
    return Sensitivity(tuple(sorted(rows, key=lambda row: -row.gain)), whole)


_WIDTH = 40


def _bar(done: int, total: int) -> None:
    filled = _WIDTH * done // total
    end = "\n" if done == total else ""
    sys.stderr.write(f"\rlayers [{'#' * filled:{_WIDTH}}] {done} of {total}{end}")
    sys.stderr.flush()
