"""Settings of `compile`, as attributes.

    recompile_limit, cache_size_limit    how many graphs one function gets
    suppress_errors                      a function as backend that fails leaves the program as it is,
                                         with a warning in the log

Another name, or a value of another type, is refused: nothing would act on it.

>>> import taeda._dynamo
>>> with taeda._dynamo.config.patch(suppress_errors=True):
...     taeda._dynamo.config.suppress_errors
True
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from taeda.compiler._call import lookup as _lookup

__all__ = ["cache_size_limit", "patch", "recompile_limit", "suppress_errors"]

_PLACES = {
    "recompile_limit": "graphs",
    "cache_size_limit": "graphs",
    "suppress_errors": "suppress_errors",
}

recompile_limit: int
cache_size_limit: int
suppress_errors: bool


@contextlib.contextmanager
def patch(*changes: Any, **settings: Any) -> Iterator[None]:
    """Other settings for a while, as `patch(suppress_errors=True)`, `patch("recompile_limit", 2)`
    or `patch({...})`.

    A context, and a decorator. Errors are those of an assignment.
    """
    if len(changes) == 2:
        settings[changes[0]] = changes[1]
    elif len(changes) == 1:
        settings.update(changes[0])
    here = sys.modules[__name__]
    before = {name: getattr(here, name) for name in settings}
    try:
        for name, value in settings.items():
            setattr(here, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(here, name, value)


class _Config(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name in _PLACES:
            return getattr(_lookup.limits, _PLACES[name])
        raise AttributeError(f"taeda._dynamo.config has no {name!r}; it has {', '.join(_PLACES)}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
            return
        if name not in _PLACES:
            raise AttributeError(
                f"taeda._dynamo.config has no {name!r}; it has {', '.join(_PLACES)}"
            )
        if name == "suppress_errors":
            if type(value) is not bool:
                raise ValueError(f"{name} is True or False, got {value!r}")
        elif type(value) is not int or value < 1:
            raise ValueError(f"{name} is a positive int, got {value!r}")
        setattr(_lookup.limits, _PLACES[name], value)


sys.modules[__name__].__class__ = _Config
