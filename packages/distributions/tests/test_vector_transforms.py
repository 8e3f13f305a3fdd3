"""Maps of vectors and matrices."""

import numpy as np
import pytest
from laws import same_jacobian, t

import taeda
from taeda.distributions import constraints, transforms
from taeda.distributions.utils import tril_matrix_to_vec


@pytest.mark.parametrize("x", [[0.3, 0.7, 0.2], [-3.0, 0.0, 4.0], [0.0, 0.0, 0.0]], ids=str)
def test_inverse_and_jacobian(x):
    same_jacobian(transforms.StickBreakingTransform(), t(x), lambda y: y[..., :-1])
    same_jacobian(transforms.CorrCholeskyTransform(), t(x), lambda y: tril_matrix_to_vec(y, -1))


def test_zeros_break_the_stick_evenly():
    found = transforms.StickBreakingTransform()(taeda.zeros(3, dtype=taeda.float64))
    np.testing.assert_allclose(found.numpy(), [0.25] * 4)


def test_softmax_comes_back_up_to_a_constant():
    f, x = transforms.SoftmaxTransform(), t([0.3, -2.0, 5.0])
    assert constraints.simplex.check(f(x))
    assert (f.inv(f(x)) - x).std().item() == pytest.approx(0, abs=1e-12)
    assert not f.bijective


def test_maps_into_matrices():
    x = taeda.linspace(-1, 1, 18, dtype=taeda.float64).reshape(2, 3, 3)
    lower, positive = transforms.LowerCholeskyTransform(), transforms.PositiveDefiniteTransform()
    assert constraints.lower_cholesky.check(lower(x)).all()
    assert constraints.positive_definite.check(positive(x)).all()
    taeda.testing.assert_close(lower.inv(lower(x)), x.tril())
    taeda.testing.assert_close(positive(positive.inv(positive(x))), positive(x))


def test_correlations():
    factor = transforms.CorrCholeskyTransform()(t([0.3, 0.7, -2.0, 0.1, 9.0, 0.2]))
    assert constraints.corr_cholesky.check(factor)
    assert factor.shape == (4, 4)


def test_equality():
    kinds = (
        transforms.SoftmaxTransform,
        transforms.StickBreakingTransform,
        transforms.LowerCholeskyTransform,
        transforms.PositiveDefiniteTransform,
    )
    for kind in kinds:
        assert [kind() == other() for other in kinds] == [kind is other for other in kinds]


def test_shapes_that_do_not_fit():
    f = transforms.CorrCholeskyTransform()
    with pytest.raises(ValueError, match="no strict lower triangle"):
        f.forward_shape(taeda.Size((4,)))
    with pytest.raises(ValueError, match="not square"):
        f.inverse_shape(taeda.Size((2, 3)))
    for made in (transforms.SoftmaxTransform(), transforms.StickBreakingTransform()):
        with pytest.raises(ValueError, match="Too few dimensions"):
            made.forward_shape(taeda.Size(()))
