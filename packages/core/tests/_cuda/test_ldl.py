"""LDL for a CUDA device: the processor's results on the device, without CuPy."""

from __future__ import annotations

from typing import Any

import pytest

PROGRAM = """
for dtype in (taeda.float32, taeda.float64, taeda.complex128):
    a = taeda.randn(2, 5, 5).to(dtype)
    a = a + a.mT
    b = taeda.randn(2, 5, 3).to(dtype)
    here, there = taeda.linalg.ldl_factor_ex(a), taeda.linalg.ldl_factor_ex(a.to("cuda:1"))
    for one, other in zip(here, there):
        assert str(other.device) == "cuda:1" and taeda.equal(one, other.cpu())
    x = taeda.linalg.ldl_solve(there.LD, there.pivots, b.to("cuda:1"))
    assert str(x.device) == "cuda:1"
    assert taeda.equal(x.cpu(), taeda.linalg.ldl_solve(here.LD, here.pivots, b))
refuses(RuntimeError, "zero", lambda: taeda.linalg.ldl_factor(taeda.zeros(3, 3, device="cuda")))
refuses(RuntimeError, "square", lambda: taeda.linalg.ldl_factor(taeda.zeros(3, 2, device="cuda")))
square = taeda.eye(3, device="cuda")
taeda.cuda.set_sync_debug_mode("error")
refuses(RuntimeError, "synchronizing", lambda: taeda.linalg.ldl_factor(square))
"""


@pytest.mark.slow
def test_factors_and_solutions_are_the_processors(run: Any) -> None:
    run(PROGRAM, None)
