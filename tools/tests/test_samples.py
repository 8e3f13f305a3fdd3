"""Every row of the op table has calls that work, and they are what they say."""

from __future__ import annotations

import pytest
from samples import ROWS, WITHOUT, default_dtype, fits, samples, tensors

import taeda


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.filterwarnings("ignore")
def test_every_row_has_calls_that_work_or_a_reason(name):
    made = list(samples(name))
    assert made or WITHOUT[name]
    for sample in made:
        sample.call()


@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if fits(row, "float32")])
@pytest.mark.filterwarnings("ignore")
def test_calls_work_in_float32_at_other_sizes(name):
    for sample in samples(name, "float32", n=9, m=4, k=2):
        sample.call()


def test_reasons_are_for_rows_that_exist():
    assert set(WITHOUT) <= set(ROWS)


def test_a_call_is_drawn_from_its_name_dtype_sizes_and_seed():
    one, same, other = (next(samples("mm", "float32", seed=seed, n=7)).args for seed in (0, 0, 1))
    assert [tuple(x.shape) for x in one] == [(5, 7), (7, 3)]
    assert all(map(taeda.equal, one, same))
    assert not taeda.equal(one[0], other[0])


def test_marks_say_which_dtypes():
    assert default_dtype(ROWS["gcd"]) == "int64" and not list(samples("gcd", "float32"))
    assert default_dtype(ROWS["view_as_real"]) == "complex128"
    assert fits(ROWS["mean"], "bfloat16") and not fits(ROWS["mean"], "uint8")
    assert fits(ROWS["_fused_attention"], "float32") and not fits(
        ROWS["_fused_attention"], "float64"
    )


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int64", "float16", "bfloat16", "float64", "complex64", "complex32"]
)
def test_numbers_have_the_dtype_asked_for(dtype):
    (sample, *_) = samples("add.Tensor", dtype)
    assert {str(x.dtype) for x in sample.tensors()} == {f"taeda.{dtype}"}


def test_map_changes_the_tensors_in_lists_too():
    (sample, *_) = samples("cat")
    changed = sample.map(taeda.neg)
    assert all(taeda.equal(a, -b) for a, b in zip(changed.tensors(), sample.tensors(), strict=True))
    assert tensors({"a": [sample.args]}) == sample.tensors()


def test_written_tensors_are_those_of_the_schema():
    (sample, *_) = samples("copy_")
    assert sample.written() == [sample.args[0]]
    (sample, *_) = samples("_foreach_add_.List")
    assert sample.written() == list(sample.args[0])
    assert next(samples("add.Tensor")).written() == []
