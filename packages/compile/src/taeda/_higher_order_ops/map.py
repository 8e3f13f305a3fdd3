"""A function of each slice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _checks
from ._recorded import recorded

__all__ = ["map"]


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """What `f(slice, *args)` gives for each slice of `xs` along dimension 0, stacked in dimension 0.

    `xs` and what `f` gives are tensors, or tuples, lists and dicts of them. Gradients flow through all calls.
    `taeda.export` keeps it as one node, for any number of slices.

    RuntimeError if there is no tensor in `xs`, if its tensors differ in their first size or that is
    0, if `f` gives something else than tensors, or tensors of other shapes or dtypes from one slice
    to the next, and if it writes to its inputs. IndexError for a tensor without dimensions.

    >>> import taeda
    >>> map(lambda row, y: (row * y).sum(), taeda.ones(2, 3), taeda.tensor([1.0, 2.0, 3.0]))
    tensor([6., 6.])
    """
    _checks.function("map", "f", f)
    _checks.sliced("map", xs, 0)
    whole = recorded("scan", lambda _, part: ((), f(part, *args)), (), xs, 0, False)
    if whole is not None:
        return whole[1]
    steps, spec = _checks.slices("map", xs, 0)
    made = []
    for leaves in steps:
        given = (spec.unflatten(leaves), *args)
        with _checks.pure("map", "f", given):
            made.append(f(*given))
    return _checks.stacked("map", made)
