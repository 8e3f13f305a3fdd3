"""addmm with a sparse term: the numbers and gradients of strided matrices, at the places that are stored."""

from __future__ import annotations

import pytest

import taeda

D = taeda.tensor([[1, 0, 2, 0], [0, 0, 3, 0], [0, 4, 0, 5], [6, 0, 0, 0]], dtype=taeda.float64)
MADE = {"csr": D.to_sparse_csr, "csc": D.to_sparse_csc, "coo": D.to_sparse}


@pytest.mark.parametrize("b", MADE)
@pytest.mark.parametrize("a", MADE)
@pytest.mark.parametrize("term", ["csr", "coo"])
def test_numbers_and_gradients(term, a, b):
    sparse = [MADE[name]().requires_grad_() for name in (term, a, b)]
    dense = [D.clone().requires_grad_() for _ in range(3)]
    made = taeda.addmm(*sparse, beta=2, alpha=3)
    wanted = taeda.addmm(*dense, beta=2, alpha=3)
    assert made.layout is sparse[0].layout
    assert made.to_dense().equal(wanted)
    made.to_dense().sum().backward()
    wanted.sum().backward()
    for x, y in zip(sparse, dense, strict=True):
        taeda.testing.assert_close(x.grad.to_dense(), y.grad * (D != 0))


def test_beta_of_nothing_leaves_the_term_out():
    bad = (D * float("nan")).nan_to_num(0).to_sparse() * float("inf")
    made = taeda.addmm(bad, MADE["coo"](), MADE["coo"](), beta=0)
    assert made.to_dense().equal(D @ D)


@pytest.mark.parametrize(
    "term", [taeda.eye(2, dtype=taeda.int64), taeda.eye(2, dtype=taeda.int64).to_sparse()]
)
def test_integers_take_whole_factors(term):
    x = taeda.eye(2, dtype=taeda.int64).to_sparse()
    made = taeda.addmm(term, x, x, alpha=2.5)
    assert made.dtype is taeda.int64
    assert made.to_dense().tolist() == [[3, 0], [0, 3]]


@pytest.mark.parametrize("term", [D.float(), D.float().to_sparse(), D.float().to_sparse_csr()])
def test_another_dtype_is_refused(term):
    with pytest.raises(RuntimeError, match="expected the dtype of the product"):
        taeda.addmm(term, MADE["csr"](), MADE["csr"]())


def test_another_shape_is_refused():
    with pytest.raises(RuntimeError, match="is not broadcast"):
        taeda.addmm(taeda.ones(1, 4, dtype=taeda.float64).to_sparse(), MADE["coo"](), MADE["coo"]())
