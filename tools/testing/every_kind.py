"""One tensor of every kind, made when it is asked for, of the shape (2,) or of batches that are near it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda

__all__ = ["KINDS", "refused"]

#: by kind a function that makes one; a package that is not installed says so
KINDS: dict[str, Callable[[], Any]] = {
    "coordinates": lambda: taeda.ones(2).to_sparse(),
    "whole coordinates": lambda: taeda.ones(2, dtype=taeda.int64).to_sparse(),
    "rows": lambda: taeda.ones(2, 3).to_sparse_csr(),
    "blocks": lambda: taeda.ones(2, 2).to_sparse_bsr((1, 1)),
    "jagged": lambda: taeda.nested.nested_tensor([taeda.ones(2), taeda.ones(3)], layout=taeda.jagged),
    "nested": lambda: taeda.nested.nested_tensor([taeda.ones(2), taeda.ones(3)]),
    "masked": lambda: taeda.masked.masked_tensor(taeda.ones(2), taeda.tensor([True, False])),
    "quantized": lambda: taeda.quantize_per_tensor(taeda.ones(2), 0.1, 3, taeda.quint8),
    "channels": lambda: taeda.quantize_per_channel(
        taeda.ones(2), taeda.ones(2), taeda.zeros(2, dtype=taeda.int64), 0, taeda.qint8
    ),
}  # fmt: skip


def refused(make: Callable[[Any], Any], kind: str) -> str:
    """The sentence with which `make` refuses a tensor of the kind as a part of its own."""
    part = KINDS[kind]()
    try:
        made = make(part)
    except (RuntimeError, TypeError) as error:
        return str(error)
    raise AssertionError(f"a {kind} tensor became part of a {type(made).__name__}")
