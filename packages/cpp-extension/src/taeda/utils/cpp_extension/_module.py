"""A built library as a Python module: an extension's functions by the core's table, or a Python extension as it is."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import taeda
from taeda._native import core

__all__ = ["fill", "import_library", "is_extension", "load_library"]


def is_extension(library: Path) -> bool:
    """Does the library speak taeda/abi.h? Opens it, and so raises ImportError for what cannot be opened."""
    return hasattr(_open(library), "taeda_ext_init")


def _open(library: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(library))
    except OSError as error:
        raise ImportError(f"cannot open the extension: {error}", path=str(library)) from None


def load_library(library: Path) -> None:
    """Load for the side effects alone: an extension registers what it has."""
    if is_extension(library):
        core.load_extension(str(library))


def import_library(name: str, library: Path) -> ModuleType:
    """The module `name` in `library`. ImportError if there is none, or one of another name."""
    if is_extension(library):
        module = ModuleType(name)
        module.__file__ = str(library)
        fill(module)
        return module
    if not hasattr(_open(library), f"PyInit_{name}"):
        raise ImportError(
            f"{library} defines no module {name!r}: it has neither taeda_ext_init nor PyInit_{name}. List functions to bind "
            f"(load_inline(functions=[...])), write TAEDA_EXTENSION(m) {{ m.def(...); }}, or name a Python module {name!r}",
            name=name,
            path=str(library),
        )
    spec = importlib.util.spec_from_file_location(name, library)
    assert spec is not None and spec.loader is not None  # a path that ends in .so has a loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
