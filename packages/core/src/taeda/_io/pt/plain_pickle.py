"""A pickle alone, of data: numbers, texts, containers, and classes that were allowed."""

from __future__ import annotations

from typing import Any

from ..budget import Budget
from ..place import Place
from .context import Context
from .machine import load

__all__ = ["data_of_pickle"]


def data_of_pickle(data: bytes) -> Any:
    r"""What the pickle describes; RefusedPickle for what is no data, or asks for too much memory.

    >>> data_of_pickle(b"\x80\x04K\x07.")
    7
    """
    return load(data, Context(Budget(len(data), len(data)), Place(None)))
