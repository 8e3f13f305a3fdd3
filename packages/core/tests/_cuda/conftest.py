"""Programs on the stand-in driver that find a stand-in of CuPy, which takes CuPy's arguments and
computes by NumPy and SciPy: so values are theirs, and what is tested is what crosses and how.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "cuda"))
import standin

START = """
import warnings, taeda
cuda = taeda.cuda
taeda.manual_seed(1)
x = taeda.randn(2, 5, 6, device="cuda:1", dtype=taeda.float64)
c = x.cpu()
def close(there, here):
    for a, b in zip(there, here) if isinstance(here, tuple) else [(there, here)]:
        assert a.device == x.device and a.dtype == b.dtype, (a, b)
        assert taeda.allclose(a.cpu(), b, rtol=1e-9, atol=1e-9, equal_nan=True), (a, b)
def both(f):
    close(f(x), f(c))
"""


@pytest.fixture
def run():
    """Run a program; `folder` is where it looks for CuPy, None for nowhere."""
    pytest.importorskip("scipy", reason="the stand-in of CuPy's special functions is SciPy")
    own = str(standin.HERE / "cupy_numpy")

    def go(program: str, folder: str | None = own, **settings: str) -> None:
        where = {} if folder is None else {"PYTHONPATH": folder}
        standin.run(standin.REFUSES + START + program, **where, **settings)

    return go
