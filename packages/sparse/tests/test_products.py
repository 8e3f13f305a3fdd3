"""Products, and both of their gradients, against those of the dense matrix."""

from __future__ import annotations

import pytest
from sparse_tensors import BOTH, coo, matrix, right

import taeda
from taeda import sparse
from taeda.autograd import gradcheck

OTHER = taeda.arange(6.0).reshape(3, 2) - 2


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64, taeda.int64, taeda.bfloat16])
def test_matrix_products(make, dtype):
    x, other = make(dtype), OTHER.to(dtype)
    expected = x.to_dense() @ other
    for found in (
        x @ other,
        taeda.mm(x, other),
        sparse.mm(x, other),
        taeda.linalg.matmul(x, other),
    ):
        assert found.layout is taeda.strided and taeda.equal(found, expected)
    assert taeda.equal(x @ other[:, 0], x.to_dense() @ other[:, 0])
    assert taeda.equal(taeda.mv(x, other[:, 0]), x.to_dense() @ other[:, 0])
    assert taeda.equal(other.t()[:, :2].contiguous() @ x, other.t()[:, :2] @ x.to_dense())


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
def test_gradients(make):
    x, other = make().requires_grad_(), OTHER.clone().requires_grad_()
    dense, same = make().to_dense().requires_grad_(), OTHER.clone().requires_grad_()
    (x @ other).square().sum().backward()
    (dense @ same).square().sum().backward()
    assert taeda.equal(other.grad, same.grad)
    assert x.grad.layout is x.layout
    there = make().to_dense() != 0
    assert taeda.equal(x.grad.to_dense(), dense.grad * there)
    assert x.grad._nnz() == int(there.sum())


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
def test_sparse_times_sparse(make):
    x, y = make().requires_grad_(), make().to_dense().t().contiguous()
    y = (y.to_sparse() if make is coo else y.to_sparse_csr()).requires_grad_()
    made = x @ y
    assert made.layout is x.layout
    assert taeda.equal(made.to_dense(), x.detach().to_dense() @ y.detach().to_dense())
    dense = [t.detach().to_dense().requires_grad_() for t in (x, y)]
    made.to_dense().square().sum().backward()
    (dense[0] @ dense[1]).square().sum().backward()
    for found, expected in zip((x, y), dense, strict=True):
        there = found.detach().to_dense() != 0
        assert taeda.equal(found.grad.to_dense(), expected.grad * there)


def test_empty_matrices():
    for rows, columns in ((0, 3), (2, 0), (0, 0)):
        x = taeda.zeros(rows, columns)
        for made in (x.to_sparse(), x.to_sparse_csr()):
            assert taeda.equal(made @ taeda.ones(columns, 2), taeda.zeros(rows, 2))


def test_backward_needs_no_dense_matrix():
    """The matrix would have 40 GB."""
    n = 100_000
    index = taeda.arange(n)
    x = taeda.sparse_coo_tensor(taeda.stack([index, index.flip(0)]), taeda.ones(n), (n, n))
    x.requires_grad_()
    (x @ taeda.ones(n, 2)).sum().backward()
    assert x.grad._nnz() == n and float(x.grad.sum()) == 2 * n


@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin"])
def test_products_that_reduce_otherwise(reduce):
    x = matrix()
    x[1] = 0
    rows = []
    for row in x:
        each = row[row != 0].unsqueeze(1) * right()[row != 0]
        rows.append(getattr(each, reduce)(0) if len(each) else taeda.zeros(2).double())
    own = x.to_sparse_csr()
    assert taeda.allclose(taeda.sparse.mm(own, right(), reduce), taeda.stack(rows))
    factors = own.requires_grad_(), right().requires_grad_()
    assert gradcheck(lambda a, b: taeda.sparse.mm(a, b, reduce), factors, masked=True)
    for wrong, kind in (("most", RuntimeError), ("prod", RuntimeError), (3, TypeError)):
        with pytest.raises(kind, match="reduce must be one of"):
            taeda.sparse.mm(own, right(), wrong)


@pytest.mark.parametrize("sides", [(30, 5), (5, 30)])
def test_principal_components_of_a_sparse_matrix(sides):
    x = taeda.arange(150.0).remainder(7).reshape(sides)
    x = x.masked_fill(x < 4, 0)
    wanted = taeda.linalg.svdvals(x - x.mean(0))[:4]
    assert taeda.allclose(taeda.pca_lowrank(x.to_sparse(), q=5, niter=20)[1][:4], wanted, rtol=1e-3)
    assert taeda.allclose(
        taeda.svd_lowrank(x.to_sparse(), q=5)[1], taeda.linalg.svdvals(x), rtol=1e-3
    )


@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64])
@pytest.mark.parametrize("columns", [1, 7, 16, 40, 64, 129, 520])
def test_a_column_has_the_same_bits_beside_however_many_others(columns, dtype):
    """Blocks of vectors, the rest of one, and panels of a large factor: each column is summed by itself."""
    taeda.manual_seed(0)
    places = taeda.randint(0, 1500, (2, 20_000))
    values = taeda.randn(20_000, dtype=dtype)
    own = taeda.sparse_coo_tensor(places, values, (1500, 1500)).coalesce().to_sparse_csr()
    other = taeda.randn(1500, columns, dtype=dtype)
    made = own @ other
    for at in {0, columns // 2, columns - 1}:
        assert taeda.equal(made[:, at], own @ other[:, at].contiguous())
    assert taeda.allclose(made, own.to_dense() @ other, atol=1e-4)
    threads = taeda.get_num_threads()
    taeda.set_num_threads(1 if threads > 1 else 2)
    try:
        assert taeda.equal(own @ other, made)
    finally:
        taeda.set_num_threads(threads)
