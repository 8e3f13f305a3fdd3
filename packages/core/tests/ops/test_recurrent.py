"""The LSTM kernel against a loop in numpy: sizes around a block of units, directions, layouts, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda._C import _nn


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(share, hidden, cell, weight, reverse):
    """(output, last cell) of all steps."""
    output = np.zeros((*share.shape[:2], hidden.shape[1]))
    for t in list(range(len(share)))[:: -1 if reverse else 1]:
        i, f, g, o = np.split(share[t] + hidden @ weight.T, 4, -1)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        output[t] = hidden = sigmoid(o) * np.tanh(cell)
    return output, cell


def arrays(steps, rows, units, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    shapes = (steps, rows, 4 * units), (rows, units), (rows, units), (4 * units, units)
    scales = 1, 1, 1, 1 / units**0.5
    return [(s * rng.standard_normal(n)).astype(dtype) for n, s in zip(shapes, scales, strict=True)]


SIZES = [(1, 1, 1), (3, 2, 5), (2, 13, 33), (4, 1, 70), (2, 30, 160), (2, 3, 545)]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reverse", [False, True])
def test_forward(sizes, dtype, reverse):
    given = arrays(*sizes, dtype)
    output, last, _, _ = _nn._lstm(*map(taeda.from_numpy, given), reverse)
    expected = lstm(*(a.astype("float64") for a in given), reverse)
    rtol = 1e-4 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(output.numpy(), expected[0], rtol=rtol, atol=rtol / 10)
    np.testing.assert_allclose(last.numpy(), expected[1], rtol=rtol, atol=rtol / 10)


def test_layouts():
    share, hidden, cell, weight = map(taeda.from_numpy, arrays(4, 3, 6))
    expected = _nn._lstm(share, hidden, cell, weight, False)[0]
    by_rows = share.transpose(0, 1).contiguous().transpose(0, 1)
    by_columns = share.transpose(0, 2).contiguous().transpose(0, 2)
    turned = weight.t().contiguous().t()
    for given in (by_rows, by_columns):
        got = _nn._lstm(given, hidden.t().contiguous().t(), cell, turned, False)[0]
        assert taeda.equal(got, expected)


def test_the_number_of_threads_changes_nothing():
    given = list(map(taeda.from_numpy, arrays(5, 40, 100, "float32")))
    before = taeda.get_num_threads()
    results = []
    for threads in (1, 3):
        taeda.set_num_threads(threads)
        try:
            made = _nn._lstm(*given, False)
            results.append(
                (
                    *made,
                    *_nn._lstm_backward(
                        made[0], made[1], given[2], given[3], made[2], made[3], False
                    ),
                )
            )
        finally:
            taeda.set_num_threads(before)
    assert all(taeda.equal(a, b) for a, b in zip(*results, strict=True))


def test_nothing_to_do():
    share, hidden, cell, weight = map(taeda.from_numpy, arrays(0, 2, 3))
    output, last, _, _ = _nn._lstm(share, hidden, cell, weight, False)
    assert output.shape == (0, 2, 3)
    assert taeda.equal(last, cell)
    made = _nn._lstm_backward(output, cell, cell, weight, output, share, False)
    assert taeda.equal(made[2], cell)
    assert made[1].abs().sum() == 0
    assert _nn._lstm(
        taeda.ones(2, 0, 4), taeda.ones(0, 1), taeda.ones(0, 1), taeda.ones(4, 1), True
    )[0].shape == (2, 0, 1)


def test_meta():
    given = [taeda.from_numpy(a).to("meta") for a in arrays(2, 3, 4)]
    assert [tuple(r.shape) for r in _nn._lstm(*given, False)] == [
        (2, 3, 4),
        (3, 4),
        (2, 3, 4),
        (2, 3, 16),
    ]


def test_not_a_number_stays_in_its_row():
    share, hidden, cell, weight = arrays(2, 3, 40)
    share[0, 1, 2] = np.nan
    output = _nn._lstm(*map(taeda.from_numpy, (share, hidden, cell, weight)), False)[0]
    assert output[:, [0, 2]].isfinite().all()
    assert output[1, 1].isnan().all()


ONE = taeda.ones(1, 1)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: _nn._lstm(ONE, ONE, ONE, ONE, False), r"\[T, N, 4 \* H\].*got \[1, 1\] and \[1, 1\]"),
        (lambda: _nn._lstm(taeda.ones(2, 1, 8), ONE, ONE, taeda.ones(4, 1), False), r"share of shape \[2, 1, 4\], got \[2, 1, 8\]"),
        (lambda: _nn._lstm(taeda.ones(2, 1, 4), taeda.ones(2, 1), ONE, taeda.ones(4, 1), False), r"hidden state of shape \[1, 1\], got \[2, 1\]"),
        (lambda: _nn._lstm(taeda.ones(2, 1, 4), ONE, ONE.double(), taeda.ones(4, 1), False), "dtype float32 like the weight, got float64"),
        (lambda: _nn._lstm(taeda.ones(2, 1, 4).half(), ONE.half(), ONE.half(), taeda.ones(4, 1).half(), False), "float32 or float64, got float16"),
        (
            lambda: _nn._lstm_backward(taeda.ones(2, 1, 1), ONE, ONE, taeda.ones(4, 1), taeda.ones(3, 1, 1), taeda.ones(2, 1, 4), False),
            r"cell's states of shape \[2, 1, 1\], got \[3, 1, 1\]",
        ),
    ],
)  # fmt: skip
def test_refusals(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()
