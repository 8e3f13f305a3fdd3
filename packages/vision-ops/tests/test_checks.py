"""What is asked of arguments."""

import pytest

import taeda
from taeda.vision_ops._checks import computed, same_dtype


def test_dtypes_that_kernels_compute_in():
    assert computed(taeda.ones(2, dtype=taeda.float16), "x").dtype is taeda.float32
    assert computed(taeda.ones(2, dtype=taeda.float64), "x").dtype is taeda.float64
    assert computed(taeda.ones(2, 3).T, "x").is_contiguous()
    with pytest.raises(TypeError, match=r"x is of a floating-point dtype, not taeda.int64"):
        computed(taeda.ones(2, dtype=taeda.int64), "x")
    with pytest.raises(RuntimeError, match="x is on meta"):
        computed(taeda.ones(2, device="meta"), "x")


def test_both_names_are_told():
    same_dtype("f", a=taeda.ones(1), b=taeda.ones(1))
    with pytest.raises(RuntimeError, match="f: a and c are of one dtype"):
        same_dtype("f", a=taeda.ones(1), b=taeda.ones(1), c=taeda.ones(1).double())
