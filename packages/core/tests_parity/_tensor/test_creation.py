"""Tensors from data of every mix of leaves: torch's dtype, values and refusals."""

from __future__ import annotations

import leaves
import numpy as np
import pytest
from both import FULL
from hypothesis import given, settings

import taeda

torch = pytest.importorskip("torch")

STEADY = settings(
    derandomize=True, database=None, deadline=None, max_examples=5000 if FULL else 500
)


def made(library, recipe, way):
    try:
        return getattr(library, way)(leaves.build(recipe, library))
    except (TypeError, ValueError, RuntimeError) as error:
        return error


def is_bool_as_integer(theirs):
    """numpy's bools are refused beside integers; docs/parity.md names it."""
    return isinstance(theirs, TypeError) and "'numpy.bool' object" in str(theirs)


@STEADY
@given(leaves.recipes)
@pytest.mark.parametrize("way", ["tensor", "as_tensor"])
@pytest.mark.filterwarnings("ignore")
def test_same_tensor(way, recipe):
    ours, theirs = made(taeda, recipe, way), made(torch, recipe, way)
    if is_bool_as_integer(theirs):
        assert ours.tolist() == np.array(leaves.numbers(recipe)).tolist()
    elif "an integer is required" in str(theirs):  # any numpy.uint64 in a list
        assert not isinstance(ours, TypeError)
    elif "Promotion for" in str(ours) and not isinstance(theirs, Exception):
        # torch reads no further than a complex128; the unsigned dtypes promote with no other integer
        said = str(recipe)
        assert ("complex" in said or "j)" in said) and "uint" in said
    elif isinstance(theirs, Exception):
        assert type(ours) is type(theirs), theirs
    else:
        assert str(ours.dtype).removeprefix("taeda.") == str(theirs.dtype).removeprefix("torch.")
        assert ours.tolist() == theirs.tolist()


COMPARED = [
    ("==", np.array([1.0, 2.0])), ("==", np.array([[1], [2]])), ("==", np.array(1)),
    ("==", np.array(["a", "b"])),
    ("/", np.array([1.0, 2.0])), ("/", np.array([1, 2])), ("/", np.array(2.0)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize(("sign", "array"), COMPARED)
@pytest.mark.parametrize("text", ["x {} a", "a {} x"])
@pytest.mark.filterwarnings("ignore")
def test_beside_arrays(text, sign, array, dtype):
    results = []
    for library in (taeda, torch):
        x = library.tensor([1, 4], dtype=getattr(library, dtype))
        results.append(eval(text.format(sign), {"x": x, "a": array}))
    ours, theirs = results
    assert type(ours).__name__ == type(theirs).__name__
    if isinstance(theirs, torch.Tensor):
        assert str(ours.dtype).partition(".")[2] == str(theirs.dtype).partition(".")[2]
        assert ours.tolist() == theirs.tolist()
    else:
        assert ours == theirs
