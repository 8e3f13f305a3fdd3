"""Solving: a solution solves, an inverse is one, least squares are orthogonal to what is left."""

from __future__ import annotations

import numpy as np
import pytest
from matrices import BATCHES, DTYPES, SIZES, close, draw

import taeda
from taeda import linalg


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", BATCHES)
def test_solve_and_inv(batch, dtype):
    a, b = draw(*batch, 4, 4, dtype=dtype), draw(*batch, 4, 3, dtype=dtype, seed=1)
    close(a @ linalg.solve(a, b), b, dtype)
    close(linalg.solve(a, b.mT, left=False) @ a, b.mT, dtype)
    close(a @ linalg.solve(a, b[..., 0]).unsqueeze(-1), b[..., :1], dtype)
    close(a @ linalg.inv(a), taeda.eye(4, dtype=a.dtype).expand(a.shape), dtype)
    triangle = a.triu() + 3 * taeda.eye(4, dtype=a.dtype)
    close(triangle @ linalg.solve_triangular(triangle, b, upper=True), b, dtype)
    close(
        linalg.solve_triangular(triangle.mT, b.mT, upper=False, left=False) @ triangle.mT,
        b.mT,
        dtype,
    )
    close(taeda.triangular_solve(b, triangle).solution, linalg.solve(triangle, b), dtype)
    close(
        taeda.triangular_solve(b, triangle, transpose=True)[0], linalg.solve(triangle.mT, b), dtype
    )
    once = triangle.triu(1) + taeda.eye(4, dtype=a.dtype)
    close(
        linalg.solve_triangular(triangle, b, upper=True, unitriangular=True),
        linalg.solve(once, b),
        dtype,
    )


def test_singular_matrices_are_named():
    a = taeda.stack([taeda.eye(2), taeda.ones(2, 2)])
    for call in (linalg.inv, taeda.inverse, lambda m: linalg.solve(m, taeda.ones(2, 2, 1))):
        with pytest.raises(
            linalg.LinAlgError, match=r"\(Batch element 1\): The diagonal element 2 is zero"
        ):
            call(a)
    made, info = linalg.inv_ex(a)
    assert info.tolist() == [0, 2]
    assert made[0].tolist() == [[1, 0], [0, 1]]
    assert linalg.solve_ex(a, taeda.ones(2, 2, 1)).info.tolist() == [0, 2]
    assert linalg.det(a).tolist() == [1, 0]
    assert linalg.slogdet(a).logabsdet.tolist() == [0, -np.inf]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
def test_pinv_and_lstsq(size, dtype):
    a = draw(2, *size, dtype=dtype)
    close(linalg.pinv(a), np.linalg.pinv(a.numpy()), dtype)
    b = draw(2, size[0], 2, dtype=dtype, seed=1)
    want = np.stack(
        [np.linalg.lstsq(x, y, rcond=None)[0] for x, y in zip(a.numpy(), b.numpy(), strict=True)]
    )
    made = linalg.lstsq(a, b, driver="gelsd")
    close(made.solution, want, dtype)
    assert made.rank.tolist() == [min(size)] * 2
    close(made.singular_values, linalg.svdvals(a), dtype)
    if size[0] > size[1]:
        error = (np.abs(a.numpy() @ want - b.numpy()) ** 2).sum(-2)
        close(made.residuals, error, dtype)


@pytest.mark.parametrize("shape", [(4, 4), (3, 5, 5)])
def test_on_meta_an_inverse_lies_as_on_the_cpu(shape):
    a = taeda.rand(shape, dtype=taeda.float64) + taeda.eye(shape[-1])
    for matrix in (a, a.mT, a.mT.contiguous()):
        assert linalg.inv(matrix.to("meta")).stride() == linalg.inv(matrix).stride()
