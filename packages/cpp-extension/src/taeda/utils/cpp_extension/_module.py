"""A built library as a Python module: an extension's operators by the core's table, or a Python extension as it is."""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

import taeda
import taeda.ops
from taeda._native import core

__all__ = ["fill", "import_library", "load_library"]

_spaces: set[str] = set()
NUMBERS: dict[str, type] = {"float": float, "int": int, "bool": bool}


def load_library(name: str, library: Path) -> None:
    """Load for the side effects alone: an extension registers its operators, any other library is opened."""
    if _is_extension(library):
        import_library(name, library)


def import_library(name: str, library: str | PathLike[str]) -> ModuleType:
    """The module `name` in a shared library that was built before: an extension's functions, or a Python module.

    An extension's functions are operators of the core's table, as `taeda.ops.<namespace>.<function>` too. ImportError
    if the file cannot be opened, is no extension, needs another ABI, or holds a Python module of another name.
    """
    path = Path(library).absolute()
    if _is_extension(path):
        module = ModuleType(name)
        module.__file__ = str(path)
        fill(module)
        return module
    if not hasattr(_open(path), f"PyInit_{name}"):
        raise ImportError(
            f"{path} defines no module {name!r}: it has neither taeda_ext_init nor PyInit_{name}. List functions to bind "
            f"(load_inline(functions=[...])), write TAEDA_EXTENSION(m) {{ m.def(...); }}, or name a Python module {name!r}",
            name=name,
            path=str(path),
        )
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # a path that ends in .so has a loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fill(module: ModuleType) -> None:
    """Load the extension in the module's file and set its operators on `module`. Called for setup.py's modules too."""
    path = Path(module.__file__ or "")
    library = _open(path)
    space = _free_namespace(module.__name__.rpartition(".")[2])
    if named := _function(library, "taeda_ext_namespace"):
        named.argtypes = [ctypes.c_char_p]
        named(space.encode())
    kernels, defined = _load(path, library)
    if kernels:
        from taeda._library._native import define_kernels

        define_kernels(space, kernels)
    numbers = dict(_described(library))
    for qualified in (*defined, *(f"{space}::{name}" for name in kernels)):
        place, _, name = qualified.partition("::")
        operator = getattr(getattr(taeda.ops, place), name.partition(".")[0])
        kind = NUMBERS.get(numbers.get(name, ""))
        setattr(module, operator.__name__, _numeric(operator, kind) if kind else operator)


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


<<<<<<< HEAD
def fill(module: ModuleType) -> None:
    """Load the extension in the module's file and set its functions on `module`."""
    library = Path(module.__file__ or "")
    kernels = core.load_extension(str(library))
    described = _described(library)
    for name, kernel in kernels.items():
        schema, doc = described.get(name, ("", ""))
        setattr(module, name, _function(module.__name__, name, kernel, schema, doc))


def _described(library: Path) -> dict[str, tuple[str, str]]:
    """{function: (schema, docstring)} of what taeda.hpp bound."""
    handle = _open(library)
    if not hasattr(handle, "taeda_ext_functions"):
        return {}
    handle.taeda_ext_functions.restype = ctypes.c_char_p
    text = handle.taeda_ext_functions().decode()
    pairs = [record.split("\x1f") for record in text.split("\x1e") if record]
    return {schema.partition("(")[0]: (schema, doc) for schema, doc in pairs}


def _function(home: str, name: str, kernel: Any, schema: str, doc: str) -> Callable[..., Any]:
    kinds = _kinds(schema)
    if any(kind != "Tensor" for kind in kinds):

        def call(*arguments: Any) -> Any:
            if len(arguments) != len(kinds):
                raise TypeError(f"{schema} takes {len(kinds)} arguments, got {len(arguments)}")
            crossing = map(_cross, arguments, kinds, range(len(kinds)), [schema] * len(kinds))
            return core.call_kernel(kernel, tuple(crossing))
    else:

        def call(*arguments: Any) -> Any:
            return core.call_kernel(kernel, arguments)

    call.__name__, call.__qualname__, call.__module__ = name, name, home
    call.__doc__ = f"{doc or name}\n\n{schema}" if schema else name
    return call


def _kinds(schema: str) -> list[str]:
    inside = schema.partition("(")[2].partition(") ->")[0]
    return [part.partition(" ")[0] for part in inside.split(", ") if part]


WANTED = {"float": (float, int), "int": (int,), "bool": (bool,), "str": (str,)}
DTYPES = {"float": taeda.float64, "int": taeda.int64, "bool": taeda.bool}


def _cross(value: Any, kind: str, position: int, schema: str) -> Any:
    """The tensor that carries a value of the schema's `kind`."""
    if kind == "Tensor":
        return value
    if not isinstance(value, WANTED[kind]) or (isinstance(value, bool) and kind != "bool"):
        raise TypeError(f"{schema}: argument {position} must be {kind}, not {type(value).__name__}")
    if isinstance(value, str):
        return taeda.tensor(list(value.encode()), dtype=taeda.uint8)
    return taeda.tensor(value, dtype=DTYPES[kind])
=======
def _described(library: ctypes.CDLL) -> list[tuple[str, str]]:
    """(function, what the number is that it returns) of what taeda.hpp bound."""
    records = [
        record.split("\x1f") for record in _text(library, "taeda_ext_functions").split("\x1e")
    ]
    return [(record[0].partition("(")[0], record[1]) for record in records if len(record) == 2]
>>>>>>> 98ea5ef (cpp-extension: operators with schemas and derivatives in C++, a package template, the abi, custom-op and tutorial sessions)
