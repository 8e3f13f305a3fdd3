"""Linear algebra by what defines its results, and against numpy: batches, dtypes, layouts, empty
matrices, failures, refusals.
"""

from __future__ import annotations

import numpy as np
import pytest
from matrices import close, draw

import taeda
from taeda import linalg


def test_layouts():
    a, b = draw(8, 4)[::2], draw(4, 3, seed=1).t().contiguous().t()
    close(a @ linalg.solve(a, b), b)
    close(linalg.inv(a.t()), np.linalg.inv(a.numpy().T))
    close(linalg.det(a.expand(2, 4, 4)), np.linalg.det(a.numpy()).repeat(2))


def test_empty_matrices():
    none, batch = taeda.empty(0, 0), taeda.empty(0, 3, 3)
    assert linalg.det(none).item() == 1
    assert linalg.inv(none).shape == (0, 0)
    assert linalg.solve(none, taeda.empty(0, 2)).shape == (0, 2)
    assert linalg.svd(taeda.empty(3, 0)).U.shape == (3, 3)
    assert linalg.qr(taeda.empty(3, 0), "complete").Q.tolist() == taeda.eye(3).tolist()
    assert linalg.eigh(batch).eigenvalues.shape == (0, 3)
    assert linalg.lu(batch).L.shape == (0, 3, 3)
    assert linalg.pinv(taeda.empty(0, 3)).shape == (3, 0)
    assert linalg.svd(taeda.empty(2, 3, device="meta")).Vh.shape == (3, 3)
    assert linalg.inv(taeda.empty(3, 3, device="meta")).is_meta


ones = taeda.ones


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: linalg.inv(ones(2, 3)), "batches of square matrices, but they are 2 by 3"),
        (lambda: linalg.inv(ones(3)), "at least 2 dimensions"),
        (lambda: linalg.inv(ones(2, 2).long()), "floating point or complex tensor"),
        (lambda: linalg.inv(ones(2, 2).half()), "Low precision dtypes"),
        (lambda: linalg.det(ones(2, 3)), "square"),
        (lambda: linalg.cholesky(ones(2, 3)), "square"),
        (lambda: linalg.solve(ones(2, 2), ones(3, 1)), r"Incompatible shapes of A and B .*2x2 and 3x1"),
        (lambda: linalg.solve(ones(2, 2), ones(2, 1).double()), "one dtype"),
        (lambda: linalg.solve(ones(2, 2), ones(2), left=False), "left=False"),
        (lambda: linalg.solve_triangular(ones(2, 2), ones(3, 1), upper=True), "Incompatible shapes"),
        (lambda: linalg.qr(ones(2, 2), "full"), "unrecognized mode 'full'"),
        (lambda: linalg.eigh(ones(2, 2), "X"), "UPLO argument to be 'L' or 'U', but got X"),
        (lambda: linalg.eig(ones(2, 2) * float("nan")), "infs or NaNs"),
        (lambda: linalg.svd(ones(2, 2), driver="gesvd"), "only supported on CUDA"),
        (lambda: linalg.lstsq(ones(2, 2), ones(3, 1)), "2 and 3"),
        (lambda: linalg.lstsq(ones(2, 2), ones(2, 1), driver="qr"), "driver"),
        (lambda: linalg.matrix_norm(ones(2, 2), 3), "Order 3 not supported"),
        (lambda: linalg.matrix_norm(ones(2, 2), "max"), "Order max not supported"),
        (lambda: linalg.matrix_norm(ones(2, 2), 1, (0, 0)), "must be different"),
        (lambda: linalg.matrix_norm(ones(2)), "at least 2 dimensions"),
        (lambda: linalg.norm(ones(2, 2, 2), 2), "1D or 2D. Got 3D"),
        (lambda: linalg.cond(ones(2, 2), 3), "invalid norm type: 3"),
        (lambda: linalg.cross(ones(4), ones(4)), "must have length 3"),
        (lambda: taeda.cross(ones(4), ones(4)), "no dimension of size 3"),
        (lambda: linalg.vander(ones(3), N=1), "greater than 1"),
        (lambda: taeda.vander(ones(3, 3)), "one-dimensional"),
        (lambda: linalg.tensorinv(ones(2, 3), ind=0), "strictly positive"),
        (lambda: linalg.tensorinv(ones(2, 3), ind=1), "3 != 2"),
        (lambda: linalg.tensorsolve(ones(2, 3), ones(2)), "3 != 2"),
        (lambda: linalg.householder_product(ones(2, 3), ones(2)), "greater than or equal"),
        (lambda: linalg.lu_solve(ones(2, 2), taeda.tensor([1, 2]), ones(2, 1)), "int32"),
        (lambda: linalg.ldl_factor(ones(2, 3)), "square"),
        (lambda: linalg.ldl_solve(ones(2, 2), ones(2), ones(2, 1)), "int32"),
        (lambda: linalg.ldl_solve(ones(2, 2), taeda.tensor([1, 2]), ones(3, 1)), "Incompatible shapes"),
        (lambda: linalg.ldl_solve(ones(2, 2), taeda.tensor([1]), ones(2, 1)), "Incompatible shapes"),
        (lambda: linalg.vecdot(taeda.tensor([1]), taeda.tensor([1])), "floating point or complex"),
    ],
)  # fmt: skip
def test_refusals(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()
