"""Sequences of an encoder without their padding: where they may be packed, and the way there and back."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.runtime import get_excluded, get_layers

__all__ = ["is_packable", "packed"]


@cache
def _has_nested() -> bool:
    return importlib.util.find_spec("taeda.nested") is not None


def is_packable(src: Tensor, padding: Any, parameters: Sequence[Tensor], check: bool) -> bool:
    """Whether a batch (N, L, E) is computed without the places that `padding` leaves out.

    So it is where nothing records gradients or calls, and taeda-nested is there. With `check` the
    padding has to stand behind each sequence.
    """
    plain = src.dim() == 3 and not src.is_nested and src.device.type != "meta"
    if not plain or padding is None or padding.dtype is not taeda.bool:
        return False
    if padding.shape != src.shape[:2] or get_layers() & ~get_excluded() or not _has_nested():
        return False
    if taeda.is_grad_enabled() and any(x.requires_grad for x in (src, *parameters)):
        return False
    return not check or bool((padding[:, 1:] | ~padding[:, :-1]).all())


def packed(src: Tensor, padding: Tensor, run: Callable[[Tensor], Tensor]) -> Tensor:
    """`run` of the nested tensor of the sequences; 0 where there is padding."""
    nested: Any = taeda.nested  # upward: asked for above
    kept = ~padding
    offsets = taeda.cat([kept.new_zeros(1, dtype=taeda.int64), kept.sum(1).cumsum(0)])
    made = run(nested.nested_tensor_from_jagged(src[kept], offsets))
    whole = src.new_zeros(src.shape, dtype=made.dtype)
    whole[kept] = made.values()
    return whole
