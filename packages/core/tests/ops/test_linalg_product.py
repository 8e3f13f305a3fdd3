"""Products, powers and exponentials of matrices, against numpy and scipy."""

from __future__ import annotations

import numpy as np
import pytest
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


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int16", "uint8"])
@pytest.mark.parametrize(
    ("shape", "other", "dim"),
    [
        ((3,), (3,), 0),
        ((1500, 3), (1500, 3), -1),
        ((3, 5000), (3, 5000), 0),
        ((2, 3, 700, 2), (1, 3, 1, 2), 1),
        ((0, 3), (1, 3), 1),
    ],
)
def test_cross_of_shapes_and_dtypes(dtype, shape, other, dim):
    x = (draw(*shape) * 9).to(getattr(taeda, dtype))
    y = (draw(*other, seed=1) * 9).to(getattr(taeda, dtype))
    wanted = np.cross(np.moveaxis(x.numpy(), dim, -1), np.moveaxis(y.numpy(), dim, -1))
    close(linalg.cross(x, y, dim=dim), np.moveaxis(wanted, -1, dim))
    steps = x.t() if x.dim() == 2 else x.transpose(0, -1)  # the same numbers in another order
    close(
        linalg.cross(steps.mT if x.dim() == 2 else steps.transpose(0, -1), y, dim=dim),
        np.moveaxis(wanted, -1, dim),
    )


def test_cross_promotes_writes_and_keeps_conjugates():
    x, y = draw(4, 3), draw(4, 3, seed=1)
    assert linalg.cross(x.float(), y).dtype == taeda.float64
    out = taeda.empty(4, 3, dtype=taeda.float64)
    assert linalg.cross(x, y, out=out) is out
    close(out, np.cross(x.numpy(), y.numpy()))
    linalg.cross(x, y, out=x)  # the result is complete before an argument is written
    close(x, out.numpy())
    z, w = draw(4, 3, dtype="complex128"), draw(4, 3, seed=1, dtype="complex128")
    close(linalg.cross(z.conj(), w), np.cross(z.numpy().conj(), w.numpy()))


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (taeda.ones(3), taeda.ones(1, 3), "same number of dimensions, but got 1 and 2"),
        (taeda.ones(2, 3), taeda.ones(2, 1), "dimension -1 must have length 3, but got 3 and 1"),
        (taeda.ones(2, 3), taeda.ones(4, 3), "must match"),
        (taeda.ones(3, dtype=taeda.bool), taeda.ones(3, dtype=taeda.bool), "[Bb]ool"),
    ],
)
def test_cross_refuses(x, y, words):
    with pytest.raises((RuntimeError, NotImplementedError), match=words):
        linalg.cross(x, y)


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


def test_a_large_matrix_of_a_batch_costs_the_others_no_digit():
    """Every matrix is halved for itself."""
    small = taeda.tensor([[0.1, 0.2], [0.3, -0.1]])
    both = linalg.matrix_exp(taeda.stack([small, -small * 1e4, small * float("nan")]))
    assert both[0].tolist() == linalg.matrix_exp(small).tolist()
    assert both[2].isnan().all()


def test_powers_bound_the_series_better_than_the_matrix():
    """The norm of this one is 16, its eigenvalues are at most 1: each needless squaring costs a digit."""
    x = np.random.default_rng(0).standard_normal((200, 200)) / 14
    made = linalg.matrix_exp(taeda.from_numpy(x.astype("f4"))).numpy()
    wanted = scipy.linalg.expm(x.astype("f4").astype("f8"))
    assert np.linalg.norm(made - wanted) < 2e-6 * np.linalg.norm(wanted)
