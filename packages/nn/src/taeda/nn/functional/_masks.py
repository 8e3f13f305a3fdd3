"""Masks of attention in one form: what is added to the scores. Libraries take these functions by name."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import warn

__all__ = ["_canonical_mask", "_none_or_dtype"]


def _none_or_dtype(input: Tensor | None) -> Any:
    """The dtype of a tensor; None of None. RuntimeError for what is neither."""
    if input is None:
        return None
    if isinstance(input, Tensor):
        return input.dtype
    raise RuntimeError(f"input must be a Tensor or None, but got {type(input).__name__}")


def _canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: Any,
    other_name: str,
    target_type: Any,
    check_other: bool = True,
) -> Tensor | None:
    """A mask to be added: of bools minus infinity where it is True; of floats as it is.

    Warns of another dtype than `other_type` if `check_other`. AssertionError for other dtypes.
    """
    if mask is None:
        return None
    if mask.dtype is not taeda.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype is not other_type:
        warn(f"{mask_name} and {other_name} have different dtypes: use the same for both")
    if mask.is_floating_point():
        return mask
    return taeda.zeros_like(mask, dtype=target_type).masked_fill_(mask, float("-inf"))
