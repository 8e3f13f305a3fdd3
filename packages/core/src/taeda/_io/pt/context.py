"""What making an object depends on, and the two kinds of name that a pickle may use besides values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..budget import Budget
from ..place import Place
from .errors import RefusedPickle
from .keys import Keys

__all__ = ["Context", "Known", "StorageType", "want"]


@dataclass
class Context:
    """One pickle being read: its budget, where tensors go, and what identities in it stand for."""

    budget: Budget
    place: Place
    persistent: Callable[[Any], Any] | None = None
    keys: Keys = field(init=False)

    def __post_init__(self) -> None:
        self.keys = Keys(self.budget)


@dataclass(frozen=True)
class Known:
    """A name that stands for a function of ours. `make` is given the arguments in the file."""

    name: str
    make: Callable[[tuple[Any, ...], Context], Any]


@dataclass(frozen=True)
class StorageType:
    """What torch calls a storage of one dtype; `dtype` is None for bytes."""

    name: str
    dtype: Any


def want(arguments: tuple[Any, ...], kinds: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    """The arguments, if they have these types; else RefusedPickle."""
    fits = len(arguments) == len(kinds)
    if not fits or not all(map(isinstance, arguments, kinds)):
        given = ", ".join(type(value).__name__ for value in arguments)
        raise RefusedPickle(f"{name} cannot be made of ({given:.200})")
    return arguments
