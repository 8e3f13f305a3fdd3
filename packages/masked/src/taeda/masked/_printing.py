"""Masked tensors as text: `--` where an element is left out."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

__all__ = ["text_of"]

_WIDTH = 8


def _number(value: Any) -> str:
    return f"{value:{_WIDTH}.4f}" if isinstance(value, float) else str(value)


def _shown(value: Any, keep: Any) -> str:
    if isinstance(value, list):
        return _rows(value, keep, 0)
    return _number(value) if keep else " " * (_WIDTH - 2) + "--"


def _rows(values: list[Any], keep: list[Any], indent: int) -> str:
    space = " " * (indent + 2)
    if not values or not isinstance(values[0], list):
        return space + "[" + ", ".join(map(_shown, values, keep)) + "]"
    inner = (_rows(v, k, indent + 2) for v, k in zip(values, keep, strict=True))
    return f"{space}[\n" + ",\n".join(inner) + f"\n{space}]"


def text_of(data: Tensor, mask: Tensor) -> str:
    """What `repr` says of a masked tensor."""
    values, keep = data.detach().tolist(), mask.tolist()
    if not data.dim():
        return f"MaskedTensor({_number(values) if keep else '--'}, {keep})"
    return f"MaskedTensor(\n{_rows(values, keep, 0)}\n)"
