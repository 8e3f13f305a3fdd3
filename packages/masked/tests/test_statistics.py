"""Means, medians and variances of what counts."""

from __future__ import annotations

import pytest
from masks import DTYPES, MASK, X, by_rows

import taeda
from taeda import masked


def half_corrected(row):
    return row.var(correction=0) * len(row) / (len(row) - 0.5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_those_of_what_counts(dtype):
    x, rtol = X.to(dtype), 1e-2 if dtype.itemsize == 2 else 1e-6
    for made, plain in (
        (masked.mean(x, 1, mask=MASK), lambda row: row.mean()),
        (masked.median(x, 1, mask=MASK), lambda row: row.median()),
        (masked.var(x, 1, mask=MASK), lambda row: row.var()),
        (masked.std(x, 1, False, mask=MASK), lambda row: row.std(unbiased=False)),
        (masked.var(x, 1, correction=0.5, mask=MASK), half_corrected),
    ):
        assert made.dtype is dtype and made[2].isnan()
        assert taeda.allclose(made[:2], by_rows(plain, x), rtol=rtol)


@pytest.mark.parametrize("dtype", [taeda.float16, taeda.bfloat16])
def test_deviations_whose_square_leaves_the_type(dtype):
    x = (X * 1000).to(dtype).requires_grad_()
    made = masked.std(x, 1, mask=MASK)
    assert made.dtype is dtype
    exact = masked.std(x.double(), 1, mask=MASK)
    assert taeda.allclose(made[:2].double(), exact[:2], rtol=1e-2)
    kept = [taeda.autograd.grad(y[:2].sum(), x)[0].double() for y in (made, exact)]
    assert taeda.allclose(*kept, rtol=1e-2, atol=1e-2)


def test_over_several_dimensions():
    assert taeda.allclose(masked.mean(X, mask=MASK), X[MASK].mean())
    assert taeda.allclose(
        masked.var(X, (0, 1), keepdim=True, mask=MASK), X[MASK].var().reshape(1, 1)
    )
    assert taeda.allclose(masked.std(X, 0), X.std(0)) and taeda.allclose(
        masked.median(X), X.median(-1)[0]
    )


@pytest.mark.parametrize("name", ["var", "std"])
def test_the_spread_of_complex_numbers_is_complex(name):
    x = taeda.complex(X, X.flip(1)).requires_grad_()
    made = getattr(masked, name)(x, mask=MASK)
    assert made.dtype is taeda.complex128
    assert taeda.allclose(made.real, getattr(x[MASK], name)())
    assert made.imag == 0
    kept = taeda.autograd.grad(getattr(x[MASK], name)(), x)[0]
    assert taeda.allclose(taeda.autograd.grad(made.real, x)[0], kept)


@pytest.mark.parametrize("dtype", [taeda.int64, taeda.int32, taeda.uint8])
def test_medians_of_integers_are_exact(dtype):
    x = taeda.tensor([[5, 200, 7, 1], [3, 9, 2, 8]]).to(dtype)
    mask = taeda.tensor([[True, True, True, False], [False, True, False, True]])
    made = masked.median(x, 1, mask=mask)
    assert made.dtype is dtype
    assert made.tolist() == [7, 8]
    assert masked.median(x, keepdim=True).tolist() == [[5], [3]]
    big = taeda.tensor([2**60 + 1, 2**60 + 3, 2**60 + 5])
    assert masked.median(big, 0).item() == 2**60 + 3
    assert masked.median(x[0, 0], 0).item() == 5
    assert masked.median(x > 5, 1, mask=mask).tolist() == [True, True]
    with pytest.raises(ValueError, match="holds no NaN"):
        masked.median(x, 1, mask=mask & taeda.tensor([[True], [False]]))


def test_many_equal_short_floats():
    x = taeda.full((3, 70_000), 0.1, dtype=taeda.bfloat16)
    mask = taeda.arange(70_000) % 2 == 0
    assert taeda.equal(masked.mean(x, 1, mask=mask), x[:, 0])


def test_nan_that_counts_is_seen():
    x = taeda.tensor([1.0, float("nan"), 3.0])
    assert masked.median(x).isnan() and masked.mean(x).isnan()
    assert masked.mean(x, mask=~x.isnan()) == 2 and masked.median(x, mask=~x.isnan()) == 1


@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_gradients_flow_to_what_counts(name):
    x = X[:2].clone().requires_grad_()
    assert taeda.autograd.gradcheck(lambda x: getattr(masked, name)(x, 1, mask=MASK[:2]), x)
    getattr(masked, name)(x, 1, mask=MASK[:2]).sum().backward()
    assert not x.grad[~MASK[:2]].any()


def test_refused():
    with pytest.raises(ValueError, match="Could not infer output dtype"):
        masked.mean(X.int())
    with pytest.raises(ValueError, match="Only one of unbiased and correction"):
        masked.var(X, 1, True, correction=1)
