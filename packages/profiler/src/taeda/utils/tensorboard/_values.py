"""What callers pass, as arrays and numbers; refusals say what came."""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import quote

import numpy as np

from taeda import Tensor

__all__ = ["MOST_STEPS", "array", "folder_of", "number", "step_of", "tag_of", "time_of"]

MOST_STEPS = 1 << 63  # a step is a number of 64 bits with a sign


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
    if type(value) is float:
        return value
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            raise ValueError(f"{who}: an int of {value.bit_length()} bits is no float") from None
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            raise ValueError(f"{who}: {value!r} is a text, and has to be a number") from None
    found = array(value, who)
    if found.size != 1:
        raise AssertionError(f"{who} takes one number, and got {found.size} of shape {found.shape}")
    return float(found.reshape(()))


def step_of(value: Any) -> int:
    """A step. ValueError for what is none, or is more than 64 bits hold."""
    found = value if type(value) is int else number(value, "global_step")
    if not -MOST_STEPS <= found < MOST_STEPS:  # NaN, too
        raise ValueError(f"global_step is {value}, and has to be a number of 64 bits")
    return int(found)


def time_of(value: Any) -> float:
    """Seconds since 1970. ValueError for what is no finite number."""
    found = number(value, "walltime")
    if not math.isfinite(found):
        raise ValueError(f"walltime is {value}, and has to be seconds since 1970")
    return found


def folder_of(tag: str) -> str:
    """A name for a folder, another one for every tag, that stays within the folder around it."""
    plain = quote(tag, safe=" ")
    return "%2E" + plain[1:] if plain.startswith(".") else plain or "%"
