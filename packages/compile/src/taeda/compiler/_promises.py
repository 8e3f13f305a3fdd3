"""What users say of functions, so that a recorded call need not look into them.

    allow_in_graph           it only computes: it runs as it is and its operations are recorded;
                             what else it reads is not guarded
    assume_constant_result   its result is the same in every call: it is kept
    substitute_in_graph      another function does the same: that one is recorded in its place

Nobody checks what was said, but the comparison of the second call.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["ALLOWED", "CONSTANT", "allow_in_graph", "assume_constant_result",
    "cudagraph_mark_step_begin", "substitute", "substitute_in_graph"]  # fmt: skip

#: functions by id; each is kept, so that no other gets its id
ALLOWED: dict[int, Any] = {}
CONSTANT: dict[int, Any] = {}
_SUBSTITUTES: dict[int, tuple[Any, Callable[..., Any]]] = {}


def _note(table: dict[int, Any], fn: Any, what: str) -> Any:
    if isinstance(fn, list | tuple):
        return [_note(table, f, what) for f in fn]
    if not callable(fn):
        raise TypeError(f"{what}: wanted a function, got {type(fn).__name__}")
    table[id(fn)] = fn
    return fn


def allow_in_graph(fn: Any) -> Any:
    """Say of a function, or a list of them, that it only computes.
    A recorded call runs it as it is and records its operations.

    What else it reads is not guarded: a global that changes later is not seen. Returns what it was
    given. TypeError for what cannot be called.

    Args:
        fn: a function, or a list or tuple of functions.

    >>> import taeda
    >>> @allow_in_graph
    ... def shifted(x):
    ...     return x + 1
    >>> taeda.compile(lambda x: shifted(x) * 2, fullgraph=True)(taeda.ones(1))
    tensor([4.])
    """
    return _note(ALLOWED, fn, "allow_in_graph")


def assume_constant_result(fn: Any) -> Any:
    """Say of a function that every call gives the same.
    A recorded call keeps what it gave; TypeError for what cannot be called.

    Args:
        fn: a function, or a list or tuple of functions.

    >>> import taeda
    >>> @assume_constant_result
    ... def scale():
    ...     return float("2.5")
    >>> taeda.compile(lambda x: x * scale(), fullgraph=True)(taeda.ones(1))
    tensor([2.5000])
    """
    return _note(CONSTANT, fn, "assume_constant_result")


def substitute_in_graph(
    original_fn: Callable[..., Any],
    *,
    can_constant_fold_through: bool = False,
    skip_signature_check: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: in recorded calls the decorated function runs in place of `original_fn`, a
    function in C that is not known.

    The original itself is called everywhere else. With `can_constant_fold_through` its result for
    numbers and strings is taken as it is, without a look at the substitute. TypeError if their
    parameters differ, as far as the original tells them, unless `skip_signature_check`; TypeError
    for what cannot be called.

    Args:
        original_fn: the function that is not run in recorded calls.
        can_constant_fold_through: whether its result for numbers and strings is taken (False).
        skip_signature_check: whether parameters may differ (False).

    >>> import math
    >>> @substitute_in_graph(math.dist)
    ... def dist(p, q, /):
    ...     return sum((a - b) ** 2 for a, b in zip(p, q)) ** 0.5
    """
    if not callable(original_fn):
        raise TypeError(f"substitute_in_graph: wanted a function, got {type(original_fn).__name__}")

    def decorate(traceable_fn: Callable[..., Any]) -> Callable[..., Any]:
        if not skip_signature_check:
            _same_parameters(original_fn, traceable_fn)
        found = traceable_fn
        if can_constant_fold_through:
            found = functools.partial(_folded, original_fn, traceable_fn)
        _SUBSTITUTES[id(original_fn)] = (original_fn, found)
        return traceable_fn

    return decorate


def substitute(function: Any) -> Callable[..., Any] | None:
    """What runs in its place in a recorded call, if somebody said so."""
    found = _SUBSTITUTES.get(id(function))
    return None if found is None else found[1]


def _folded(original: Any, substitute: Any, *args: Any, **kwargs: Any) -> Any:
    from ._kinds import is_immutable

    plain = all(map(is_immutable, (*args, *kwargs.values())))
    return (original if plain else substitute)(*args, **kwargs)


def _same_parameters(original: Any, other: Any) -> None:
    try:
        wanted = inspect.signature(original).parameters
    except (TypeError, ValueError):  # a function in C that does not tell
        return
    found = inspect.signature(other).parameters
    if [(p.name, p.kind) for p in wanted.values()] != [(p.name, p.kind) for p in found.values()]:
        raise TypeError(
            f"substitute_in_graph: {original.__name__}({', '.join(wanted)}) and "
            f"{other.__name__}({', '.join(found)}) differ in "
            "their parameters. Give the substitute the same ones, or pass skip_signature_check=True"
        )


def cudagraph_mark_step_begin() -> None:
    """Where another step begins: results of the one before may be written over where they lie in a
    pool of a recorded device graph. Results have memory of their own here, so there is nothing to
    mark.

    >>> step = taeda.compile(lambda x: x * 2)
    >>> for x in (taeda.ones(2), taeda.zeros(2)):
    ...     taeda.compiler.cudagraph_mark_step_begin()
    ...     print(step(x).tolist())
    [2.0, 2.0]
    [0.0, 0.0]
    """
