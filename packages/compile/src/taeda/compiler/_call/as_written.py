"""A module called as if it had not been compiled."""

from __future__ import annotations

from typing import Any

from taeda import nn
from taeda.nn.modules._hooks import call_as_written

from .._watch.observer import here

__all__ = ["AsWritten"]


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
