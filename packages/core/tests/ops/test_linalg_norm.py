"""Norms, determinants and ranks, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from matrices import DTYPES, close, draw, positive

import taeda
from taeda import linalg


def test_tolerances():
    a = taeda.diag(taeda.tensor([4.0, 2.0, 1e-9], dtype=taeda.float64))
    assert linalg.matrix_rank(a).item() == 3
    assert linalg.matrix_rank(a, atol=1e-6).item() == 2
    assert linalg.matrix_rank(a, rtol=0.6).item() == 1
    assert linalg.matrix_rank(a, 1e-6, hermitian=True).item() == 2
    assert linalg.matrix_rank(a.expand(2, 3, 3), atol=taeda.tensor([1e-6, 3.0])).tolist() == [2, 1]
    assert linalg.pinv(a, rtol=1e-6)[2, 2] == 0
    assert linalg.pinv(a, 1e-6, hermitian=True)[2, 2] == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_determinants(dtype):
    a = draw(3, 4, 4, dtype=dtype)
    close(linalg.det(a), np.linalg.det(a.numpy()), dtype)
    sign, size = linalg.slogdet(a)
    close(sign * size.exp(), linalg.det(a), dtype)
    close(
        taeda.logdet(positive(3, 3, dtype=dtype)).exp(),
        linalg.det(positive(3, 3, dtype=dtype)),
        dtype,
    )
    assert taeda.logdet(taeda.tensor([[0.0, 1.0], [1.0, 0.0]])).isnan()


@pytest.mark.parametrize("ord", ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
@pytest.mark.parametrize("dim", [(0, 1), (-1, 0), (1, 2)])
def test_matrix_norms(ord, dim):
    a = draw(3, 4, 5)
    for keepdim in (False, True):
        want = np.linalg.norm(a.numpy(), ord, dim, keepdim)
        close(linalg.matrix_norm(a, ord, dim, keepdim), want)
        close(linalg.norm(a, ord, dim, keepdim), want)
    if dim == (1, 2):
        square = draw(4, 4)
        close(linalg.cond(square, ord), np.linalg.cond(square.numpy(), ord))


def test_norms_of_other_shapes():
    close(linalg.norm(draw(3, 4, 5)), np.linalg.norm(draw(3, 4, 5).numpy()))
    close(taeda.norm(draw(4, 5), "nuc"), np.linalg.norm(draw(4, 5).numpy(), "nuc"))
    close(linalg.norm(draw(4), 3), np.linalg.norm(draw(4).numpy(), 3))
    assert linalg.cond(taeda.ones(2, 2), 1).item() == np.inf
    assert linalg.matrix_norm(taeda.ones(0, 3), 2).item() == 0


SIZES = {
    taeda.float32: (1e-30, 1e-20, 1e20, 1e30),
    taeda.float64: (1e-300, 1e-200, 1e-150, 1e150, 1e200, 1e300),
}
P = (0.5, 2, 3, 7, 20, -1, -2)


@pytest.mark.parametrize("p", P)
@pytest.mark.parametrize("dtype", [*SIZES], ids=str)
def test_norms_of_any_size(dtype, p):
    """Powers of the numbers leave the range of double where the norm does not; each row has a size."""
    unit = taeda.tensor([3.0, -4.0, 0.5, 1.0, -2.0], dtype=dtype)
    wanted = float((unit.double().abs() ** p).sum()) ** (1 / p)
    sizes = taeda.tensor(SIZES[dtype], dtype=dtype)
    x = unit * sizes.unsqueeze(1)
    made = linalg.vector_norm(x, p, dim=1)
    np.testing.assert_allclose(
        (made / sizes).double().numpy(), wanted, rtol=1e-5 if dtype is taeda.float32 else 1e-12
    )
    kept = linalg.vector_norm(x.t(), p, dim=0, keepdim=True)
    assert kept.shape == (1, len(sizes)) and kept[0].tolist() == made.tolist()
    if p > 1:
        leaf = x.clone().requires_grad_()
        linalg.vector_norm(leaf, p, dim=1).sum().backward()
        slope = unit.sign() * (unit.abs() / wanted) ** (p - 1)
        np.testing.assert_allclose(
            leaf.grad.numpy(), slope.expand(x.shape).numpy(), rtol=1e-4, atol=1e-6
        )


def test_norms_of_nothing_of_zeros_and_of_infinities():
    zeros = taeda.zeros(2, 3, dtype=taeda.float64)
    assert linalg.vector_norm(zeros, 2, 1).tolist() == [0.0, 0.0]
    assert linalg.vector_norm(taeda.empty(2, 0, dtype=taeda.float64), 2, 1).tolist() == [0.0, 0.0]
    mixed = taeda.tensor([[np.inf, 1.0], [1e-200, 0.0], [np.nan, 1e-200]], dtype=taeda.float64)
    np.testing.assert_array_equal(linalg.vector_norm(mixed, 2, 1).numpy(), [np.inf, 1e-200, np.nan])


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1.0, 1e200, 1e300])
def test_distances_of_any_size(size):
    x = taeda.tensor([[3.0, 4.0], [0.0, 0.0]], dtype=taeda.float64) * size
    for made in (taeda.cdist(x, x), taeda.cdist(x, x, compute_mode="use_mm_for_euclid_dist")):
        np.testing.assert_allclose(made.numpy() / size, [[0, 5], [5, 0]], rtol=1e-12)
    assert taeda.nn.functional.pdist(x).tolist() == [pytest.approx(5 * size, rel=1e-12)]
