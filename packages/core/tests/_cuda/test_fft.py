"""Fourier transforms on a CUDA device, by CuPy."""

from __future__ import annotations


def test_fourier_transforms(run):
    run(
        """
for norm in ("backward", "ortho", "forward"):
    both(lambda t: taeda.fft.fft(t, norm=norm))
    both(lambda t: taeda.fft.ifft2(t, norm=norm))
    both(lambda t: taeda.fft.rfftn(t, norm=norm))
    both(lambda t: taeda.fft.irfft(taeda.fft.rfft(t, norm=norm), n=5, norm=norm))
both(lambda t: taeda.fft.hfft(t, dim=1))
both(lambda t: taeda.stft(t[0], 4, return_complex=True, window=taeda.ones(4, dtype=t.dtype, device=t.device)))
s = cuda.Stream("cuda:1")
with cuda.stream(s):  # what comes before and after is in order, and the arguments may go at once
    made = taeda.fft.fft(x * 2).real * 2
    s.synchronize()
close(made, taeda.fft.fft(c * 2).real * 2)
assert taeda.fft.fft(taeda.ones(0, 3, device="cuda:1")).shape == (0, 3)
refuses(RuntimeError, "Invalid number of data points", lambda: taeda.fft.fft(x, n=0))
""",
        TAEDA_NULL_LATE="1",
    )
