"""Where saved tensors are not kept but computed again, and what must be kept there all the same."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from .graph import saved_tensors_hooks

__all__ = ["computed_again", "kept"]


class _Here(threading.local):
    def __init__(self) -> None:
        self.depth = 0


_here = _Here()


@contextmanager
def computed_again() -> Iterator[None]:
    """The run of a function whose saved tensors another run will make."""
    _here.depth += 1
    try:
        yield
    finally:
        _here.depth -= 1


def _same(tensor: Any) -> Any:
    return tensor


def kept() -> AbstractContextManager[Any]:
    """A context in which tensors are saved as they are, for a graph that is walked before the function
    returns: another run would be needed amid the first one, in the middle of a map perhaps.
    """
    return saved_tensors_hooks(_same, _same) if _here.depth else nullcontext()
