"""Marks for Intel's VTune: this build has none, and says so.
`record_function` names ranges in taeda's own profiles.
"""

from __future__ import annotations

from typing import NoReturn

__all__ = ["is_available", "mark", "range_pop", "range_push"]


def _refuse(asked: str) -> NoReturn:
    raise RuntimeError(
        f"taeda.profiler.itt.{asked}: ITT functions not installed: ask itt.is_available() before, "
        "or name ranges with "
        "taeda.profiler.record_function"
    )


def is_available() -> bool:
    """False.

    >>> taeda.profiler.itt.is_available()
    False
    """
    return False


def range_push(msg: str) -> int:
    """RuntimeError.

    >>> if taeda.profiler.itt.is_available():
    ...     _ = taeda.profiler.itt.range_push("forward")
    ... else:
    ...     with taeda.profiler.record_function("forward"):
    ...         loss = taeda.ones(2).sum()
    """
    _refuse("range_push")


def range_pop() -> int:
    """RuntimeError.

    >>> taeda.profiler.itt.range_pop()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.profiler.itt.range_pop: ITT functions not installed: ...
    """
    _refuse("range_pop")


def mark(msg: str) -> None:
    """RuntimeError.

    >>> taeda.profiler.itt.mark("the first batch")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: taeda.profiler.itt.mark: ITT functions not installed: ...
    """
    _refuse("mark")
