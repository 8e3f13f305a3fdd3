"""Activation checkpointing: keep the inputs of a piece of a model, and compute again what backward
needs from inside it.

>>> import taeda
>>> from taeda.utils.checkpoint import checkpoint
>>> x = taeda.ones(2, requires_grad=True)
>>> checkpoint(lambda x: (x.exp() * x).sum(), x, use_reentrant=False).backward()
>>> x.grad
tensor([5.4366, 5.4366])
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from taeda._core_api import warn

from ._devices import get_device_states, set_device_states
from ._reentrant import CheckpointFunction, check_backward_validity, detach_variable
from ._region import CheckpointError, recorded
from ._selective import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)
from ._sequential import checkpoint_sequential
from ._settings import (
    noop_context_fn,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]
_CHECKS = ("default", "none")


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Return `function(*args, **kwargs)`; what it saves for backward is computed again when
    backward asks for it.

    With `use_reentrant=False` the graph is recorded as always, so `grad`, nested checkpoints,
    keyword arguments and any structure of arguments work, and the second run stops once it has all
    that is needed. `context_fn` gives two contexts, for the first run and for the others. Other
    shapes, dtypes or devices in the second run raise CheckpointError unless `determinism_check` is
    "none"; with `debug` it lists the operations of both runs. `use_reentrant=True` runs without
    recording and differentiates the second run: only `.backward()` towards all leaves works.
    `preserve_rng_state=False` leaves random numbers alone, which are else the same in both runs.

    ValueError for options that do not go together, a warning without `use_reentrant`, which means True.

    Args:
        function: what is run, and run again in backward.
        *args, **kwargs: its arguments; `preserve_rng_state` is taken out (True).
        use_reentrant: which of the two ways (None: True, with a warning).
        context_fn: function that gives the two contexts.
        determinism_check: "default" or "none".
        debug: whether an error lists the operations of both runs (False).
        early_stop: whether the second run stops once it has all (True).

    >>> x = taeda.ones(1, requires_grad=True)
    >>> checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False).backward()
    >>> x.grad
    tensor([-2.4783])
    """
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant is None:
        use_reentrant = True
        warn(
            "checkpoint: the use_reentrant parameter should be passed explicitly. "
            "use_reentrant=False is recommended; "
            "without it the reentrant variant is used.",
        )
    if not use_reentrant:
        if determinism_check not in _CHECKS:
            raise ValueError(
                f"determinism_check should be one of {_CHECKS}, got {determinism_check!r}"
            )
        checked = determinism_check == "default"
        return recorded(function, args, kwargs, preserve, context_fn, checked, debug, early_stop)
    if kwargs:
        raise ValueError(
            f"Unexpected keyword arguments: {','.join(kwargs)}; use_reentrant=False passes them on"
        )
    if context_fn is not noop_context_fn or debug:
        raise ValueError(
            "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
        )
    return CheckpointFunction.apply(function, preserve, *args)
