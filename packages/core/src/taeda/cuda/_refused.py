"""Names of parts of `torch.cuda` that taeda does without: a call raises, and says what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["refused"]


def refused(name: str, way: str) -> Callable[..., NoReturn]:
    """A function that raises NotImplementedError.

    Args:
        name: its whole name, which the error begins with.
        way: sentences on what to do instead.

    >>> refused("taeda.cuda.fly", "Walk.")(3)
    Traceback (most recent call last):
    NotImplementedError: taeda.cuda.fly is not implemented. Walk.
    """

    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{name} is not implemented. {way}")

    function.__qualname__ = function.__name__ = name.rpartition(".")[2]
    function.__module__ = name.rpartition(".")[0]
    function.__doc__ = f"""Raises NotImplementedError. {way}

    >>> {name}()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    NotImplementedError: {name} is not implemented. ...
    """
    return function
