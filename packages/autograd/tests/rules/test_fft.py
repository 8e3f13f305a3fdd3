"""First and second derivatives of Fourier transforms."""

from __future__ import annotations

import pytest
from derivative_inputs import both_orders, normal

import taeda

CALLS = {
    "fft": (lambda x: taeda.fft.fft(x, 5, 0, "ortho"), (4, 2)),
    "rfft": (lambda x: taeda.fft.rfft(x), (2, 6)),
    "rfftn": (lambda x: taeda.fft.rfftn(x, (3, 5)), (4, 4)),
    "irfft": (lambda x: taeda.fft.irfft(taeda.complex(x, x.flip(0)), norm="forward"), (4,)),
    "irfft of odd length": (lambda x: taeda.fft.irfft(taeda.complex(x, x.flip(0)), 5), (4,)),
    "hfftn": (lambda x: taeda.fft.hfftn(taeda.complex(x, x * x)), (2, 3)),
    "ihfft2": (taeda.fft.ihfft2, (3, 4)),
    "stft": (lambda x: taeda.stft(x, 4, 2, return_complex=True), (9,)),
    "istft": (lambda x: taeda.istft(taeda.complex(x, x.flip(0)), 4, 1), (3, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_derivatives(name):
    function, *shapes = CALLS[name]
    both_orders(function, *(normal(*s, seed=i) for i, s in enumerate(shapes)))
