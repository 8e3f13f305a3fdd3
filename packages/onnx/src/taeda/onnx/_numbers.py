"""Numbers that differ from call to call, as a model has them: tensors without dimensions."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.fx.node import Node

__all__ = ["KINDS", "as_tensor", "kind_of"]

#: Python's kinds of numbers, in a model
KINDS: dict[type, taeda.dtype] = {int: taeda.int64, float: taeda.float64, bool: taeda.bool}


def kind_of(value: Any) -> type:
    """The class of a value, or of what a node gives."""
    return type(value.meta.get("val")) if isinstance(value, Node) else type(value)


def as_tensor(value: Any) -> Tensor:
    """A result of a program as one of its model."""
    if isinstance(value, Tensor):
        return value
    return taeda.tensor(value, dtype=KINDS[type(value)])
