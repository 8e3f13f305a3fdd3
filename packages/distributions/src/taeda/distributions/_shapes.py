"""What has dimensions: sums over the last of them, and parameters that must be tensors."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

__all__ = ["need_tensors", "sum_rightmost"]


def sum_rightmost(value: Any, dims: int) -> Any:
    """The sum over so many last dimensions; numbers stay what they are.

    Args:
        value: a tensor
        dims: how many of the last dimensions
    """
    if dims == 0 or not hasattr(value, "sum"):
        return value
    return value.sum(tuple(range(-dims, 0)))


def need_tensors(**parameters: object) -> None:
    """TypeError for a parameter that is a number where its dimensions mean something; None is left out."""
    for name, value in parameters.items():
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"{name} must be a Tensor, whose last dimensions are one event's, not {type(value).__name__}"
            )
