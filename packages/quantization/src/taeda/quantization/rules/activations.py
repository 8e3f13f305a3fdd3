"""Activations of quantized tensors that keep the scale, or have one of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

from .._activations import mapped
from .._affine import LIMITS
from .._parts import parts_of
from ._registry import call, in_place, one_scale, rule, wrapped

#: rows whose result has the scale of the input
SAME = "leaky_relu threshold".split()


def own_scale(row: str, dtype: Any) -> tuple[float, int]:
    """The scale and zero point that hold all values of a function with known ends."""
    low, high = LIMITS[dtype]
    steps = high - low + 1
    if row == "tanh":
        return 2.0 / steps, 0 if low < 0 else steps // 2
    return 1.0 / steps, low if dtype is taeda.qint8 else 0


def _own(row: str) -> None:
    @rule(row)
    def run(x: Tensor) -> Any:
        dtype = parts_of(x, row).dtype
        if dtype is taeda.qint32 and row != "tanh":
            return NotImplemented  # PyTorch's own scale holds no value above 0.5
        return mapped(x, row, lambda v: call(row, v), *own_scale(row, dtype))


for _row in ("sigmoid", "tanh", "hardsigmoid"):
    _own(_row)


def _same(row: str) -> None:
    @rule(row)
    def run(x: Tensor, *args: Any) -> Tensor:
        return mapped(x, row, lambda v: call(row, v, *args))


for _row in SAME:
    _same(_row)


@rule("gelu")
def gelu(x: Tensor, *args: Any) -> Tensor:
    """The scale of the result is that of the input in float32, as PyTorch's kernel makes it."""
    scale = taeda.tensor(one_scale(x, "gelu").scale, dtype=taeda.float32).item()
    return mapped(x, "gelu", lambda v: call("gelu", v, *args), scale)


def _clamped(x: Tensor, low: Any, high: Any, name: str) -> Tensor:
    """Integers clamped to those of the ends."""
    parts = one_scale(x, name)
    made = parts.integers
    for end, pick in ((low, taeda.maximum), (high, taeda.minimum)):
        if isinstance(end, Tensor):
            end = end.item()
        if end is not None:
            made = pick(made, parts.integers_of(taeda.tensor(float(end))))
    return wrapped(made, parts)


ENDS: dict[str, Callable[..., tuple[Any, Any]]] = {
    "relu": lambda: (0.0, None),
    "relu6": lambda: (0.0, 6.0),
    "hardtanh": lambda min_val=-1.0, max_val=1.0: (min_val, max_val),
    "clamp": lambda min=None, max=None: (min, max),
    "clamp_min": lambda min: (min, None),
    "clamp_max": lambda max: (None, max),
}


def _ends(row: str, ends: Callable[..., tuple[Any, Any]]) -> None:
    @rule(row)
    def run(x: Tensor, *args: Any) -> Tensor:
        return _clamped(x, *ends(*args), row)

    @in_place(row)
    def write(x: Tensor, *args: Any) -> Tensor:
        parts = one_scale(x, f"{row}_")
        parts.integers.copy_(parts_of(run(x, *args), row).integers)
        return x


for _row, _of in ENDS.items():
    _ends(_row, _of)
