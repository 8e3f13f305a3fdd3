"""Nested data of every kind of leaf, drawn from a seed: what `tensor` has to find one dtype for.

A recipe is made of Python only, so that two libraries can build the same data from it:

    ("list" or "tuple", [recipes])      ("array", dtype, nested numbers)
    ("number", value)                   ("scalar", dtype, value)            ("tensor", dtype, value)
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

__all__ = ["build", "dtype_of", "numbers", "recipes", "shape_of"]

NUMPY = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
PYTHON = {bool: "bool", int: "int64", float: "float32", complex: "complex64"}


def _value(dtype: str, r: random.Random) -> Any:
    """A number that every dtype of this kind holds exactly."""
    if dtype == "bool":
        return r.random() < 0.5
    if "int" in dtype:
        return r.randrange(0 if dtype.startswith("u") else -100, 100)
    real = r.randrange(-40, 40) / 4
    return complex(real, r.randrange(-40, 40) / 4) if dtype.startswith("complex") else real


def _node(shape: tuple[int, ...], dtypes: list[str], r: random.Random) -> Any:
    def nested(shape: tuple[int, ...], dtype: str) -> Any:
        if not shape:
            return _value(dtype, r)
        return [nested(shape[1:], dtype) for _ in range(shape[0])]

    dtype = r.choice(dtypes)
    if shape and dtype in NUMPY and r.random() < 0.25:
        return ("array", dtype, nested(shape, dtype))
    if shape:
        children = [_node(shape[1:], dtypes, r) for _ in range(shape[0])]
        return (r.choice(("list", "tuple")), children)
    source = r.choice(("number", "scalar", "tensor"))
    if source == "number":
        return ("number", _value(r.choice(list(PYTHON.values())), r))
    return (source if dtype in NUMPY else "tensor", dtype, _value(dtype, r))


def _recipe(seed: int) -> Any:
    r = random.Random(seed)
    shape = tuple(r.randrange(1, 4) for _ in range(r.randrange(1, 4)))
    # few, so that many lists have a common one
    dtypes = r.sample((*NUMPY, "bfloat16"), r.randrange(1, 4))
    return ("list", [_node(shape[1:], dtypes, r) for _ in range(shape[0])])


#: a list of up to three dimensions
recipes = st.integers(0, 2**32).map(_recipe)


def build(recipe: Any, library: Any) -> Any:
    """The data, with tensors of `library`."""
    source, *rest = recipe
    if source in ("list", "tuple"):
        return (list if source == "list" else tuple)(build(r, library) for r in rest[0])
    if source == "number":
        return rest[0]
    if source == "tensor":
        return library.tensor(rest[1], dtype=getattr(library, rest[0]))
    return np.dtype(rest[0]).type(rest[1]) if source == "scalar" else np.array(rest[1], rest[0])


def dtype_of(recipe: Any, promote: Callable[[str, str], str]) -> str:
    """What the entries of each list promote to by `promote`, from the innermost list outwards."""
    source, *rest = recipe
    if source in ("list", "tuple"):
        return functools.reduce(promote, [dtype_of(entry, promote) for entry in rest[0]])
    return PYTHON[type(rest[0])] if source == "number" else rest[0]


def numbers(recipe: Any) -> Any:
    """The same data as nested lists of Python's numbers."""
    source, *rest = recipe
    return [numbers(r) for r in rest[0]] if source in ("list", "tuple") else rest[-1]


def shape_of(data: Any) -> tuple[int, ...]:
    """The sizes of nested lists."""
    return (len(data), *shape_of(data[0])) if isinstance(data, list) else ()
