"""Promises as functions: each function of a test file whose name does not begin with an underscore is one,
and its name says it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import taeda

__all__ = ["keep", "leaf", "promises", "raises"]


def leaf(*shape: int) -> taeda.Tensor:
    """Ones that ask for a gradient, three of them if no shape is given."""
    return taeda.ones(*(shape or (3,)), requires_grad=True)


def raises(kind: type[Exception], call: Callable[[], Any], match: str | None = None) -> None:
    """The call raises that."""
    with pytest.raises(kind, match=match):
        call()


def promises(module: dict[str, Any]) -> dict[str, Callable[[], None]]:
    """The functions of a module by what their names say."""
    return {
        name.replace("_", " "): value
        for name, value in module.items()
        if callable(value)
        and not isinstance(value, type)
        and getattr(value, "__module__", "") == module["__name__"]
        and not name.startswith(("_", "test_"))
    }


def keep(promise: Callable[[], None]) -> None:
    """Run one with the same random numbers each time."""
    random.seed(0)
    taeda.manual_seed(0)
    promise()
