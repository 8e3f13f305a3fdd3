"""Windows against scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal.windows

import taeda
from taeda.signal import windows

NAMES = {
    "bartlett": {}, "blackman": {}, "cosine": {}, "hamming": {}, "hann": {}, "nuttall": {},
    "gaussian": {"std": 1.5}, "general_hamming": {"alpha": 0.6}, "general_cosine": {"a": [0.5, 0.3, 0.2]},
    "exponential": {"tau": 2.0}, "kaiser": {"beta": 5.0},
}  # fmt: skip


@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize("size", [0, 1, 2, 7, 16])
@pytest.mark.parametrize("name", NAMES)
def test_values(name, size, sym):
    got = getattr(windows, name)(size, sym=sym, dtype=taeda.float64, **NAMES[name])
    want = getattr(scipy.signal.windows, name)(size, sym=sym, **NAMES[name])
    if size == 1:
        want = np.ones(1)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-11, atol=1e-14)


def test_options():
    assert windows.exponential(5, center=1, sym=False)[1] == 1
    assert windows.hann(4, requires_grad=True).requires_grad
    assert windows.hann(4).dtype is taeda.float32


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hann", "kaiser"])
def test_windows_of_the_top_level(name, periodic):
    got = getattr(taeda, f"{name}_window")(9, periodic, dtype=taeda.float64)
    more = {"beta": 12.0} if name == "kaiser" else {}
    want = getattr(scipy.signal.windows, name)(9, sym=not periodic, **more)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-11, atol=1e-14)
    assert getattr(taeda, f"{name}_window")(5, dtype=taeda.float16).dtype is taeda.float16
    assert getattr(taeda, f"{name}_window")(0).shape == (0,)


def test_hamming_and_kaiser_take_their_shape():
    np.testing.assert_allclose(
        taeda.hamming_window(4, True, 0.6, 0.3).tolist(), [0.3, 0.6, 0.9, 0.6], rtol=1e-6
    )
    assert taeda.kaiser_window(4, False, 0.0).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: windows.hann(-1), ValueError, "non-negative window length, got M=-1"),
        (lambda: windows.hann(3, dtype=taeda.int64), ValueError, "float32 or float64"),
        (lambda: windows.gaussian(3, std=0), ValueError, "must be positive, got: 0"),
        (lambda: windows.exponential(3, tau=-1), ValueError, "must be positive, got: -1"),
        (lambda: windows.exponential(3, center=1), ValueError, "Center must be None"),
        (lambda: windows.kaiser(3, beta=-1), ValueError, "non-negative, got: -1"),
        (lambda: windows.general_cosine(3, a=[]), ValueError, "cannot be empty"),
        (lambda: windows.general_cosine(3, a=0.5), TypeError, "list/tuple, got float"),
        (lambda: taeda.hann_window(-1), RuntimeError, "window_length=-1"),
        (lambda: taeda.hann_window(3, dtype=taeda.int64), RuntimeError, "floating point dtypes"),
    ],
)  # fmt: skip
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
