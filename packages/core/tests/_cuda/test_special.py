"""Elementwise functions without device text, by CuPy."""

from __future__ import annotations


def test_elementwise_functions(run):
    run("""
for f in (taeda.lgamma, taeda.digamma, taeda.special.i0, taeda.special.erfcx, taeda.sinc,
          taeda.special.ndtr, taeda.special.bessel_j1, lambda t: taeda.polygamma(2, t), taeda.angle):
    both(f)
both(lambda t: taeda.special.zeta(t.abs() + 1.5, 2.0))
both(lambda t: taeda.special.gammainc(t.abs() + 0.5, t.abs()))
both(lambda t: taeda.frexp(t))
both(lambda t: taeda.view_as_complex(t.reshape(-1, 2)).exp())
both(lambda t: taeda.view_as_complex(t.reshape(-1, 2)).abs())
both(lambda t: taeda.lgamma(t.to(taeda.int64)))
both(lambda t: t.clone().lgamma_())
both(lambda t: taeda.lgamma(t, out=taeda.empty(0, dtype=t.dtype, device=t.device)))
refuses(
    NotImplementedError,
    "CuPy computes it, and has no taeda.bfloat16",
    lambda: taeda.lgamma(x.bfloat16()),
)
""")


def test_norms_of_complex_numbers(run):
    """Without CuPy a refusal: the processor's loop read the device's memory once."""
    program = """
norm = lambda t: taeda.linalg.vector_norm(taeda.view_as_complex(t.reshape(-1, 2)))
"""
    run(
        program
        + "refuses(NotImplementedError, '\"abs\" of C128 has no device text', lambda: norm(x))",
        None,
    )
