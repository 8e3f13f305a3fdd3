"""What may be traced, and what tells kinds of arguments apart."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import taeda
from taeda.jit._values import copies_of, kept, kind_of, results_only, shapes_of, tensors_only


class Pair(NamedTuple):
    first: taeda.Tensor
    second: taeda.Tensor


X = taeda.arange(6.0).reshape(2, 3)


def test_a_kind_is_structure_and_layout():
    assert kind_of((X, [X + 1])) == kind_of((X * 2, [X]))
    others = [(X.t(), [X]), (X.double(), [X]), (X, X), (X, [X])]
    assert len({kind_of((X, [X + 1])), *map(kind_of, others)}) == 5  # the last: one tensor twice


def test_shapes_tell_no_strides():
    assert shapes_of((X, {"a": X})) == shapes_of((X.t().contiguous().t(), {"a": X}))
    assert shapes_of((X,)) != shapes_of((X.double(),))
    assert shapes_of((X,)) != shapes_of([X])


@pytest.mark.parametrize("value", [3, None, "text", [X, 1.0], {"a": object()}])
def test_what_is_no_tensor_is_refused(value):
    with pytest.raises(RuntimeError, match="cannot be traced"):
        tensors_only(value)


def test_results():
    results_only((X, (X,)), strict=True)
    results_only([X, {"a": X}], strict=False)
    with pytest.raises(RuntimeError, match="strict=False"):
        results_only([X], strict=True)
    with pytest.raises(RuntimeError, match="got int"):
        results_only((X, 1), strict=False)


def test_copies_keep_structure_layout_and_what_is_one():
    first, pair, named = copies_of((X.t(), [X, X], {"a": Pair(X, X)}), {})
    assert first.stride() == X.t().stride()
    assert first.data_ptr() != X.data_ptr()
    assert pair[0] is pair[1] is named["a"].first
    assert type(named["a"]) is Pair


def test_what_is_written_meanwhile_is_put_back():
    values, state = X.clone(), taeda.get_rng_state()
    with kept([values]):
        values.add_(1)
        taeda.rand(3)
    assert values.equal(X)
    assert taeda.get_rng_state().equal(state)
