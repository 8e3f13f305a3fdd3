"""Products of sparse matrices on a CUDA device, on the stand-in driver: the processor's values."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import taeda

sys.path.insert(0, str(Path(taeda.__file__).parents[2] / "tests" / "cuda"))
standin = pytest.importorskip("standin", reason="the core's tests are not beside the package")

PROGRAM = """
import taeda
taeda.manual_seed(0)


def both(name, f, *tensors):
    outcomes = []
    for move in (taeda.Tensor.cpu, taeda.Tensor.cuda):
        leaves = [move(t).detach().clone().requires_grad_() for t in tensors]
        made = f(*leaves)
        assert made.device == leaves[0].device, name
        dense = made if made.layout == taeda.strided else made.to_dense()
        dense.abs().square().sum().backward()
        outcomes.append([dense.detach().cpu(), *[leaf.grad.to_dense().cpu() for leaf in leaves]])
    for one, other in zip(*outcomes, strict=True):
        assert taeda.allclose(one, other, rtol=1e-5, atol=1e-5), (name, (one - other).abs().max())


def holed(*shape, dtype):
    return taeda.randn(*shape, dtype=dtype).where(taeda.rand(shape) < 0.5, 0)


def turn(s):
    return s.to_sparse_csr() if s.layout == taeda.sparse_csc else s.to_sparse_csc()


for dtype in (taeda.float32, taeda.complex64):
    d, e = holed(6, 5, dtype=dtype), holed(5, 7, dtype=dtype)
    b, left, right = (taeda.randn(*s, dtype=dtype) for s in ((5, 4), (6, 3), (3, 5)))
    for layout in (taeda.sparse_csr, taeda.sparse_coo, taeda.sparse_csc):
        s, t = d.to_sparse(layout=layout), e.to_sparse(layout=layout)
        both((dtype, layout, "dense"), lambda s, b: s @ b, s, b)
        both((dtype, layout, "sparse"), lambda s, t: s @ t, s, t)
        both((dtype, layout, "turned"), turn, s)
    both((dtype, "sampled"), lambda s, a, c: taeda.sparse.sampled_addmm(s, a, c, beta=0.5, alpha=2),
         d.to_sparse_csr(), left, right)
short = holed(6, 5, dtype=taeda.bfloat16).to_sparse_csr()
both("short", lambda b: short.to(b.device) @ b, taeda.randn(5, 4).bfloat16())
"""


@pytest.mark.slow
def test_products_have_the_processors_values_and_gradients():
    standin.run(PROGRAM, TAEDA_CUDA_FALLBACK="")
