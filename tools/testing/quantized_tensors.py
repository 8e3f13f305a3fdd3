"""Quantized tensors that several tests ask."""

from __future__ import annotations

from typing import Any

import taeda

__all__ = ["channels", "every", "nibbles", "numbers"]


def numbers(*shape: int, dtype: Any = taeda.quint8, scale: float = 0.1, zero: int = 10) -> Any:
    """One scale for all; numbers of both signs."""
    taeda.manual_seed(0)
    return taeda.quantize_per_tensor(taeda.randn(*shape), scale, zero, dtype)


def channels(*shape: int, axis: int = 0) -> Any:
    """A scale for each place along `axis`."""
    taeda.manual_seed(0)
    count = shape[axis]
    scales = 0.05 * (1 + taeda.arange(count))
    return taeda.quantize_per_channel(
        taeda.randn(*shape), scales, taeda.arange(count), axis, taeda.qint8
    )


def nibbles(*shape: int) -> Any:
    """Four bits, zero points in float."""
    taeda.manual_seed(0)
    scales = 0.05 * (1 + taeda.arange(shape[0]))
    zeros = taeda.arange(shape[0]).float() + 2.5
    return taeda.quantize_per_channel(taeda.randn(*shape), scales, zeros, 0, taeda.quint4x2)


def every() -> dict[str, Any]:
    """One of each kind, (3, 5)."""
    return {
        "quint8": numbers(3, 5), "qint8": numbers(3, 5, dtype=taeda.qint8),
        "qint32": numbers(3, 5, dtype=taeda.qint32), "channels": channels(3, 5), "nibbles": nibbles(3, 5),
    }  # fmt: skip
