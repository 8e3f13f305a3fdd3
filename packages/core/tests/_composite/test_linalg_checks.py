"""What linear algebra refuses, and how it says so."""

from __future__ import annotations

import pytest

import taeda
from taeda._composite import _linalg_checks as checks

ones = taeda.ones


@pytest.mark.parametrize("dtype", checks.WANTED)
def test_dtypes_that_are_taken(dtype):
    checks.check_floating("f", ones(1, dtype=dtype), ones(2, dtype=dtype))
    checks.check_square("f", ones(2, 3, 3, dtype=dtype))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: checks.check_floating("f", ones(1).long()), r"f: Expected a floating point .*taeda\.int64"),
        (lambda: checks.check_floating("f", ones(1).half()), "Low precision dtypes not supported"),
        (lambda: checks.check_floating("f", ones(1), ones(1).double()),
            r"one dtype, but got taeda\.float32 and taeda\.float64"),
        (lambda: checks.check_matrix("f", ones(3), "B"),
            "f: The input tensor B must have at least 2 dimensions, but got 1"),
        (lambda: checks.check_square("f", ones(2, 3)),
            "f: A must be batches of square matrices, but they are 2 by 3"),
        (lambda: checks.check_square("f", ones(3)), "at least 2 dimensions"),
    ],
)  # fmt: skip
def test_refusals(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()


def test_the_first_matrix_that_failed_is_named():
    checks.failed("f", taeda.zeros(3, dtype=taeda.int32), "{}")
    checks.failed("f", ones(3, dtype=taeda.int32, device="meta"), "{}")
    info = taeda.tensor([[0, 0], [5, 7]], dtype=taeda.int32)
    with pytest.raises(taeda.linalg.LinAlgError, match=r"f: \(Batch element 2\): pivot 5 is zero"):
        checks.failed("f", info, "pivot {} is zero")
    with pytest.raises(taeda.linalg.LinAlgError, match=r"^f: pivot 7 is zero"):
        checks.failed("f", info[1, 1], "pivot {} is zero")
