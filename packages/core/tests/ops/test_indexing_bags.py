"""Sums of rows over bags against numpy."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import taeda


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("features", [0, 1, 31, 32, 65])
def test_sums_are_those_of_the_rows(dtype, features):
    rng = np.random.default_rng(0)
    table, places = rng.standard_normal((9, features)).astype(dtype), rng.integers(0, 9, 40)
    edges = np.array([1, 1, 4, 4, 30, 38])
    got = taeda._bag_sums(*map(taeda.from_numpy, (table, places, edges)))
    want = [table[places[a:b]].sum(0) for a, b in itertools.pairwise(edges)]
    np.testing.assert_allclose(got.numpy(), np.array(want), rtol=1e-5, atol=1e-6)


def test_layouts_and_nothing():
    table, places = taeda.arange(12.0).reshape(3, 4).t(), taeda.tensor([0, 9, 3, 9])[::2]
    assert taeda._bag_sums(table, places, taeda.tensor([0, 2])).tolist() == [[3.0, 11.0, 19.0]]
    assert taeda._bag_sums(table, places[:0], taeda.tensor([0])).shape == (0, 3)
    assert taeda._bag_sums(table, places[:0], taeda.tensor([0, 0])).tolist() == [[0.0] * 3]


T_, P_, E_ = taeda.ones(3, 4), taeda.tensor([0, 2]), taeda.tensor([0, 2])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((T_.half(), P_, E_), NotImplementedError, "float32 and float64, got float16"),
        ((T_[0], P_, E_), RuntimeError, "a table (V, M)"),
        ((T_, P_.int(), E_), RuntimeError, "of int32"),
        ((T_, P_, E_[:0]), RuntimeError, "edges (B + 1)"),
        ((T_, P_ + 1, E_), IndexError, "index 3 is out of bounds for 3 rows"),
        ((T_, P_ - 1, E_), IndexError, "index -1 is out of bounds for 3 rows"),
        ((T_, P_, E_ + 1), RuntimeError, "got 3 at 1"),
        ((T_, P_, taeda.tensor([2, 1])), RuntimeError, "got 1 at 1"),
    ],
)
def test_refusals(arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        taeda._bag_sums(*arguments)
