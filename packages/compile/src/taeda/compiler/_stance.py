"""What compiled functions do in general: `set_stance`.

default                  as documented
force_eager              every call runs the program itself
eager_on_recompile       known graphs run; a call that none fits runs the program and is not recorded
fail_on_recompile        the same, but such a call raises RuntimeError
eager_then_compile       the first call of a function runs the program unobserved, later ones as documented
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["STANCES", "set_stance", "stance"]

STANCES = (
    "default",
    "force_eager",
    "eager_on_recompile",
    "fail_on_recompile",
    "eager_then_compile",
)


class _Stance:
    """The one of the process."""

    name = "default"
    plain = True  # a call looks further only if this is not so


stance = _Stance()


def _take(name: str) -> None:
    stance.name, stance.plain = name, name == "default"


class set_stance:
    """Set what compiled functions do in general, from here on; as a context or a decorator only there.

    "default", "force_eager" (run programs themselves), "eager_on_recompile" and "fail_on_recompile"
    (use the graphs there are; a call that none fits runs the program itself, or raises
    RuntimeError), "eager_then_compile" (the first call of each function is not recorded). It is one
    setting for all threads. ValueError for another one.

    Args:
        stance: one of the five names above ("default").

    >>> import taeda
    >>> f = taeda.compile(lambda x: x + 1)
    >>> with set_stance("fail_on_recompile"):
    ...     f(taeda.ones(1))
    Traceback (most recent call last):
    RuntimeError: <lambda> has no graph for this call, and set_stance("fail_on_recompile") forbids another one
    """

    def __init__(self, stance: str = "default") -> None:
        if stance not in STANCES:
            raise ValueError(f"set_stance: one of {', '.join(STANCES)}, got {stance!r}")
        self.name, self.before = stance, _now()
        _take(stance)

    def __enter__(self) -> None:
        """It acts since it was made."""

    def __exit__(self, *raised: object) -> None:
        _take(self.before)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        _take(self.before)  # it was meant for the function alone

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with set_stance(self.name):
                return function(*args, **kwargs)

        return call


def _now() -> str:
    return stance.name
