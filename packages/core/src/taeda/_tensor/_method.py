"""Ways to put something on the C type itself."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .._layers import exact, watched
from .._native import core as _core

Tensor = _core.Tensor
__all__ = ["Tensor", "asked", "explained_method", "method", "set_property"]

#: Python asks for these itself, of the object that it has; PyTorch asks nobody either
_ITSELF = frozenset({"__iter__", "__dir__", "__array_namespace__", "as_subclass"})


def asked(
    door: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The call of a method that is watched: for others it is a call of `door`."""
    from .._layers.doors import _ask, is_for_others  # late: it needs Tensor complete

    relevant = (*args, *kwargs.values())
    return (
        _ask(door, args, kwargs, relevant) if is_for_others(relevant) else function(*args, **kwargs)
    )


def _with_door(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as `__torch_function__` sees it: asked for before it looks at an argument."""

    @functools.wraps(function)
    def door(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if not watched and type(self) in exact and (not args or exact.issuperset(map(type, args))):
            return function(self, *args, **kwargs)
        return asked(door, function, (self, *args), kwargs)

    return door


def method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function a method of Tensor, under its own name; a public one asks at its door."""
    name = function.__name__
    private = name.startswith("_") and not name.startswith("__")
    setattr(Tensor, name, function if private or name in _ITSELF else _with_door(function))
    return function


def explained_method(name: str, module: str, call: Callable[..., Any]) -> None:
    """Make `call` the method `name`, whose documentation is that of `module`'s function."""
    call.__name__, call.__qualname__ = name, f"Tensor.{name}"
    call.__doc__ = f"See `{module}.{name}`."
    method(call)


def set_property(
    name: str,
    get: Callable[[Tensor], Any],
    doc: str,
    put: Callable[[Tensor, Any], None] | None = None,
) -> None:
    """Add a property; `__torch_function__` of a subclass is asked with `Tensor.<name>.__get__`."""

    def read(self: Tensor) -> Any:
        return get(self) if type(self) is Tensor else _ask_of(self)

    def _ask_of(self: Tensor) -> Any:
        from .._layers import dispatch as _dispatch  # late: it needs Tensor complete

        if not _dispatch.has_overrides((self,)):
            return get(self)
        return _dispatch.dispatch_override(vars(Tensor)[name].__get__, (self,), {})

    setattr(Tensor, name, property(read, put, doc=doc))
