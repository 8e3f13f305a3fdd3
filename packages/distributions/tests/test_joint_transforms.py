"""Transforms made of others."""

import pytest
from laws import same_jacobian, t

import taeda
from taeda.distributions import transforms

MADE = [
    transforms.ComposeTransform([transforms.AffineTransform(1.0, 2.0), transforms.ExpTransform()]),
    transforms.ComposeTransform([]), transforms.ReshapeTransform((3,), (1, 3)),
    transforms.IndependentTransform(transforms.ExpTransform(), 1),
    transforms.CatTransform([transforms.ExpTransform(), transforms.TanhTransform()], -1, [1, 2]),
    transforms.StackTransform([transforms.ExpTransform(), transforms.TanhTransform(),
        transforms.identity_transform], -1),
]  # fmt: skip
each = pytest.mark.parametrize("f", MADE, ids=lambda f: type(f).__name__)


@each
def test_inverse_and_jacobian(f):
    same_jacobian(f, t([0.3, 0.7, 0.2]))


@each
def test_they_say_where_they_lead(f):
    x = t([0.3, 0.7, 0.2])
    assert f.domain.check(x).all()
    assert f.codomain.check(f(x)).all()
    assert f.bijective
    assert type(f).__name__ in repr(f)
    taeda.testing.assert_close(f.with_cache(1)(x), f(x))
    assert f.with_cache(0) is f


def test_a_chain_sums_over_the_dimensions_of_its_widest_part():
    f = transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(0.0, 2.0, event_dim=1)]
    )
    assert f.domain.event_dim == 1
    assert f.log_abs_det_jacobian(taeda.ones(4, 3), f(taeda.ones(4, 3))).shape == (4,)
    assert f.sign == 1


def test_a_chain_equals_one_of_the_same_parts():
    parts = [transforms.AffineTransform(1.0, 2.0), transforms.ExpTransform()]
    assert transforms.ComposeTransform(parts) == transforms.ComposeTransform(list(parts))
    assert transforms.ComposeTransform(parts) != transforms.ComposeTransform(parts[:1])


def test_what_does_not_fit():
    with pytest.raises(ValueError, match="different numbers of elements"):
        transforms.ReshapeTransform((3,), (2,))
    with pytest.raises(ValueError, match="Shape mismatch"):
        transforms.ReshapeTransform((3,), (1, 3)).forward_shape(taeda.Size((4,)))
    with pytest.raises(ValueError, match="as many lengths"):
        transforms.CatTransform([transforms.ExpTransform()], 0, [1, 2])
    with pytest.raises(ValueError, match="expected 3 places"):
        MADE[4](t([1.0, 2.0]))
    with pytest.raises(ValueError, match="expected 3 places"):
        MADE[5](t([1.0, 2.0]))
    with pytest.raises(ValueError, match="Too few dimensions"):
        MADE[3](t(1.0))


@pytest.mark.parametrize("dim", [0, 1, -1, -2])
@pytest.mark.parametrize(
    "part",
    [
        transforms.ExpTransform,
        lambda: transforms.IndependentTransform(transforms.ExpTransform(), 1),
    ],
    ids=["numbers", "vectors"],
)
def test_a_stack_has_a_determinant_for_every_event(dim, part):
    """Of the shape that is left without the event's dimensions, and the sum of its parts'."""
    made = transforms.StackTransform([part(), part()], dim)
    x = taeda.randn(2, 2, 2, generator=taeda.Generator().manual_seed(0), dtype=taeda.float64)
    found = made.log_abs_det_jacobian(x, made(x))
    assert found.shape == x.shape[: x.dim() - made.domain.event_dim]
    parts = [part().log_abs_det_jacobian(t, part()(t)).sum() for t in x.unbind(dim)]
    assert found.sum().item() == pytest.approx(sum(parts).item())
    law = taeda.distributions.TransformedDistribution(
        taeda.distributions.Normal(taeda.zeros_like(x), 1.0), made
    )
    y = made(x)
    assert law.log_prob(y).shape == law.batch_shape
