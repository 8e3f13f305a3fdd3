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
