"""Fourier transforms against numpy and scipy: sizes, dimensions, norms, dtypes, layouts, refusals;
round trips of pieces.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft
import scipy.signal

import taeda

RTOL = {"float32": 2e-5, "float64": 1e-11, "complex64": 2e-5, "complex128": 1e-11}


def draw(*shape, dtype="complex128", seed=0):
    rng = np.random.default_rng(seed)
    array = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        array = array + 1j * rng.standard_normal(shape)
    return taeda.from_numpy(np.asarray(array)).to(getattr(taeda, dtype))


def close(got, want, dtype="float64"):
    assert tuple(got.shape) == want.shape
    np.testing.assert_allclose(
        got.resolve_conj().numpy(), want, rtol=RTOL[dtype], atol=RTOL[dtype] * 10
    )


def ours(name):
    return getattr(taeda.fft, name)


def theirs(name):
    return getattr(scipy.fft, name)


COMPLEX, FROM_REAL = ["fft", "ifft", "irfft", "hfft"], ["rfft", "ihfft"]


@pytest.mark.parametrize("norm", [None, "forward", "backward", "ortho"])
@pytest.mark.parametrize("name", COMPLEX + FROM_REAL)
def test_one_dimension(name, norm):
    for size in (2, 3, 8, 31, 97):
        x = draw(3, size, 2, dtype="float64" if name in FROM_REAL else "complex128")
        for n in (None, 1, size - 1, size + 3):
            close(ours(name)(x, n, 1, norm), theirs(name)(x.numpy(), n, 1, norm))


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("name", COMPLEX + FROM_REAL)
def test_several_dimensions(name, norm):
    x = draw(4, 5, 6, dtype="float64" if name in FROM_REAL else "complex128")
    for s, dim in ((None, None), ((3, 8), None), ((7, 3), (2, 0)), (None, (1,)), (None, (0, 2))):
        close(ours(f"{name}n")(x, s, dim, norm), theirs(f"{name}n")(x.numpy(), s, dim, norm))
    close(ours(f"{name}2")(x, norm=norm), theirs(f"{name}2")(x.numpy(), norm=norm))


@pytest.mark.parametrize("dtype", RTOL)
def test_dtypes(dtype):
    x = draw(30, dtype=dtype)
    got = taeda.fft.fft(x)
    assert got.dtype is (
        taeda.complex128 if dtype in ("float64", "complex128") else taeda.complex64
    )
    close(got, np.fft.fft(x.numpy()), dtype)


def test_integers_and_bools():
    assert taeda.fft.fft(taeda.tensor([1, 2, 3])).dtype is taeda.complex64
    assert taeda.fft.rfft(taeda.tensor([True, False])).tolist() == [1, 1]


LAYOUTS = [
    lambda t: t.t(),
    lambda t: t[::2],
    lambda t: t.flip(0),
    lambda t: t[:1].expand(5, -1),
    lambda t: t.conj(),
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    x = layout(draw(6, 8))
    for dim in (0, 1):
        close(taeda.fft.fft(x, dim=dim), np.fft.fft(x.resolve_conj().numpy(), axis=dim))


def test_edges():
    assert taeda.fft.fft(taeda.ones(0, 3)).shape == (0, 3)
    assert taeda.fft.rfft(taeda.ones(0, 5)).shape == (0, 3)
    assert taeda.fft.fftn(taeda.tensor(2.0)).item() == 2
    assert taeda.fft.fft(taeda.full((3,), float("nan"))).isnan().all()
    assert taeda.fft.rfft(taeda.empty(2, 8, device="meta")).shape == (2, 5)
    out = taeda.empty(0, dtype=taeda.complex64)
    assert taeda.fft.fft(taeda.ones(4), out=out) is out
    assert out.tolist() == [4, 0, 0, 0]


def test_helpers():
    for n in (1, 4, 5):
        close(taeda.fft.fftfreq(n, 0.5, dtype=taeda.float64), np.fft.fftfreq(n, 0.5))
        close(taeda.fft.rfftfreq(n, 0.5, dtype=taeda.float64), np.fft.rfftfreq(n, 0.5))
    assert taeda.fft.fftfreq(0).shape == (0,)
    assert taeda.fft.fftfreq(4, -0.0)[1:].tolist() == [-np.inf, np.inf, np.inf]
    assert taeda.fft.fftfreq(4, requires_grad=True).requires_grad
    x = draw(4, 5)
    for dim in (None, 0, (1, 0)):
        close(taeda.fft.fftshift(x, dim), np.fft.fftshift(x.numpy(), dim))
        close(taeda.fft.ifftshift(x, dim), np.fft.ifftshift(x.numpy(), dim))


# ---- short pieces ----


@pytest.mark.parametrize("onesided", [True, False])
@pytest.mark.parametrize("hop", [3, 4])
def test_stft(onesided, hop):
    x, window = (
        draw(2, 50, dtype="float64"),
        taeda.from_numpy(scipy.signal.get_window("hamming", 8)),
    )
    got = taeda.stft(x, 8, hop, window=window, center=False, onesided=onesided, return_complex=True)
    pieces = np.stack([x.numpy()[:, i : i + 8] * window.numpy() for i in range(0, 43, hop)], 1)
    want = np.fft.rfft(pieces) if onesided else np.fft.fft(pieces)
    close(got, want.swapaxes(1, 2))
    pairs = x.stft(8, hop, window=window, center=False, onesided=onesided, return_complex=False)
    assert taeda.equal(taeda.view_as_complex(pairs), got)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_stft_pads_around_a_centre(mode):
    x = draw(20, dtype="float64")
    numpys = {"replicate": "edge", "circular": "wrap"}.get(mode, mode)
    wide = taeda.from_numpy(np.pad(x.numpy(), 4, mode=numpys))
    got = taeda.stft(x, 8, 2, pad_mode=mode, return_complex=True)
    assert taeda.equal(got, taeda.stft(wide, 8, 2, center=False, return_complex=True))


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("kind", ["real", "complex"])
def test_istft_gives_the_signal_back(kind, normalized):
    x = draw(2, 64, dtype="float64" if kind == "real" else "complex128")
    window = taeda.from_numpy(scipy.signal.get_window("hann", 12))
    options = {"hop_length": 4, "win_length": 12, "window": window, "normalized": normalized}
    spectra = taeda.stft(x, 16, return_complex=True, **options)
    back = taeda.istft(spectra, 16, length=64, return_complex=kind == "complex", **options)
    close(back, x.numpy())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: taeda.fft.fft(taeda.ones(3), 0), RuntimeError, r"Invalid number of data points \(0\)"),
        (lambda: taeda.fft.fft(taeda.ones(3), norm="half"), RuntimeError,
            'Invalid normalization mode: "half"'),
        (lambda: taeda.fft.fft(taeda.ones(3), dim=1), IndexError, r"\[-1, 0\], but got 1"),
        (lambda: taeda.fft.fft(taeda.tensor(1.0)), IndexError, "no dimensions"),
        (lambda: taeda.fft.rfft(taeda.ones(3) * 1j), RuntimeError, "rfft expects a real input"),
        (lambda: taeda.fft.fftn(taeda.ones(3, 3), dim=(0, -2)), RuntimeError, "must be unique"),
        (lambda: taeda.fft.fftn(taeda.ones(3, 3), s=(2,), dim=(0, 1)), RuntimeError, "same length"),
        (lambda: taeda.fft.fftn(taeda.ones(3), s=(2, 2)), RuntimeError, "2 values .* 1 dimensions"),
        (lambda: taeda.fft.rfftn(taeda.tensor(1.0)), RuntimeError, "at least one axis"),
        (lambda: taeda.fft.irfft(taeda.ones(1)), RuntimeError, r"data points \(0\)"),
        (lambda: taeda.fft.fft(taeda.ones(3).half()), RuntimeError, "Unsupported dtype"),
        (lambda: taeda.fft.fftfreq(-3), RuntimeError, "got -3"),
        (lambda: taeda.stft(taeda.ones(9), 4), RuntimeError, "requires the return_complex parameter"),
        (lambda: taeda.stft(taeda.ones(9), 0, return_complex=True), RuntimeError, "0 < n_fft"),
        (lambda: taeda.stft(taeda.ones(9), 4, 0, return_complex=True), RuntimeError, "hop_length > 0"),
        (lambda: taeda.stft(taeda.ones(9), 4, 1, 5, return_complex=True), RuntimeError,
            "win_length <= n_fft"),
        (lambda: taeda.stft(taeda.ones(9), 4, window=taeda.ones(3), return_complex=True),
            RuntimeError, "1D window tensor"),
        (lambda: taeda.stft(taeda.ones(9) * 1j, 4, onesided=True), RuntimeError, "onesided output"),
        (lambda: taeda.stft(taeda.ones(2, 2, 9), 4, return_complex=True), RuntimeError, "1D or 2D tensor"),
        (lambda: taeda.stft(taeda.ones(9).long(), 4, return_complex=True), RuntimeError,
            "floating point or complex"),
        (lambda: taeda.istft(taeda.ones(3, 4), 4), RuntimeError, "complex-valued"),
        (lambda: taeda.istft(taeda.ones(3, 4) * 1j, 6), RuntimeError, "frequency dimension"),
        (lambda: taeda.istft(taeda.ones(3, 4) * 1j, 4, window=taeda.zeros(4)), RuntimeError,
            "window overlap add min: 0"),
    ],
)  # fmt: skip
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
