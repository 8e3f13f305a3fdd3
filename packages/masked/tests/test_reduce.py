"""Sums, products, extremes and norms of what counts."""

from __future__ import annotations

import pytest
from masks import DTYPES, MASK, X, by_rows

import taeda
from taeda import masked

REDUCE = {
    "sum": (lambda row: row.sum(), 0.0),
    "prod": (lambda row: row.prod(), 1.0),
    "amax": (lambda row: row.amax(), -float("inf")),
    "amin": (lambda row: row.amin(), float("inf")),
    "logsumexp": (lambda row: row.logsumexp(0), -float("inf")),
    "norm": (lambda row: row.norm(), 0.0),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCE)
def test_rows_are_those_of_what_counts(name, dtype):
    plain, empty = REDUCE[name]
    x = X.to(dtype)
    made = getattr(masked, name)(x, dim=1, mask=MASK)
    assert made.dtype is dtype and made[2] == empty
    assert taeda.allclose(made[:2], by_rows(plain, x), rtol=1e-2 if dtype.itemsize == 2 else 1e-6)
    kept = getattr(masked, name)(x, dim=1, keepdim=True, mask=MASK)
    assert taeda.equal(kept, made.unsqueeze(1))
    everything = getattr(masked, name)(x, mask=MASK)
    assert taeda.allclose(everything, plain(x[MASK]), rtol=1e-2 if dtype.itemsize == 2 else 1e-6)
    assert taeda.allclose(
        getattr(masked, name)(x, dim=-1), taeda.stack([plain(row) for row in x]), rtol=1e-2
    )


@pytest.mark.parametrize("order", [1, 3.0, 0, float("inf"), -float("inf"), -1.0])
def test_norms_of_other_orders(order):
    made = masked.norm(X, order, 1, mask=MASK)
    assert taeda.allclose(made[:2], by_rows(lambda row: taeda.linalg.vector_norm(row, order)))
    assert made[2] == (0 if order >= 0 else float("inf"))


def test_where_extremes_stand():
    assert masked.argmax(X, 1, mask=MASK).tolist() == [2, 1, 0]
    assert masked.argmin(X, 1, keepdim=True, mask=MASK).tolist() == [[0], [2], [0]]
    assert masked.argmax(X, mask=MASK) == 2 and masked.argmin(X) == X.argmin()


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", [*DTYPES, taeda.int64, taeda.int32, taeda.int8, taeda.uint8])
def test_indices_have_the_dtype_of_the_input_or_that_which_is_asked_for(name, dtype):
    function, x = getattr(masked, name), X.to(dtype).abs()
    plain = function(x, 1, mask=MASK, dtype=taeda.int64)
    for given, held in ((None, dtype), (taeda.float64, taeda.float64), (taeda.int32, taeda.int32)):
        made = function(x, 1, mask=MASK, dtype=given)
        assert made.dtype is held
        assert made.tolist() == plain.tolist()


@pytest.mark.parametrize(
    ("dtype", "places"),
    [(taeda.bool, 2), (taeda.int8, 128), (taeda.bfloat16, 257), (taeda.float16, 2049)],
)
def test_no_index_is_rounded(dtype, places):
    x = taeda.arange(places, dtype=taeda.float64)
    assert masked.argmax(x, dtype=dtype).item() == places - 1
    wide = taeda.arange(places + 1, dtype=taeda.float64)
    for call in (
        lambda: masked.argmax(wide, 0, dtype=dtype),
        lambda: masked.argmin(wide, dtype=dtype),
    ):
        with pytest.raises(RuntimeError, match=f"{places + 1} places exactly; ask for dtype"):
            call()
    assert masked.argmax(wide.expand(2, -1), 0, dtype=dtype).tolist() == [0] * (places + 1)


@pytest.mark.parametrize("name", ["amax", "amin", "argmax", "argmin"])
def test_complex_numbers_have_no_order(name):
    with pytest.raises(TypeError, match="have no order"):
        getattr(masked, name)(taeda.ones(2, dtype=taeda.complex64), 0)


def test_integers_and_bools():
    x = taeda.tensor([[5, 7], [9, 11]], dtype=taeda.int32)
    mask = taeda.tensor([True, False])
    assert masked.sum(x, 1, mask=mask).tolist() == [5, 9] and masked.sum(x).dtype is taeda.int64
    assert masked.amax(x, 0, mask=mask).tolist() == [9, taeda.iinfo(taeda.int32).min]
    assert masked.prod(x > 6, 1, mask=mask).tolist() == [0, 1]
    assert masked.amin(x > 6, 1, mask=mask).tolist() == [False, True]
    assert masked.sum(x, 1, dtype=taeda.float32).dtype is taeda.float32


def test_sums_of_exponentials_of_two():
    low = taeda.tensor([True, False, True, False])
    made = masked.logaddexp(X, X, input_mask=MASK, other_mask=low)
    wanted = (X.exp() * MASK + X.exp() * low).log()
    assert taeda.allclose(made, wanted)


@pytest.mark.parametrize("name", REDUCE)
def test_gradients_flow_to_what_counts(name):
    x = X[:2].clone().requires_grad_()
    getattr(masked, name)(x, dim=1, mask=MASK[:2]).sum().backward()
    assert not x.grad[~MASK[:2]].any()
    assert taeda.autograd.gradcheck(lambda x: getattr(masked, name)(x, dim=1, mask=MASK[:2]), x)


@pytest.mark.parametrize("mask", [[True, True, True], [True, False, True], [False, False, False]])
def test_logsumexp_of_complex_numbers_keeps_their_angles(mask):
    x = taeda.tensor([1 + 2j, 3 - 1j, 0.5j], requires_grad=True)
    made = taeda.masked.logsumexp(x, 0, mask=taeda.tensor(mask))
    kept = x.detach()[taeda.tensor(mask)]
    assert made.dtype is taeda.complex64
    taeda.testing.assert_close(made.detach(), kept.exp().sum().log())
    if any(mask):
        made.abs().backward()
        assert x.grad.isfinite().all() and (x.grad[~taeda.tensor(mask)] == 0).all()
