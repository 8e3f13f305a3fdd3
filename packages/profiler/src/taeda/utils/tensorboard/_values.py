"""What callers pass, as arrays and numbers; refusals say what came."""

from __future__ import annotations

from typing import Any

import numpy as np

from taeda import Tensor

__all__ = ["array", "number", "tag_of"]


def tag_of(tag: Any, who: str) -> str:
    """The tag, or TypeError."""
    if not isinstance(tag, str):
        raise TypeError(f"{who}: tag is {type(tag).__name__}, and has to be a text")
    return tag


def array(value: Any, who: str) -> np.ndarray[Any, Any]:
    """A copy in memory of the program: a tensor of any device, an array, a number, a list of those.

    TypeError for what is no number.
    """
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        made = np.array(
            (
                value.float() if value.dtype.itemsize < 4 and value.is_floating_point() else value
            ).numpy()
        )
    elif isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) for item in value):
        made = np.array([array(item, who) for item in value])
    else:
        made = np.array(value)
    if made.dtype.kind not in "biuf":
        raise TypeError(
            f"{who} takes tensors, arrays and numbers, not {type(value).__name__} of {made.dtype}"
        )
    return made


def number(value: Any, who: str) -> float:
    """One number. ValueError for a text that is none, AssertionError for several."""
    if type(value) is float or type(value) is int:
        return float(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            raise ValueError(f"{who}: {value!r} is a text, and has to be a number") from None
    found = array(value, who)
    if found.size != 1:
        raise AssertionError(f"{who} takes one number, and got {found.size} of shape {found.shape}")
    return float(found.reshape(()))
