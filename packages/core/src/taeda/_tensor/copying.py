"""Copies of tensors: deepcopy and pickle."""

from __future__ import annotations

import copy
from typing import Any

from .._layers import NAMES, hidden, no_grad
from .._native import core as _core
from ._method import Tensor, method


@method
def __deepcopy__(self: Tensor, memo: dict[Any, Any]) -> Tensor:
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment. "
            "Use detach().clone() for a computed tensor."
        )
    if id(self) in memo:
        return memo[id(self)]
    with no_grad(), hidden(NAMES):
        made = self.clone() if self._dispatches() else _copy_storage(self, memo)
    if self._dispatches() and type(made) is not type(self):
        raise RuntimeError(
            f"deepcopy of a {type(self).__name__}: its clone() must be of the same type, got "
            f"{type(made).__name__}. "
            "Let __torch_dispatch__ answer aten.clone.default with it, or define __deepcopy__"
        )
    if type(self) is not type(made):
        made = Tensor._make_subclass(type(self), made)
    if _core.names_of(self) is not None:
        _core.set_names(made, _core.names_of(self))
    made.requires_grad_(self.requires_grad)
    if self.grad is not None:
        made.grad = copy.deepcopy(self.grad, memo)
    made.__dict__.update(copy.deepcopy(self.__dict__, memo))
    memo[id(self)] = made
    return made


def _copy_storage(self: Tensor, memo: dict[Any, Any]) -> Tensor:
    """A copy with the same place in a copied storage, so that tensors that share one still do."""
    if self.device.type == "meta":
        return self.detach().clone()
    key = ("storage", _core.storage_address(self))
    if key not in memo:
        memo[key] = _core.storage_bytes(self.detach()).clone()
    if self.is_conj() or self.is_neg():
        return self.detach().clone()
    return _core.on_storage(
        memo[key], self.dtype, tuple(self.shape), tuple(self.stride()), self.storage_offset()
    )


@method
def __reduce_ex__(self: Tensor, protocol: Any) -> Any:
    from .._pickling import describe  # late: it needs Tensor complete

    with no_grad():
        return describe(self)


@method
def __setstate__(self: Tensor, state: Any) -> None:
    raise RuntimeError("tensors are rebuilt by their constructor, not by __setstate__")
