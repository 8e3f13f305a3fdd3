"""Closeness and equality of whole tensors, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import taeda

INF, NAN = float("inf"), float("nan")
VALUES = [0.0, 1.0, 1.0 + 1e-6, 1.1, -1.0, INF, -INF, NAN]


@pytest.mark.parametrize("equal_nan", [True, False])
@pytest.mark.parametrize(("rtol", "atol"), [(1e-5, 1e-8), (0.0, 0.0), (0.2, 0.0), (0.0, 0.5)])
def test_every_pair(rtol, atol, equal_nan):
    a = np.array(VALUES)[:, None] * np.ones(len(VALUES))
    options = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}
    found = taeda.isclose(taeda.from_numpy(a), taeda.from_numpy(a.T.copy()), **options)
    assert np.array_equal(found.numpy(), np.isclose(a, a.T, **options))


@pytest.mark.parametrize("dtype", [taeda.int32, taeda.bool, taeda.complex64, taeda.float16])
def test_other_dtypes(dtype):
    x = taeda.tensor([0, 1, 1], dtype=dtype)
    y = taeda.tensor([1, 1, 0], dtype=dtype)
    assert taeda.isclose(x, y).tolist() == [False, True, False]
    assert taeda.allclose(x, x) and not taeda.allclose(x, y)
    assert taeda.isclose(x, y, atol=1.0).tolist() == [True] * 3


def test_equality_is_of_shapes_and_elements():
    x = taeda.arange(3)
    assert taeda.equal(x, x.clone()) and not taeda.equal(x, x + 1)
    assert not taeda.equal(x, x[None]) and taeda.equal(x[:0], x[:0])
    assert not taeda.equal(taeda.tensor([NAN]), taeda.tensor([NAN]))


def test_refusals():
    x = taeda.ones(2)
    with pytest.raises(RuntimeError, match="one dtype, got"):
        taeda.isclose(x, x.double())
    for wrong in ({"rtol": -1.0}, {"atol": -1.0}):
        with pytest.raises(RuntimeError, match="greater than or equal to zero"):
            taeda.isclose(x, x, **wrong)
    with pytest.raises(NotImplementedError, match="meta tensors have no values"):
        taeda.equal(x, x.to("meta"))
