"""Forward mode of custom Functions: `jvp` runs right after `forward`, and its results become
tangents of the outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core

from . import _function_maps, _places

__all__ = ["set_tangents", "tangents_of"]


def tangents_of(args: tuple[Any, ...]) -> list[Tensor | None] | None:
    """One tangent per argument, None where it has none; None if no argument has one."""
    if not _core.is_forward_on():
        return None
    found = [_places.tangent_of(a) if isinstance(a, Tensor) else None for a in args]
    return found if any(t is not None for t in found) else None


def _zeros(argument: Any) -> Tensor | None:
    if not isinstance(argument, Tensor) or not (
        argument.is_floating_point() or argument.is_complex()
    ):
        return None
    return taeda.zeros(argument.shape, dtype=argument.dtype, device=argument.device)


def set_tangents(
    ctx: Any,
    jvp: Callable[..., Any],
    args: tuple[Any, ...],
    tangents: list[Tensor | None],
    made: Any,
) -> None:
    """Call `jvp` and hand its results to the outputs; RuntimeError for a wrong count, type or shape."""
    if ctx._materialize:
        tangents = [_zeros(a) if t is None else t for a, t in zip(args, tangents, strict=True)]
    # what was saved for jvp has tangents still: they are its arguments
    with _places.hidden_tangents(), _function_maps.all_apart():
        found = jvp(ctx, *tangents)
    found = found if isinstance(found, tuple) else (found,)
    outputs = made if isinstance(made, tuple) else (made,)
    if len(found) != len(outputs):
        raise RuntimeError(
            f"{ctx._name()}: jvp returned an invalid number of forward gradients "
            f"(expected {len(outputs)}, one for each output, but got {len(found)})"
        )
    for number, (output, tangent) in enumerate(zip(outputs, found, strict=True)):
        _check(ctx._name(), number, output, tangent)
        _set(ctx, output, tangent)


def _check(name: str, number: int, output: Any, tangent: Any) -> None:
    if tangent is None:
        return
    if not isinstance(tangent, Tensor):
        raise RuntimeError(
            f"{name}: jvp returned a {type(tangent).__name__} as forward gradient {number}: "
            "expected Tensor or None"
        )
    if not isinstance(output, Tensor):
        raise RuntimeError(
            f"{name}: jvp returned a tangent for output {number}, which is no Tensor: return None there"
        )
    if tangent.shape != output.shape:
        raise RuntimeError(
            f"{name}: Trying to set a forward gradient that has a different size than that of the "
            "original Tensor: "
            f"output {number} is of size {list(output.shape)} while its forward gradient is of "
            f"size {list(tangent.shape)}"
        )


def _set(ctx: Any, output: Any, tangent: Tensor | None) -> None:
    if not isinstance(output, Tensor) or any(output is f for f in ctx._fixed):
        return
    if tangent is not None and _places.tangent_of(tangent) is not None:
        tangent = _places.apart(tangent)  # a saved tensor came back
    written = any(output is d for d in ctx._dirty)
    if written:
        _places.place(output, tangent)
    elif tangent is not None:
        _core.set_tangent(output, _places.laid_out_as(output, tangent))
