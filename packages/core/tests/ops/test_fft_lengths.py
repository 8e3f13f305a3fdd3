"""The kernels of Fourier transforms at every kind of length, against numpy in double: rows and
columns, one and many, odd and even; the same bits by any number of threads; plans that stay within
their memory; failing allocations.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import taeda

# passes of 2 to 16, 3, 5, 7 and any odd prime to 61; folded lengths; primes and twice primes by
# convolution; powers of two
LENGTHS = [
    *range(1, 201),
    211,
    243,
    256,
    263,
    500,
    509,
    512,
    625,
    961,
    1000,
    1018,
    1024,
    2017,
    2048,
    3125,
    4096,
    4418,
]
LARGE = [5000, 6561, 8191, 8192, 10007, 16384, 65536, 65537, 1 << 17]
# of the root mean square: float32's is what MKL's transforms have, too
ERROR = {taeda.complex64: 3e-7, taeda.complex128: 2e-15}


def draw(*shape):
    rng = np.random.default_rng(0)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def close(got, want, dtype):
    got = got.resolve_conj().numpy()
    assert got.shape == want.shape
    error = np.sqrt(np.mean(np.abs(got - want) ** 2) / np.mean(np.abs(want) ** 2))
    assert error < ERROR[dtype], (error, want.shape)


def check_rows(x, dtype):
    t = taeda.from_numpy(x).to(dtype)
    x = t.numpy().astype(np.complex128)
    n, real = x.shape[-1], t.real.contiguous()
    half = x[..., : n // 2 + 1]
    close(taeda.fft.fft(t), np.fft.fft(x), dtype)
    close(taeda.fft.ifft(t, norm="ortho"), np.fft.ifft(x, norm="ortho"), dtype)
    close(taeda.fft.rfft(real), np.fft.rfft(x.real), dtype)
    close(taeda.fft.fft(real), np.fft.fft(x.real), dtype)
    close(taeda.fft.irfft(t[..., : n // 2 + 1], n), np.fft.irfft(half, n), dtype)


@pytest.mark.parametrize("dtype", ERROR, ids=str)
@pytest.mark.parametrize("rows", [1, 3, 17])
def test_rows(rows, dtype):
    for n in LENGTHS:
        check_rows(draw(rows, n), dtype)


@pytest.mark.parametrize("dtype", ERROR, ids=str)
@pytest.mark.parametrize("n", LARGE)
def test_long_rows(n, dtype):
    check_rows(draw(1, n), dtype)


@pytest.mark.parametrize("dtype", ERROR, ids=str)
@pytest.mark.parametrize("columns", [1, 5, 16, 37])
def test_columns(columns, dtype):
    for n in (1, 2, 7, 16, 53, 60, 61, 67, 101, 128, 256, 4096, 5000):
        x = draw(2, n, columns)
        t = taeda.from_numpy(x).to(dtype)
        x = t.numpy().astype(np.complex128)
        close(taeda.fft.fft(t, dim=1), np.fft.fft(x, axis=1), dtype)
        close(taeda.fft.ifft(t, dim=1), np.fft.ifft(x, axis=1), dtype)
        close(taeda.fft.rfft(t.real, dim=1), np.fft.rfft(x.real, axis=1), dtype)
        close(taeda.fft.irfft(t, 2 * n, dim=1), np.fft.irfft(x, 2 * n, axis=1), dtype)


def test_half_spectra_ignore_what_cannot_be():
    """The imaginary parts of the first and, for an even number of points, the last frequency."""
    for n in (1, 2, 5, 8, 106, 107):
        x = draw(n // 2 + 1)
        got = taeda.fft.irfft(taeda.from_numpy(x), n)
        close(got, np.fft.irfft(x, n), taeda.complex128)


SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np
from test_fft_lengths import check_rows, draw, ERROR
for dtype in ERROR:
    for n in (*range(1, 70), 100, 256, 263, 1000, 4096, 10007):
        check_rows(draw(9, n), dtype)
"""


@pytest.mark.parametrize("isa", ["generic", "avx2"])
def test_other_instruction_sets(isa):
    script = SCRIPT.format(folder=os.path.dirname(__file__))
    subprocess.run([sys.executable, "-c", script], env={**os.environ, "TAEDA_ISA": isa}, check=True)


@pytest.mark.parametrize("shape", [(1, 1 << 16), (40, 4096), (300, 60), (3, 10007), (1, 99990)])
def test_same_bits_by_any_number_of_threads(shape):
    x, before = taeda.from_numpy(draw(*shape)), taeda.get_num_threads()
    got = []
    try:
        for threads in (1, 2, 3):
            taeda.set_num_threads(threads)
            got.append((taeda.fft.fft(x), taeda.fft.rfft(x.real), taeda.fft.fft(x, dim=0)))
    finally:
        taeda.set_num_threads(before)
    for other in got[1:]:
        assert all(taeda.equal(a, b) for a, b in zip(got[0], other, strict=True))


def plans():
    return taeda._core.memory_stats()["fft_plans"]


def test_plans_stay_within_their_memory():
    for n in range(20_000, 20_300):
        taeda.fft.fft(taeda.ones(n, dtype=taeda.complex64))
    assert 0 < plans() <= 32 << 20
    kept = plans()
    for _ in range(5):  # of the last length: found again
        taeda.fft.fft(taeda.ones(20_299, dtype=taeda.complex64))
    assert plans() == kept


def test_any_allocation_may_fail():
    x = taeda.from_numpy(draw(3, 263))
    for n in range(1, 100):
        taeda._core.memory_fail_at(n)
        try:
            # never the same length: a plan of its own each time
            made = taeda.fft.fft(x, 1000 + n).sum().item()
        except MemoryError:
            made = None
        taeda._core.memory_fail_at(0)
        if made is not None:
            break
    assert 3 < n < 99


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda z: taeda.fft.fft(z, 2**62), RuntimeError, r"overflowed 64 bits"),
        (lambda z: taeda.fft.fft(z, 2**50), MemoryError, r"could not be allocated"),
        (lambda z: taeda._fft_c2c(z.real, [0], 0, True), RuntimeError,
            "complex64 or complex128, but got float32"),
        (lambda z: taeda._fft_r2c(z, [0], 0, True), RuntimeError, "float32 or float64, but got complex64"),
        (lambda z: taeda._fft_c2c(z, [0, 0], 0, True), RuntimeError, "2 dims for a tensor of 1"),
        (lambda z: taeda._fft_c2c(z.expand(2, 4), [0, -2], 0, True), RuntimeError,
            "unique, but 0 stands twice"),
        (lambda z: taeda._fft_c2c(z, [0], 3, True), RuntimeError, "must be 0, 1 or 2, but got 3"),
        (lambda z: taeda._fft_c2c(z[:0], [0], 0, True), RuntimeError, r"data points \(0\)"),
        (lambda z: taeda._fft_r2c(z.real, [], 0, True), RuntimeError, "at least one axis"),
        (lambda z: taeda._fft_c2r(z, [0], 0, 9), RuntimeError,
            "9 real points need a half spectrum of 5, but dimension 0 has 4"),
        (lambda z: taeda._fft_c2r(z, [0], 0, 2**63 - 1), RuntimeError, "need a half spectrum"),
        (lambda z: taeda._fft_c2r(z, [0], 0, -1), RuntimeError, r"data points \(-1\)"),
    ],
)  # fmt: skip
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call(taeda.ones(4, dtype=taeda.complex64))
