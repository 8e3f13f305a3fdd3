"""Products, powers and exponentials of matrices, against numpy and scipy."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from matrices import close, draw

import taeda
from taeda import linalg


def test_powers_and_exponentials():
    a = draw(2, 3, 3)
    for n in (-2, -1, 0, 1, 2, 5):
        close(linalg.matrix_power(a, n), np.linalg.matrix_power(a.numpy(), n))
    close(taeda.matrix_exp(a), scipy.linalg.expm(a.numpy()))
    z = draw(3, 3, dtype="complex128")
    close(linalg.matrix_exp(z), scipy.linalg.expm(z.numpy()))


def test_products():
    x, y = draw(4, 3), draw(4, 3, seed=1)
    close(linalg.cross(x, y), np.cross(x.numpy(), y.numpy()))
    close(taeda.cross(x.t(), y.t()), np.cross(x.numpy(), y.numpy()).T)
    assert not linalg.cross(x, x).any()  # exactly: no product is more precise than the one it meets
    z = draw(4, 3, dtype="complex128")
    close(linalg.vecdot(z, z * 2, dim=0), (z.numpy().conj() * z.numpy() * 2).sum(0))
    close(linalg.vander(x[:, 0], N=3), np.vander(x.numpy()[:, 0], 3, increasing=True))
    close(taeda.vander(x[:, 0], 3), np.vander(x.numpy()[:, 0], 3))
    assert taeda.vander(taeda.tensor([1, 2, 3])).tolist() == np.vander([1, 2, 3]).tolist()
    assert linalg.diagonal(x.expand(2, 4, 3)).shape == (2, 3)
    a = draw(6, 2, 3)
    close(taeda.tensordot(a, linalg.tensorinv(a, 1), 2), np.eye(6))
    close(taeda.tensordot(draw(2, 3, 6), linalg.tensorsolve(draw(2, 3, 6), y[:2]), 1), y[:2])
