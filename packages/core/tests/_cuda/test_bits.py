"""Parts of floating-point numbers on a CUDA device: the processor's bits and refusals, without CuPy."""

from __future__ import annotations

PROGRAM = """
inf, nan = float("inf"), float("nan")
odd = [0.0, -0.0, inf, -inf, nan, 1.0, -0.5, 0.75, 2.0, -3.0, 1e-45, -5e-40, 1.2e-38, 3e38, 5e-324, 1e308]
for dtype in (taeda.float32, taeda.float64, taeda.float16, taeda.bfloat16):
    t = taeda.cat([taeda.tensor(odd, dtype=taeda.float64), taeda.randn(40, dtype=taeda.float64)])
    t = t.to(dtype)
    for here in (t, t.reshape(7, 8).mT[1:], t[3], t[:0]):
        for made, wanted in zip(taeda.frexp(here.to("cuda:1")), taeda.frexp(here), strict=True):
            assert made.device == x.device and made.dtype == wanted.dtype
            assert made.shape == wanted.shape
            made, nans = made.cpu(), wanted.isnan() if wanted.is_floating_point() else None
            if nans is not None:
                assert taeda.equal(made.isnan(), nans)
                assert taeda.equal(made.signbit()[~nans], wanted.signbit()[~nans])
                made, wanted = made[~nans], wanted[~nans]
            assert taeda.equal(made, wanted), (dtype, made, wanted)
for move in (taeda.Tensor.cuda, taeda.Tensor.clone):
    refuses(RuntimeError, "frexp() only supports floating-point dtypes",
            lambda: taeda.frexp(move(taeda.ones(2, dtype=taeda.int64))))
"""


def test_mantissa_and_exponent(run):
    run(PROGRAM, None)
