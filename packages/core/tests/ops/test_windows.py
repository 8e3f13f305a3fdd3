"""Windows by length and period, against numpy's and scipy's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal.windows

import taeda

WINDOWS = {
    "bartlett_window": ({}, np.bartlett),
    "blackman_window": ({}, np.blackman),
    "hann_window": ({}, np.hanning),
    "hamming_window": ({}, np.hamming),
    "kaiser_window": ({"beta": 5.0}, lambda n: np.kaiser(n, 5.0)),
}


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("length", [0, 1, 2, 5, 12])
def test_values(name, length):
    options, reference = WINDOWS[name]
    window = getattr(taeda, name)
    symmetric = window(length, periodic=False, dtype=taeda.float64, **options)
    np.testing.assert_allclose(symmetric.numpy(), reference(length), atol=1e-12)
    periodic = window(length, dtype=taeda.float64, **options)
    want = reference(length + 1)[:-1] if length > 1 else np.ones(length)
    np.testing.assert_allclose(periodic.numpy(), want, atol=1e-12)


def test_coefficients_of_hamming():
    got = taeda.hamming_window(6, True, 0.7, 0.3, dtype=taeda.float64)
    want = scipy.signal.windows.general_hamming(6, 0.7, sym=False)
    np.testing.assert_allclose(got.numpy(), want, atol=1e-12)


@pytest.mark.parametrize("name", WINDOWS)
def test_dtypes_and_refusals(name):
    window = getattr(taeda, name)
    assert (
        window(4).dtype is taeda.float32 and window(4, dtype=taeda.float16).dtype is taeda.float16
    )
    with pytest.raises(RuntimeError, match=f"{name} requires non-negative window_length"):
        window(-1)
    with pytest.raises(
        RuntimeError, match=rf"{name} expects floating point dtypes, got: taeda\.int64"
    ):
        window(3, dtype=taeda.int64)
