"""The library with LAPACK: where it is found, integers of both widths, and what is said when there
is none.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from taeda._native.blas import find_library

EVERY_ROUTINE = """
import taeda
from taeda import linalg
for dtype in (taeda.float32, taeda.float64, taeda.complex64, taeda.complex128):
    a = taeda.tensor([[2, 1, 0], [1, 3, 1], [0, 1, 4]], dtype=dtype).expand(2, 3, 3)
    unit = taeda.eye(3, dtype=dtype).expand(2, 3, 3)
    near = lambda x, y: taeda.testing.assert_close(x, y, rtol=1e-4, atol=1e-4)
    near(linalg.solve(a, a), unit)
    near(a @ linalg.inv(a), unit)
    near(linalg.det(a), taeda.full((2,), 18, dtype=dtype))
    q, r = linalg.qr(a)
    near(q @ r, a)
    lower = linalg.cholesky(a)
    near(lower @ lower.mH, a)
    near(linalg.solve_triangular(lower, lower, upper=False), unit)
    u, s, vh = linalg.svd(a)
    near(u * s.unsqueeze(-2) @ vh, a)
    values, v = linalg.eigh(a)
    near(v * values.unsqueeze(-2) @ v.mH, a)
    values, v = linalg.eig(a)
    near(a.to(v.dtype) @ v, v * values.unsqueeze(-2))
    near(linalg.lu_solve(*linalg.lu_factor(a), a), unit)
print("all right")
"""


def run(code, blas):
    environment = {**os.environ, "TAEDA_BLAS": blas}
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
    )


def numpys_library():
    folder = Path(np.__file__).parent.parent / "numpy.libs"
    return next((str(p) for p in folder.glob("libscipy_openblas64_*.so")), None)


def test_the_library_of_the_wheel_is_found_without_importing_it():
    path = find_library()
    assert Path(path).is_file()
    assert "openblas" in path
    code = "import sys, taeda; print([m for m in sys.modules if 'openblas' in m])"
    assert run(code, "").stdout.strip() == "[]"


@pytest.mark.skipif(
    numpys_library() is None, reason="numpy brought no OpenBLAS with 64-bit integers"
)
def test_integers_of_64_bits():
    done = run(EVERY_ROUTINE, numpys_library())
    assert done.stdout.strip() == "all right", done.stderr


def test_integers_of_32_bits():
    done = run(EVERY_ROUTINE, "")
    assert done.stdout.strip() == "all right", done.stderr


def test_without_a_library_it_says_what_to_install():
    done = run("import taeda; taeda.linalg.inv(taeda.eye(2))", "none")
    assert (
        "RuntimeError: linear algebra needs a library with LAPACK, and none was found"
        in done.stderr
    )
    assert "install scipy-openblas32" in done.stderr


def test_shapes_need_no_library():
    code = """
import taeda
a = taeda.empty(2, 3, 3, device="meta")
assert taeda.linalg.solve(a, a).shape == (2, 3, 3)
assert taeda.linalg.svd(a)[1].shape == (2, 3)
assert taeda.linalg.qr(taeda.empty(3, 0), "complete")[0].tolist() == taeda.eye(3).tolist()
assert taeda.linalg.det(taeda.empty(0, 0)).item() == 1
print("all right")
"""
    done = run(code, "none")
    assert done.stdout.strip() == "all right", done.stderr
