"""Rows that CuPy computes, without CuPy."""

from __future__ import annotations


def test_without_cupy_the_way_out_is_named(run):
    run(
        """
refuses(NotImplementedError, "CuPy computes it, and is not installed: pip install taeda-core[cuda12]",
        lambda: taeda.fft.fft(x))
refuses(NotImplementedError, "move the tensor with .cpu()", lambda: taeda.linalg.lu(x[0, :, :5], pivot=False))
assert taeda.fft.fft(c).shape == c.shape
""",
        None,
    )
    run(
        """
warnings.simplefilter("ignore")
assert taeda.fft.fft(x).device == x.device
""",
        None,
        TAEDA_CUDA_FALLBACK="cpu",
    )


def test_a_cupy_that_cannot_be_imported(run, tmp_path):
    (tmp_path / "cupy.py").write_text("raise ImportError('no libcublas')\n")
    run(
        'refuses(NotImplementedError, "cannot be imported: no libcublas", lambda: taeda.fft.fft(x))',
        str(tmp_path),
    )
