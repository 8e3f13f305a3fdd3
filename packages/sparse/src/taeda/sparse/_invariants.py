"""Whether constructors look at what callers claim. They look at the bounds of indices anyway."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["check_sparse_tensor_invariants"]


class check_sparse_tensor_invariants:
    """Let constructors of sparse tensors check claims too, by the global switch, in a block or in a function.

    Indices out of bounds, offsets that fall and columns that repeat are always refused. The switch adds
    the claim `is_coalesced=True` of `sparse_coo_tensor`, which costs a pass over the indices, and that both
    indices of a compressed tensor have one dtype, int32 or int64 (without it they become int64).

    Args:
        enable: whether claims are checked in the block, default True.

    >>> import taeda
    >>> with taeda.sparse.check_sparse_tensor_invariants():
    ...     x = taeda.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (2,), is_coalesced=True)
    >>> taeda.sparse.check_sparse_tensor_invariants.is_enabled()
    False
    """

    _on = False

    def __init__(self, enable: bool = True) -> None:
        self._wanted = bool(enable)
        self._before: list[bool] = []

    @staticmethod
    def is_enabled() -> bool:
        """Whether claims are checked."""
        return check_sparse_tensor_invariants._on

    @staticmethod
    def enable() -> None:
        """Check claims from now on."""
        check_sparse_tensor_invariants._on = True

    @staticmethod
    def disable() -> None:
        """Believe claims from now on."""
        check_sparse_tensor_invariants._on = False

    def __enter__(self) -> None:
        self._before.append(self.is_enabled())
        check_sparse_tensor_invariants._on = self._wanted

    def __exit__(self, *exception: object) -> None:
        check_sparse_tensor_invariants._on = self._before.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, in which claims are checked or not."""

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self._wanted):
                return function(*args, **kwargs)

        return checked
