"""Masks and dimensions that do not fit."""

from __future__ import annotations

import pytest
from masks import MASK, X

import taeda
from taeda import masked


def test_masks_broadcast_and_may_be_numbers():
    mask = taeda.tensor([True, False, True, False])
    assert taeda.equal(masked.sum(X, 1, mask=mask), X[:, ::2].sum(1))
    assert taeda.equal(masked.sum(X, 1, mask=MASK.float()), masked.sum(X, 1, mask=MASK))
    assert masked.sum(taeda.tensor(3.0), mask=taeda.tensor(False)) == 0


@pytest.mark.parametrize(
    ("call", "error", "fact"),
    [
        (lambda: masked.sum(X, 2), IndexError, "Dimension out of range"),
        (lambda: masked.sum(X, (0, -2)), RuntimeError, "appears twice"),
        (lambda: masked.sum(X, mask=[True]), TypeError, "tensor of bools or None, but got list"),
        (lambda: masked.sum(X, mask=taeda.ones(3, 3, dtype=taeda.bool)), RuntimeError, "size"),
        (lambda: masked.softmax(X.int(), 1, mask=MASK), NotImplementedError, "pass floats"),
    ],
)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call()


FUNCTIONS = {
    **dict.fromkeys(
        "sum prod amax amin argmax argmin mean median var std logsumexp softmax log_softmax softmin "
        "cumsum cumprod".split(), ()),
    "norm": (2.0,), "normalize": (2.0,),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_masked_input_brings_its_mask(name):
    function, more = getattr(masked, name), FUNCTIONS[name]
    x = masked.masked_tensor(X[:2], MASK[:2])
    given = taeda.tensor([True, False, True, True])
    for mask, both in ((None, MASK[:2]), (MASK[:2], MASK[:2]), (given, MASK[:2] & given)):
        made = function(x, *more, 1, mask=mask)
        assert not masked.is_masked_tensor(made)
        wanted = function(X[:2], *more, 1, mask=both)
        assert taeda.allclose(made, wanted, equal_nan=True)


def test_gradients_come_back_to_a_masked_input():
    x = masked.masked_tensor(X, MASK, requires_grad=True)
    masked.sum(x * x, mask=taeda.tensor([True, True, False, False])).backward()
    kept = MASK & taeda.tensor([True, True, False, False])
    assert taeda.equal(x.grad.get_mask(), MASK)
    assert taeda.equal(x.grad.to_tensor(0.0), 2 * X * kept)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("to", ["to_sparse", "to_sparse_csr"])
def test_masks_may_be_sparse_and_inputs_not(name, to):
    function, more = getattr(masked, name), FUNCTIONS[name]
    made = function(X, *more, 1, mask=getattr(MASK, to)())
    assert taeda.allclose(made, function(X, *more, 1, mask=MASK), equal_nan=True)
    with pytest.raises(NotImplementedError, match=f"masked.{name}: the input has layout"):
        function(getattr(X, to)(), *more, 1, mask=MASK)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_no_tensor_and_masked_masks_are_refused(name):
    function, more = getattr(masked, name), FUNCTIONS[name]
    with pytest.raises(TypeError, match="input must be a tensor, but got list"):
        function([1.0], *more, 0)
    with pytest.raises(TypeError, match="plain tensor"):
        function(X, *more, 1, mask=masked.masked_tensor(MASK, MASK))
