"""C++ classes that libraries bring: `taeda.classes.<space>.<Name>`, a class of Python whose objects
live in the library.

A library registers one with the headers of torch: `TORCH_LIBRARY(space, m) { m.class_<Stack>("Stack")
.def(torch::init<int64_t>()).def("push", &Stack::push); }`.

>>> import taeda
>>> sorted(taeda.classes.loaded_libraries)
[]
"""

from __future__ import annotations

import os

from taeda import ops
from taeda._library._classes import ScriptObject, find

__all__ = ["load_library", "loaded_libraries"]

#: absolute paths of the libraries loaded so far
loaded_libraries = ops.loaded_libraries


def load_library(path: str | os.PathLike[str]) -> None:
    """Load a shared library for the classes and operators that it registers.

    Args:
        path: The file of the library, as of `taeda.ops.load_library`, which it is the same as.

    Raises:
        ImportError: The file is missing, no extension, or refused to start; the message says which.

    >>> taeda.classes.load_library("nowhere.so")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ImportError: cannot open the extension: ...nowhere.so: ...
    """
    ops.load_library(path)


class _Space:
    """The classes of one namespace, as attributes."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> type[ScriptObject]:
        if name.startswith("__"):
            raise AttributeError(f"taeda.classes.{self.name} has no attribute {name!r}")
        return find(self.name, name)


def __getattr__(name: str) -> _Space:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = _Space(name)
    return found
