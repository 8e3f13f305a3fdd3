"""Products that stay sparse, that look at some places alone, and what undoes a product."""

from __future__ import annotations

import pytest
from sparse_tensors import matrix, right

import taeda
from taeda.autograd import gradcheck


def test_products_that_stay_sparse():
    x = matrix().to_sparse()
    assert taeda.hspmm(x, right()).sparse_dim() == 1
    for made in (taeda.hspmm(x, right()), taeda.smm(x, right()), x.smm(right())):
        assert made.is_sparse and taeda.equal(made.to_dense(), matrix() @ right())
    square = taeda.ones(3, 2, dtype=taeda.float64).to_sparse()
    made = taeda.sspaddmm(square, x, right(), beta=2, alpha=3)
    assert taeda.equal(made.to_dense(), 2 + 3 * (matrix() @ right()))
    assert taeda.equal(square.sspaddmm(x, right()).to_dense(), 1 + matrix() @ right())
    with pytest.raises(RuntimeError, match="the product"):
        taeda.sspaddmm(x, x, right())
    with pytest.raises(RuntimeError, match="wanted a sparse and a strided matrix"):
        taeda.hspmm(matrix(), right())


@pytest.mark.parametrize("dtype", [taeda.float64, taeda.float32, taeda.bfloat16])
def test_products_at_the_places_of_a_matrix(dtype):
    a, b = right(3).to(dtype), right().t().to(dtype)
    x = matrix().to(dtype).to_sparse_csr()
    made = taeda.sparse.sampled_addmm(x, a, b, beta=0.5, alpha=2)
    wanted = (0.5 * matrix() + 2 * (a @ b).double()) * (matrix() != 0)
    assert taeda.allclose(
        made.to_dense().double(), wanted, rtol=0.02 if dtype is taeda.bfloat16 else 1e-5
    )
    batches = taeda.stack([x.to_dense(), 2 * x.to_dense()]).to_sparse_csr()
    two = taeda.sparse.sampled_addmm(batches, taeda.stack([a, a]), taeda.stack([b, b]), beta=0)
    one = taeda.sparse.sampled_addmm(x, a, b, beta=0)
    assert taeda.equal(two.to_dense(), taeda.stack([one.to_dense()] * 2))
    with pytest.raises(RuntimeError, match="has no places in"):
        taeda.sparse.sampled_addmm(x, a, a)


def test_gradients_of_products_at_places():
    given = (
        matrix().to_sparse_csr().requires_grad_(),
        right(3).requires_grad_(),
        right().t().requires_grad_(),
    )
    assert gradcheck(
        lambda x, a, b: taeda.sparse.sampled_addmm(x, a, b, beta=2), given, masked=True
    )


def test_a_strided_gradient_of_products_at_places_stays_strided():
    x = matrix().to_sparse_csr().requires_grad_()
    made = taeda.sparse.sampled_addmm(x, right(3), right().t(), beta=2)
    given = taeda.rand(made.shape, dtype=made.dtype)
    (strided,) = taeda.autograd.grad(made, x, given, retain_graph=True)
    assert taeda.equal(strided, 2 * given)
    (sparse,) = taeda.autograd.grad(made, x, given.sparse_mask(x.detach()))
    assert sparse.layout is taeda.sparse_csr


def test_solutions():
    x = taeda.tensor([[2.0, 0, 1], [0, 3, 0], [1, 0, 4]], dtype=taeda.float64)
    for b in (right(3)[:, 1], right(3)):
        assert taeda.allclose(taeda.sparse.spsolve(x.to_sparse_csr(), b), taeda.linalg.solve(x, b))
        given = x.to_sparse_csr().requires_grad_(), b.clone().requires_grad_()
        assert gradcheck(taeda.sparse.spsolve, given, masked=True)
    with pytest.raises(RuntimeError, match="has no inverse"):
        taeda.sparse.spsolve(taeda.ones(2, 2).to_sparse_csr(), taeda.ones(2))
    with pytest.raises(RuntimeError, match=r"layout taeda\.sparse_csr"):
        taeda.sparse.spsolve(x.to_sparse(), right(3))
