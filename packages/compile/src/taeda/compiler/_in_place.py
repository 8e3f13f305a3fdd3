"""Behind `Module.compile`: the calls of a module go through a compiled function, and the module stays what it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import nn
from taeda.nn.modules._hooks import call_as_written

from ._compiled import Compiled
from ._observe import here

__all__ = ["AsWritten", "call_of"]


class AsWritten:
    """Calls a module as if it had not been compiled; a recorded run watches it as it watches any module."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.__qualname__ = type(module).__qualname__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        observer = here.get()
        if observer is not None and observer.active:
            return observer.call_module(self.module, args, kwargs, call_as_written)
        return call_as_written(self.module, *args, **kwargs)


def call_of(state: Compiled | None) -> Callable[..., Any] | None:
    """What calls of a module do instead; None if they are as they were."""
    if state is None:
        return None
    function = state.function

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) if state.off else state(args, kwargs)

    call.__taeda_compiled__ = state  # type: ignore[attr-defined]  # what `explain` looks at
    return call
