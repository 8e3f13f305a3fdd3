"""Functions of a program that the library calls by itself: `forward` and `backward` of custom
Functions, derivatives and composite kernels of operators that were defined at run time.

Whoever records a program (`taeda.compile`) is asked to make such calls, so that it sees them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["call_user", "see_user_code"]

#: (who holds the function, the function, its arguments, its keywords) -> what the call gives
Seer = Callable[[Any, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]


class _Seers:
    now: Seer | None = None  # for all threads: it looks itself for what this one records


def see_user_code(seer: Seer | None) -> None:
    """From now on such calls go through `seer`; None ends that."""
    _Seers.now = seer


def call_user(owner: Any, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """function(*args, **kwargs); `owner` is the class that holds it, or None."""
    seer = _Seers.now
    if seer is None:
        return function(*args, **kwargs)
    return seer(owner, function, args, kwargs)
