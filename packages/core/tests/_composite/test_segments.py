"""Reductions of runs of elements, against loops over them in numpy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import taeda

STEPS = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod}
EMPTY = {"sum": 0.0, "mean": np.nan, "max": -np.inf, "min": np.inf, "prod": 1.0}


def reduce(data, how, **options):
    return taeda.segment_reduce(data, how, **options)


@pytest.mark.parametrize("how", STEPS)
@pytest.mark.parametrize("shape", [(7,), (7, 2), (7, 2, 3)])
def test_runs_along_the_first_axis(how, shape):
    data = np.random.default_rng(0).standard_normal(shape)
    lengths = [2, 0, 4, 1]
    starts = np.cumsum([0, *lengths])
    want = [
        STEPS[how](data[a:b], axis=0) if a < b else np.full(shape[1:], EMPTY[how])
        for a, b in itertools.pairwise(starts)
    ]
    tensor = taeda.from_numpy(data)
    for given in ({"lengths": taeda.tensor(lengths)}, {"offsets": taeda.tensor(starts)}):
        np.testing.assert_allclose(reduce(tensor, how, **given).numpy(), np.stack(want), rtol=1e-12)


def test_rows_have_runs_of_their_own():
    data = taeda.arange(8.0).reshape(2, 4)
    lengths = taeda.tensor([[1, 3], [2, 2]])
    assert reduce(data, "sum", lengths=lengths, axis=1).tolist() == [[0, 6], [9, 13]]


def test_an_empty_run_gives_what_it_starts_from():
    found = reduce(taeda.ones(2), "mean", lengths=taeda.tensor([0, 2]), initial=4.0)
    assert found.tolist() == [4, 3]  # (4 + 1 + 1) / 2
    assert reduce(taeda.ones(3), "sum", lengths=taeda.tensor([1]), unsafe=True).tolist() == [1]


@pytest.mark.parametrize(
    ("how", "options", "error", "words"),
    [
        ("sum", {}, RuntimeError, "Either lengths or offsets"),
        ("sum", {"indices": taeda.tensor([0])}, RuntimeError, "indices based reduction"),
        ("mode", {"lengths": taeda.tensor([4])}, RuntimeError, "sum, prod, mean, max or min, got mode"),
        ("sum", {"lengths": taeda.tensor([3])}, RuntimeError, "all rows of lengths"),
        ("sum", {"lengths": taeda.tensor([5, -1])}, RuntimeError, "negative value"),
        ("sum", {"lengths": taeda.tensor([4.0])}, NotImplementedError, "must be integers"),
        ("sum", {"lengths": taeda.tensor([[4]])}, RuntimeError, "last dimension of lengths"),
        ("sum", {"offsets": taeda.tensor([0, 3, 2])}, RuntimeError, "offsets must rise"),
        ("sum", {"offsets": taeda.tensor([0, 9])}, RuntimeError, "at most 4"),
        ("sum", {"offsets": taeda.tensor([], dtype=taeda.int64)}, RuntimeError, "one entry at least"),
    ],
)  # fmt: skip
def test_refusals(how, options, error, words):
    with pytest.raises(error, match=words):
        reduce(taeda.ones(4), how, **options)
    with pytest.raises(NotImplementedError, match="floating-point data"):
        reduce(taeda.tensor([1]), "sum", lengths=taeda.tensor([1]))
