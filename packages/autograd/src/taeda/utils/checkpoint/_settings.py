"""What holds for the checkpoints of a `with` block, of every thread."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

__all__ = [
    "debugs", "noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop", "stops_early",
]  # fmt: skip

_forced: dict[str, bool | None] = {"debug": None, "early_stop": None}


def noop_context_fn() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Two contexts that do nothing.

    >>> forward, recomputation = noop_context_fn()
    >>> with forward:
    ...     taeda.ones(2).sum().item()
    2.0
    """
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def _force(name: str, value: bool | None) -> Iterator[None]:
    before = _forced[name]
    _forced[name] = value
    try:
        yield
    finally:
        _forced[name] = before


def set_checkpoint_debug_enabled(enabled: bool | None) -> AbstractContextManager[None]:
    """Context: `debug` of every checkpoint is `enabled`; None leaves it to the call.

    Args:
        enabled: what `debug` is; None: what the call says.

    >>> from taeda.utils.checkpoint import checkpoint
    >>> x = taeda.ones(2, requires_grad=True)
    >>> with set_checkpoint_debug_enabled(True):  # a difference between both runs is told by operations
    ...     checkpoint(taeda.exp, x, use_reentrant=False).sum().backward()
    """
    return _force("debug", enabled)


def set_checkpoint_early_stop(enable: bool) -> AbstractContextManager[None]:
    """Context: checkpoints that run in it stop recomputing early, or do not, whatever the call says.

    What counts is the context of the forward run.

    Args:
        enable: whether they stop early.

    >>> from taeda.utils.checkpoint import checkpoint
    >>> x = taeda.ones(2, requires_grad=True)
    >>> with set_checkpoint_early_stop(False):  # the function is recomputed to its end
    ...     y = checkpoint(lambda x: x.exp().sum(), x, use_reentrant=False)
    >>> y.backward()
    """
    return _force("early_stop", enable)


def debugs(asked: bool) -> bool:
    """Whether a checkpoint that asked so lists its operations."""
    return asked if _forced["debug"] is None else _forced["debug"]


def stops_early(asked: bool) -> bool:
    """Whether a checkpoint that asked so stops when all is there."""
    return asked if _forced["early_stop"] is None else _forced["early_stop"]
