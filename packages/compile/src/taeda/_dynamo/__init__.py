"""What programs call under this name: `reset`, `explain`, `disable`, and limits in `config`.

>>> import taeda._dynamo
>>> taeda._dynamo.config.recompile_limit
8
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda.compiler import Explanation, disable, reset
from taeda.compiler import explain as _explain

from . import config

__all__ = ["config", "disable", "explain", "is_compiling", "list_backends", "reset"]


def explain(f: Callable[..., Any], *extra_args: Any, **extra_kwargs: Any) -> Any:
    """A function that calls `f` with its arguments and returns an `Explanation`; with arguments the explanation itself."""
    made: Callable[..., Explanation] = _explain(f)
    return made(*extra_args, **extra_kwargs) if extra_args or extra_kwargs else made


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """The names that `compile` takes as backend. There are no tags, so `exclude_tags` has to be empty."""
    from taeda.compiler import list_backends

    if exclude_tags and set(exclude_tags) - {"debug", "experimental"}:
        raise ValueError(f"backends have no tags here, got exclude_tags={exclude_tags!r}")
    return list_backends()


def is_compiling() -> bool:
    """Whether this thread records a program right now."""
    from taeda.compiler import is_compiling

    return is_compiling()
