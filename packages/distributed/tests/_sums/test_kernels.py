"""What combines two ranks' values, for every reduction and dtype, beside NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda.distributed import ReduceOp
from taeda.distributed._sums.kernels import kernel_of

INTEGERS = ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
NUMBERS = {
    ReduceOp.SUM: np.add,
    ReduceOp.AVG: np.add,
    ReduceOp.PRODUCT: np.multiply,
    ReduceOp.MIN: np.minimum,
    ReduceOp.MAX: np.maximum,
}
BITS = {
    ReduceOp.BAND: np.bitwise_and,
    ReduceOp.BOR: np.bitwise_or,
    ReduceOp.BXOR: np.bitwise_xor,
}
TRUTHS = {
    ReduceOp.SUM: np.logical_or,
    ReduceOp.PRODUCT: np.logical_and,
    ReduceOp.MIN: np.logical_and,
    ReduceOp.MAX: np.logical_or,
    ReduceOp.BAND: np.logical_and,
    ReduceOp.BOR: np.logical_or,
    ReduceOp.BXOR: np.logical_xor,
}
CASES = [(name, op, want) for name in INTEGERS for op, want in {**NUMBERS, **BITS}.items()]
CASES += [(name, op, want) for name in FLOATS for op, want in NUMBERS.items()]
CASES += [("bool", op, want) for op, want in TRUTHS.items()]
CASES += [("complex64", ReduceOp.SUM, np.add), ("complex128", ReduceOp.PRODUCT, np.multiply)]


def given(name: str, seed: int) -> np.ndarray:
    """All bits take part, the sign's too."""
    generator = np.random.default_rng(seed)
    if name.startswith(("int", "uint")):
        return generator.integers(0, 256, 64 * np.dtype(name).itemsize, np.uint8).view(name)
    if name == "bool":
        return generator.integers(0, 2, 64).astype(bool)
    values = generator.standard_normal((2, 64))
    return (values[0] + 1j * values[1] if name.startswith("complex") else values[0]).astype(name)


@pytest.mark.parametrize(("name", "op", "want"), CASES, ids=lambda x: getattr(x, "name", None))
def test_every_reduction_of_every_dtype(name, op, want):
    a, b = given(name, 1), given(name, 2)
    kernel = kernel_of(op, getattr(taeda, name))
    first, second = taeda.tensor(a), taeda.tensor(b)
    out = taeda.empty_like(first)
    kernel(first, second, out=out)
    with np.errstate(over="ignore"):
        expected = want(a, b)
    close = (
        np.testing.assert_allclose if name.startswith("complex") else np.testing.assert_array_equal
    )
    close(out.numpy(), expected)
    kernel(first, second, out=first)
    assert taeda.equal(first, out), "in place"
