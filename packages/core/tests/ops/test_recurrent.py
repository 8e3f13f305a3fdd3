"""The recurrent kernels against a loop in numpy: sizes around a block of units, directions,
layouts, refusals.
"""

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


def gru(share, hidden, weight, bias, reverse):
    output = np.zeros((*share.shape[:2], hidden.shape[1]))
    for t in list(range(len(share)))[:: -1 if reverse else 1]:
        (xr, xz, xn), (hr, hz, hn) = (np.split(a, 3, -1) for a in (share[t], hidden @ weight.T))
        z, n = sigmoid(xz + hz), np.tanh(xn + sigmoid(xr + hr) * (hn + bias))
        output[t] = hidden = (1 - z) * n + z * hidden
    return output


def rnn(share, hidden, weight, relu, reverse):
    output = np.zeros(share.shape)
    for t in list(range(len(share)))[:: -1 if reverse else 1]:
        total = share[t] + hidden @ weight.T
        output[t] = hidden = np.maximum(total, 0) if relu else np.tanh(total)
    return output


def drawn(shapes, dtype, seed=0):
    """Normal numbers; the weight, the last of `shapes`, small enough for sums about 1."""
    rng = np.random.default_rng(seed)
    scales = [1] * (len(shapes) - 1) + [1 / max(1, shapes[-1][-1]) ** 0.5]
    return [(s * rng.standard_normal(n)).astype(dtype) for n, s in zip(shapes, scales, strict=True)]


def arrays(steps, rows, units, dtype="float64"):
    """(share, hidden, cell, weight) of an LSTM."""
    return drawn(
        [(steps, rows, 4 * units), (rows, units), (rows, units), (4 * units, units)], dtype
    )


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


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reverse", [False, True])
def test_gru_and_rnn_forward(sizes, dtype, reverse):
    steps, rows, units = sizes
    rtol = 1e-4 if dtype == "float32" else 1e-12
    for gates in (3, 1):
        shapes = [(steps, rows, gates * units), (rows, units), (units,), (gates * units, units)]
        given = drawn(shapes, dtype)
        share, hidden, bias, weight = map(taeda.from_numpy, given)
        x, h, b, w = (a.astype("float64") for a in given)
        if gates == 3:
            pairs = [
                (_nn._gru(share, hidden, weight, bias, reverse)[0], gru(x, h, w, b, reverse)),
                (_nn._gru(share, hidden, weight, None, reverse)[0], gru(x, h, w, 0, reverse)),
            ]
        else:
            pairs = [
                (_nn._rnn(share, hidden, weight, relu, reverse), rnn(x, h, w, relu, reverse))
                for relu in (False, True)
            ]
        for got, expected in pairs:
            np.testing.assert_allclose(got.numpy(), expected, rtol=rtol, atol=rtol / 10)


def test_gru_layouts():
    share, hidden, bias, weight = map(
        taeda.from_numpy, drawn([(4, 3, 18), (3, 6), (6,), (18, 6)], "float32")
    )
    expected = _nn._gru(share, hidden, weight, bias, False)[0]
    swapped = share.transpose(0, 2).contiguous().transpose(0, 2)
    spread = taeda.stack([bias, bias], 1)[:, 0]
    turned = weight.t().contiguous().t()
    assert taeda.equal(
        _nn._gru(swapped, hidden.t().contiguous().t(), turned, spread, False)[0], expected
    )


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


def test_gru_and_rnn_with_nothing_to_do():
    hidden, weight = taeda.ones(2, 3), taeda.ones(9, 3)
    output, gates = _nn._gru(taeda.ones(0, 2, 9), hidden, weight, None, False)
    assert output.shape == (0, 2, 3)
    made = _nn._gru_backward(output, hidden, weight, output, gates, False)
    assert [tuple(t.shape) for t in made] == [(0, 2, 9), (0, 2, 9), (2, 3)]
    assert made[2].abs().sum() == 0
    output = _nn._rnn(taeda.ones(0, 2, 3), hidden, weight[:3], True, False)
    assert output.shape == (0, 2, 3)
    assert _nn._rnn_backward(output, weight[:3], output, True, False)[1].abs().sum() == 0
    assert _nn._rnn(taeda.ones(2, 0, 3), hidden[:0], weight[:3], False, False).shape == (2, 0, 3)
    meta = [t.to("meta") for t in (taeda.ones(5, 2, 9), hidden, weight)]
    assert [tuple(t.shape) for t in _nn._gru(*meta, None, False)] == [(5, 2, 3), (5, 2, 12)]


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
        (lambda: _nn._lstm(taeda.ones(2, 1, 8), ONE, ONE, taeda.ones(4, 1), False),
            r"share of the gates of shape \[2, 1, 4\], got \[2, 1, 8\]"),
        (lambda: _nn._lstm(taeda.ones(2, 1, 4), taeda.ones(2, 1), ONE, taeda.ones(4, 1), False),
            r"hidden state of shape \[1, 1\], got \[2, 1\]"),
        (lambda: _nn._lstm(taeda.ones(2, 1, 4), ONE, ONE.double(), taeda.ones(4, 1), False),
            "dtype float32 like the weight, got float64"),
        (lambda: _nn._lstm(taeda.ones(2, 1, 4).half(), ONE.half(), ONE.half(),
            taeda.ones(4, 1).half(), False), "float32 or float64, got float16"),
        (
            lambda: _nn._lstm_backward(taeda.ones(2, 1, 1), ONE, ONE, taeda.ones(4, 1),
                taeda.ones(3, 1, 1), taeda.ones(2, 1, 4), False),
            r"cell's states of shape \[2, 1, 1\], got \[3, 1, 1\]",
        ),
        (lambda: _nn._gru(ONE, ONE, ONE, None, False),
            r"gru: .*\[T, N, 3 \* H\] and a weight \[3 \* H, H\], got \[1, 1\] and \[1, 1\]"),
        (lambda: _nn._gru(taeda.ones(2, 1, 3), ONE, taeda.ones(3, 1), taeda.ones(3), False),
            r"bias of the last gate of shape \[1\], got \[3\]"),
        (lambda: _nn._gru_backward(taeda.ones(2, 1, 1), ONE, taeda.ones(3, 1), taeda.ones(2, 1, 1),
            taeda.ones(2, 1, 3), False),
         r"gates of shape \[2, 1, 4\], got \[2, 1, 3\]"),
        (lambda: _nn._rnn(taeda.ones(2, 1, 1), ONE.double(), ONE, True, False),
            "rnn: .*float32 like the weight, got float64"),
        (lambda: _nn._rnn_backward(taeda.ones(2, 3, 1), ONE, taeda.ones(3, 2, 1).transpose(0, 1),
            True, False), "contiguous"),
    ],
)  # fmt: skip
def test_refusals(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()
