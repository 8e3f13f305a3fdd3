"""Operators whose names begin with an underscore."""

import numpy as np
import pytest
from laws import follows
from scipy import stats

import taeda
from taeda._torch_names import private_ops as ops


def test_assertions_about_a_value():
    ops.assert_async(taeda.tensor(2.0))
    ops.assert_async(taeda.tensor([True]))
    with pytest.raises(RuntimeError, match="but got zero"):
        ops.assert_async(taeda.tensor(0))
    with pytest.raises(RuntimeError, match="too few"):
        ops.assert_async(taeda.tensor(False), "too few")
    with pytest.raises(RuntimeError, match="ambiguous"):
        ops.assert_async(taeda.ones(2))


def test_sizes_as_a_tensor():
    assert taeda.equal(ops.shape_as_tensor(taeda.ones(2, 0, 3)), taeda.tensor([2, 0, 3]))
    assert ops.shape_as_tensor(taeda.tensor(1.0)).dtype == taeda.int64


def test_shares_of_a_dirichlet_law():
    shape = taeda.tensor([0.7, 2.0, 1.3], dtype=taeda.float64)
    drawn = ops.sample_dirichlet(shape.expand(4000, 3), taeda.Generator().manual_seed(5)).numpy()
    np.testing.assert_allclose(drawn.sum(-1), 1.0, rtol=1e-12)
    for k, alpha in enumerate(shape.tolist()):
        follows(drawn[:, k], stats.beta(alpha, 4.0 - alpha).cdf)


def test_rows_of_entries_and_where_they_begin():
    rows = np.sort(np.random.default_rng(3).integers(0, 6, 20))
    begins = np.concatenate([[0], np.bincount(rows, minlength=8).cumsum()])
    made = ops.coo_to_csr(taeda.from_numpy(rows), 8)
    assert made.tolist() == begins.tolist() and made.dtype == taeda.int64
    assert ops.coo_to_csr(taeda.tensor([], dtype=taeda.int64), 2).tolist() == [0, 0, 0]
    columns = taeda.arange(20)
    back = ops.csr_to_coo(made, columns, out_int32=True)
    assert back.tolist() == [rows.tolist(), columns.tolist()] and back.dtype == taeda.int32
    assert ops.csr_to_coo(made, columns, transpose=True)[1].tolist() == rows.tolist()
    with pytest.raises(RuntimeError, match=r"one dimension, got taeda.float32 of shape \[2\]"):
        ops.coo_to_csr(taeda.ones(2), 2)


def test_an_operator_that_is_only_mentioned():
    operator = ops.MentionedOperator("_sparse_addmm")
    assert (
        operator.overloads() == ["default"]
        and repr(operator.default) == "aten._sparse_addmm.default"
    )
    assert {operator.default: 1}[operator.default] == 1
    for call in (operator, operator.default):
        with pytest.raises(RuntimeError, match=r"aten\._sparse_addmm.* does not exist in taeda"):
            call(taeda.ones(1))
