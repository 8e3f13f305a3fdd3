"""Maps of single numbers."""

import pytest
from laws import same_jacobian, t

import taeda
from taeda import distributions as D
from taeda.distributions import transforms

RISING = [
    transforms.ExpTransform(), transforms.SigmoidTransform(), transforms.TanhTransform(),
    transforms.SoftplusTransform(),
    transforms.PowerTransform(t(1.5)), transforms.PowerTransform(t(-2.0)),
    transforms.AffineTransform(1.0, -2.0),
    transforms.AffineTransform(t([1.0, 2.0, 3.0]), 2.0),
    transforms.AffineTransform(0.5, t([1.0, -2.0, 3.0]), event_dim=1),
    transforms.CumulativeDistributionTransform(D.Normal(t(0.0), 1.0)),
]  # fmt: skip
each = pytest.mark.parametrize("f", RISING, ids=lambda f: type(f).__name__)


@each
@pytest.mark.parametrize("x", [(0.3, 0.7, 0.2), (0.01, 3.0, 5.0)], ids=str)
def test_inverse_and_jacobian(f, x):
    same_jacobian(f, t(list(x)))


@each
def test_the_sign_is_that_of_the_slope(f):
    x = t([0.3, 0.7, 0.2])
    slope = (f(x + 1e-6) - f(x)).sign()
    assert (taeda.as_tensor(f.sign, dtype=taeda.float64) == slope).all()


@each
def test_equality_and_caches(f):
    # distributions are not compared
    if not isinstance(f, transforms.CumulativeDistributionTransform):
        assert f == f.with_cache(1)
    taeda.testing.assert_close(f.with_cache(1)(t([0.3, 0.7, 0.2])), f(t([0.3, 0.7, 0.2])))
    assert f.with_cache(0) is f
    assert f != transforms.ReshapeTransform((3,), (3,))
    assert f.bijective


def test_far_out():
    x = t([-800.0, 800.0])
    assert transforms.SigmoidTransform()(x).isfinite().all()
    assert transforms.TanhTransform().log_abs_det_jacobian(x, x.tanh()).isfinite().all()
    assert transforms.SoftplusTransform()(x).tolist() == [0.0, 800.0]


def test_abs_has_the_positive_inverse():
    f = transforms.AbsTransform()
    assert f.inv(f(t([-1.0, 2.0]))).tolist() == [1.0, 2.0]
    assert f == transforms.AbsTransform()
    assert not f.bijective
    with pytest.raises(NotImplementedError, match="no sign"):
        f.sign


def test_an_affine_map_of_vectors_sums():
    f = transforms.AffineTransform(0.0, 2.0, event_dim=1)
    assert f.log_abs_det_jacobian(taeda.ones(4, 3), taeda.ones(4, 3)).shape == (4,)
    assert f.domain.event_dim == f.codomain.event_dim == 1
