"""The forms in which the program of a scenario is compiled: by itself, called by another function
that finds it in a container, and as a part of a module.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from taeda import nn

__all__ = ["FORMS"]

Compile = Callable[[Any], Any]


def _by_itself(compile: Compile) -> Compile:
    return compile


def _in_a_container(compile: Compile) -> Compile:
    """What is compiled calls the program, which it finds in a list in a dict."""

    def made(program: Any) -> Any:
        table = {"programs": [program]}

        def call(*args: Any, **kwargs: Any) -> Any:
            return table["programs"][0](*args, **kwargs)

        return _Stand(program, compile(call))

    return made


class _Holder(nn.Module):
    """Calls a program that is no part of its tree."""

    def __init__(self, program: Any) -> None:
        super().__init__()
        self.__dict__["program"] = functools.partial(program)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.program(*args, **kwargs)


def _in_a_module(compile: Compile) -> Compile:
    """A compiled module has a partial of the program, and calls it."""
    return lambda program: _Stand(program, compile(_Holder(program)))


class _Stand:
    """Is called as the compiled one, and has the attributes of the program."""

    def __init__(self, program: Any, compiled: Any) -> None:
        self.__dict__.update(_program=program, _made=compiled)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._made(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._program, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._program, name, value)


#: what a form is called, and how a program is compiled in it
FORMS: dict[str, Callable[[Compile], Compile]] = {
    "by itself": _by_itself,
    "in a container": _in_a_container,
    "in a module": _in_a_module,
}
