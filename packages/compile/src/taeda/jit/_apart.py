"""A module beside another one: the same tensors, attributes of its own."""

from __future__ import annotations

import types
from collections import OrderedDict
from typing import Any

from taeda import nn

__all__ = ["apart"]

#: attributes that a module makes for itself
_COMPILED = frozenset({"_compiled_call_impl", "_hooked"})
_SEQUENCES = (list, tuple, set, frozenset)


def apart(module: nn.Module) -> nn.Module:
    """A module of the same class, with the same tensors, whose submodules and attributes are its
    own: what is set in one is not seen in the other. No code of the class runs.
    """
    return _Beside().value(module)


class _Beside:
    def __init__(self) -> None:
        self.made: dict[int, Any] = {}
        self.kept: list[Any] = []  # keeps ids from being used again

    def value(self, given: Any) -> Any:
        """What stands for a value in the other module."""
        if id(given) in self.made:
            return self.made[id(given)]
        self.kept.append(given)
        kind = type(given)
        if isinstance(given, nn.Module):
            return self.module(given)
        if isinstance(given, dict):
            return self.mapping(given)
        if kind in _SEQUENCES:
            made = self.made[id(given)] = kind(map(self.value, given))
            return made
        if kind is types.MethodType:
            return types.MethodType(given.__func__, self.value(given.__self__))
        return given

    def module(self, given: nn.Module) -> nn.Module:
        made = self.made[id(given)] = object.__new__(type(given))
        state = nn.Module.__getstate__(given)
        nn.Module.__setstate__(
            made, {name: self.value(v) for name, v in state.items() if name not in _COMPILED}
        )
        if any(name.startswith(("_forward_", "_backward_")) for name in state):  # tables of hooks
            made.__dict__["_hooked"] = True
        return made

    def mapping(self, given: dict[Any, Any]) -> Any:
        if type(given) not in (dict, OrderedDict) and not _is_table(given):
            return given
        made: Any = type(given)()
        self.made[id(given)] = made
        for key, value in given.items():
            made[key] = self.value(value)
        return made


def _is_table(given: dict[Any, Any]) -> bool:
    return type(given).__module__.startswith("taeda.nn.")
