"""Arguments of a call by the names that `forward` has for them."""

from __future__ import annotations

import inspect
from typing import Any

from taeda import nn
from taeda.compiler._errors import UserError

__all__ = ["bound_arguments"]


def bound_arguments(mod: nn.Module, args: Any, kwargs: Any) -> dict[str, Any]:
    """Arguments by name, in the order of the leaves."""
    try:
        signature = inspect.signature(mod.forward)
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        raise UserError(f"forward of {type(mod).__name__}: {error}") from error
    made: dict[str, Any] = {}
    for name, value in bound.items():
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            made.update({f"{name}_{k}": v for k, v in enumerate(value)})
        elif kind is inspect.Parameter.VAR_KEYWORD:
            continue
        elif name not in kwargs:
            made[name] = value
    return {**made, **kwargs}
