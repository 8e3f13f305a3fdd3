"""A built library as a Python module: an extension's operators by the core's table, or a Python
extension as it is.
"""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

import taeda
import taeda.ops
from taeda._core_api import runtime as core
from taeda._core_api.building import finish

__all__ = ["fill", "import_library", "load_library"]

_spaces: set[str] = set()
NUMBERS: dict[str, type] = {"float": float, "int": int, "bool": bool}


def load_library(name: str, library: Path) -> None:
    """Load for the side effects alone: an extension registers its operators, any other library is opened."""
    if _is_extension(library):
        import_library(name, library)


def import_library(name: str, library: str | PathLike[str]) -> ModuleType:
    """The module `name` in a shared library that was built before: an extension's functions, or a
    Python module.

    An extension's functions are operators of the core's table, as
    `taeda.ops.<namespace>.<function>` too. ImportError if the file cannot be opened, is no
    extension, needs another ABI, or holds a Python module of another name.

    Args:
        name: the name of the module
        library: the path of the shared library

    >>> import_library("fast", "missing.so")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ImportError: cannot open the extension: ...
    """
    path = Path(library).absolute()
    if _is_extension(path):
        module = ModuleType(name)
        module.__file__ = str(path)
        fill(module)
        return module
    if not hasattr(_open(path), f"PyInit_{name}"):
        raise ImportError(
            f"{path} defines no module {name!r}: it has neither taeda_ext_init nor PyInit_{name}. "
            "List functions to bind "
            f"(load_inline(functions=[...])), write TAEDA_EXTENSION(m) {{ m.def(...); }}, or name "
            f"a Python module {name!r}",
            name=name,
            path=str(path),
        )
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # a path that ends in .so has a loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fill(module: ModuleType) -> None:
    """Load the extension in the module's file and set its operators on `module`.
    Called for setup.py's modules too.
    """
    path = Path(module.__file__ or "")
    library = _open(path)
    space = _free_namespace(module.__name__.rpartition(".")[2])
    if named := _function(library, "taeda_ext_namespace"):
        named.argtypes = [ctypes.c_char_p]
        named(space.encode())
    kernels, defined = _load(path, library)
    if kernels:
        from taeda._core_api.building import define_kernels

        define_kernels(space, kernels)
    bound, doc = finish(str(path))
    if bound is not None:  # of torch's headers: what PYBIND11_MODULE names, else every operator
        vars(module).update(bound or dict(_operators(defined)))
        for one in (bound or {}).values():
            if isinstance(one, type):  # pickles look for it there
                one.__module__ = module.__name__
        module.__doc__ = doc or module.__doc__
        return
    numbers = dict(_described(library))
    for qualified in (*defined, *(f"{space}::{name}" for name in kernels)):
        place, _, name = qualified.partition("::")
        operator = getattr(getattr(taeda.ops, place), name.partition(".")[0])
        kind = NUMBERS.get(numbers.get(name, ""))
        setattr(module, operator.__name__, _numeric(operator, kind) if kind else operator)


def _operators(defined: list[str]) -> Iterator[tuple[str, Any]]:
    for qualified in defined:
        place, _, name = qualified.partition("::")
        stem = name.partition(".")[0]
        if not stem.endswith("__record") and "__class__" not in stem:
            yield stem, getattr(getattr(taeda.ops, place), stem)


def _free_namespace(name: str) -> str:
    """`name`, or `name_v1` and so on: versions of one extension in one process are apart."""
    candidates = (f"{name}_v{number}" if number else name for number in itertools.count())
    space = next(
        one for one in candidates if one not in _spaces and not dir(getattr(taeda.ops, one))
    )
    _spaces.add(space)
    return space


def _load(path: Path, library: ctypes.CDLL) -> tuple[dict[str, Any], list[str]]:
    try:
        loaded: tuple[dict[str, Any], list[str]] = core.load_extension(str(path))
    except ImportError as error:
        said = _text(library, "taeda_ext_failure")
        raise ImportError(
            f"{error}: {said}" if said and said not in str(error) else str(error), path=str(path)
        ) from None
    return loaded


def _numeric(operator: Callable[..., Any], kind: type) -> Callable[..., Any]:
    """An operator whose C++ function returns a number, which crosses as a tensor of one element."""

    def call(*args: Any, **kwargs: Any) -> Any:
        made = operator(*args, **kwargs)
        return kind(made.item())

    call.__name__ = call.__qualname__ = operator.__name__
    call.__doc__ = operator.__doc__
    return call


# ---- asking a library ----


def _is_extension(library: Path) -> bool:
    return _function(_open(library), "taeda_ext_init") is not None


def _open(library: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(library))
    except OSError as error:
        raise ImportError(f"cannot open the extension: {error}", path=str(library)) from None


def _function(library: ctypes.CDLL, name: str) -> Any:
    return getattr(library, name, None)


def _text(library: ctypes.CDLL, name: str) -> str:
    function = _function(library, name)
    if function is None:
        return ""
    function.restype = ctypes.c_char_p
    return function().decode()


def _described(library: ctypes.CDLL) -> list[tuple[str, str]]:
    """(function, what the number is that it returns) of what taeda.hpp bound."""
    records = [
        record.split("\x1f") for record in _text(library, "taeda_ext_functions").split("\x1e")
    ]
    return [(record[0].partition("(")[0], record[1]) for record in records if len(record) == 2]
