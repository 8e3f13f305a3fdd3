"""A function again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.trees import tree_flatten

from . import _checks
from ._recorded import recorded

__all__ = ["while_loop"]


def while_loop(
    cond_fn: Callable[..., Any],
    body_fn: Callable[..., Any],
    carried_inputs: tuple[Any, ...] | list[Any],
) -> Any:
    """`carried_inputs`, after `body_fn(*carried)` took their place as long as `cond_fn(*carried)` held.

    They are tensors and ints, in tuples, lists and dicts; `body_fn` gives a tuple of the same
    structure, shapes, dtypes and devices. `cond_fn` gives a bool, or a bool tensor with one
    element; if it gives a tensor and no step is done, the result is clones. Gradients flow through
    all steps.

    `make_fx` and `compile` keep a loop by a tensor in their graph as one call with both functions.
    Then all that is carried is tensors, and no gradients flow.

    RuntimeError if the carried values are no tuple, hold something else, or change their kind; if
    `cond_fn` gives no bool; and if a function writes to the carried values or `body_fn` gives one
    of them as it is: give a clone.

    >>> while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (0, taeda.ones(2)))
    (3, tensor([8., 8.]))
    """
    _checks.function("while_loop", "cond_fn", cond_fn)
    _checks.function("while_loop", "body_fn", body_fn)
    if not isinstance(carried_inputs, tuple | list):
        raise RuntimeError(
            f"while_loop: carried_inputs must be a tuple, got {type(carried_inputs).__name__}"
        )
    for leaf in tree_flatten(carried_inputs)[0]:
        if not isinstance(leaf, Tensor | int | float):
            raise RuntimeError(
                f"while_loop: carried_inputs must hold tensors and numbers, got {type(leaf).__name__}"
            )
    carried: Any = tuple(carried_inputs)
    made = recorded("loop", cond_fn, body_fn, carried)
    if made is not None:
        return made
    first = carried
    held = _holds(cond_fn, carried)
    by_tensor = isinstance(held, Tensor)
    while held:
        carried = _step(body_fn, carried)
        held = _holds(cond_fn, carried)
    return _cloned(carried) if by_tensor and carried is first else carried


def _cloned(carried: Any) -> Any:
    """Clones: whether a step was done is the value of a tensor, and what was given stays as it is."""
    leaves, spec = tree_flatten(carried)
    return spec.unflatten([v.clone() if isinstance(v, Tensor) else v for v in leaves])


def _holds(cond_fn: Callable[..., Any], carried: Any) -> Any:
    with _checks.pure("while_loop", "cond_fn", carried):
        held = cond_fn(*carried)
    if isinstance(held, Tensor):
        if held.dtype != taeda.bool or held.numel() != 1:
            raise RuntimeError(
                "while_loop: cond_fn must give a bool or a bool tensor with one element, got "
                f"a {held.dtype} tensor of shape {list(held.shape)}"
            )
    elif not isinstance(held, bool):
        raise RuntimeError(
            f"while_loop: cond_fn must give a bool or a bool tensor, got {type(held).__name__}"
        )
    return held


def _step(body_fn: Callable[..., Any], carried: Any) -> Any:
    with _checks.pure("while_loop", "body_fn", carried) as check:
        made = body_fn(*carried)
        if not isinstance(made, tuple | list):
            raise RuntimeError(
                f"while_loop: body_fn must give a tuple of the carried values, got {type(made).__name__}"
            )
        made = tuple(made)
        _checks.alike("while_loop", "the carried values", carried, made)
        check(made)
    return made
