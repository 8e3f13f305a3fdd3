"""Ways to put something on the C type itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._native import core as _core

Tensor = _core.Tensor
__all__ = ["Tensor", "explained_method", "method", "set_property"]


def method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function a method of Tensor, under its own name."""
    setattr(Tensor, function.__name__, function)
    return function


def explained_method(name: str, module: str, call: Callable[..., Any]) -> None:
    """Make `call` the method `name`, whose documentation is that of `module`'s function."""
    call.__name__, call.__qualname__ = name, f"Tensor.{name}"
    call.__doc__ = f"See `{module}.{name}`."
    setattr(Tensor, name, call)


def set_property(name: str, get: Callable[[Tensor], Any], doc: str) -> None:
    """Add a property; `__torch_function__` of a subclass is asked with `Tensor.<name>.__get__`."""

    def read(self: Tensor) -> Any:
        return get(self) if type(self) is Tensor else asked(self)

    def asked(self: Tensor) -> Any:
        from .._layers import dispatch as _dispatch  # it needs Tensor complete

        if not _dispatch.has_overrides((self,)):
            return get(self)
        return _dispatch.dispatch_override(vars(Tensor)[name].__get__, (self,), {})

    setattr(Tensor, name, property(read, doc=doc))
