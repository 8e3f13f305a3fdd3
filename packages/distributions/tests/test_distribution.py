"""What every distribution has to hold: shapes, validation, expansion, copies, text, gradients."""

import copy
import pickle

import pytest
from laws import t

import taeda
from taeda import distributions as D
from taeda.distributions import transforms

T = taeda.float64
MATRIX = taeda.tensor([[2.0, 0.3], [0.3, 1.0]], dtype=taeda.float64)
ALL = [
    D.Bernoulli(t(0.3, 0.5)), D.Beta(t(0.5, 2.0), t(1.0, 3.0)), D.Binomial(5, t(0.2, 0.5)),
    D.Categorical(t([0.2, 0.8], [0.5, 0.5])),
    D.Cauchy(t(0.0, 1.0), 2.0), D.Chi2(t(1.0, 2.0)), D.ContinuousBernoulli(t(0.2, 0.5)),
    D.Dirichlet(t([0.2, 0.8], [1.0, 3.0])),
    D.Exponential(t(1.0, 2.0)), D.FisherSnedecor(t(3.0, 4.0), 5.0), D.Gamma(t(1.0, 2.0), 3.0),
    D.GeneralizedPareto(t(0.0, 1.0), 2.0, t(0.3, -0.3)), D.Geometric(t(0.2, 0.5)),
    D.Gumbel(t(0.0, 1.0), 2.0), D.HalfCauchy(t(1.0, 2.0)), D.HalfNormal(t(1.0, 2.0)),
    D.Independent(D.Normal(t([0.0, 1.0], [2.0, 3.0]), 1.0), 1),
    D.InverseGamma(t(1.0, 2.0), 3.0), D.Kumaraswamy(t(1.0, 2.0), 3.0),
    D.LKJCholesky(3, t(1.0, 2.0)), D.Laplace(t(0.0, 1.0), 2.0),
    D.LogNormal(t(0.0, 1.0), 2.0), D.LogisticNormal(t([0.0, 1.0], [2.0, 3.0]), 1.0),
    D.LowRankMultivariateNormal(taeda.zeros(2, 2, dtype=T), MATRIX,
        t(1.0, 2.0)),
    D.MixtureSameFamily(D.Categorical(t([0.2, 0.8], [0.5, 0.5])), D.Normal(t([0.0, 1.0], [2.0, 3.0]), 1.0)),
    D.Multinomial(3, t([0.2, 0.8], [0.5, 0.5])),
    D.MultivariateNormal(taeda.zeros(2, 2, dtype=T), MATRIX), D.NegativeBinomial(t(3.0, 4.0), t(0.2, 0.5)),
    D.Normal(t(0.0, 1.0), 2.0), D.OneHotCategorical(t([0.2, 0.8], [0.5, 0.5])),
    D.Pareto(t(1.0, 2.0), 3.0), D.Poisson(t(1.0, 2.0)),
    D.RelaxedBernoulli(t(0.5), t(0.2, 0.5)),
    D.RelaxedOneHotCategorical(t(0.5), t([0.2, 0.8], [0.5, 0.5])), D.StudentT(t(3.0, 4.0)),
    D.TransformedDistribution(D.Normal(t(0.0, 1.0), 1.0), [transforms.TanhTransform()]),
    D.Uniform(t(0.0, 1.0), 2.0), D.VonMises(t(0.0, 1.0), 2.0),
    D.Weibull(t(1.0, 2.0), 3.0), D.Wishart(t(3.0, 4.0), MATRIX),
]  # fmt: skip
each = pytest.mark.parametrize("d", ALL, ids=lambda d: type(d).__name__)


@each
def test_shapes(d):
    assert d.batch_shape == (2,)
    x = d.sample((3,))
    assert x.shape == (3, 2, *d.event_shape)
    assert not x.requires_grad
    assert d.log_prob(x).shape == (3, 2)
    assert d.support.check(x).all()
    assert d.sample_n(4).shape == (4, 2, *d.event_shape)


@each
def test_expansion_keeps_the_density(d):
    x = d.sample()
    wide = d.expand((5, 2))
    assert type(wide) is type(d)
    assert (wide.batch_shape, wide.event_shape) == ((5, 2), d.event_shape)
    taeda.testing.assert_close(wide.log_prob(x), d.log_prob(x).expand(5, 2))
    assert wide.sample((3,)).shape == (3, 5, 2, *d.event_shape)


@each
def test_values_outside_are_refused(d):
    with pytest.raises(ValueError, match="must be a Tensor, got float"):
        d.log_prob(0.5)
    if isinstance(d, D.Independent):
        return  # asks its base
    with pytest.raises(ValueError, match="within the support"):
        d.log_prob(d.sample() * taeda.nan)


@each
def test_copies_and_text(d):
    assert repr(d).startswith(type(d).__name__ + "(")
    x = d.sample()
    for twin in (copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
        taeda.testing.assert_close(twin.log_prob(x), d.log_prob(x))


@each
def test_gradients_reach_the_parameters_of_differentiable_samples(d):
    if not d.has_rsample:
        assert not d.sample().requires_grad
        return
    given = {name: d.__dict__.get(name) for name in d.arg_constraints}
    given = {name: value for name, value in given.items() if isinstance(value, taeda.Tensor)}
    if "probs" in given:
        given.pop("logits", None)  # computed from them
    moving = {name: value.detach().clone().requires_grad_() for name, value in given.items()}
    if not moving:
        return
    type(d)(**moving).rsample((4,)).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in moving.values())


def test_parameters_outside_are_refused():
    with pytest.raises(
        ValueError,
        match=r"parameter scale .* to satisfy the constraint GreaterThan\(lower_bound=0.0\)",
    ):
        D.Normal(0.0, -1.0)
    assert D.Normal(0.0, -1.0, validate_args=False).scale == -1
    with pytest.raises(ValueError, match="`probs` or `logits` must be specified, but not both"):
        D.Bernoulli()
    with pytest.raises(ValueError, match="low>= high"):
        D.Uniform(1.0, 0.0)
    with pytest.raises(ValueError, match="numbers or tensors, got str"):
        D.Normal("0", 1.0)
    with pytest.raises(ValueError, match="at least one-dimensional"):
        D.Categorical(taeda.tensor(0.5))
    with pytest.raises(ValueError, match="Exactly one of covariance_matrix"):
        D.MultivariateNormal(taeda.zeros(2))
    with pytest.raises(ValueError, match="reinterpreted_batch_ndims"):
        D.Independent(D.Normal(0.0, 1.0), 1)


def test_values_of_other_shapes_are_refused():
    with pytest.raises(ValueError, match="right-most size of value must match event_shape"):
        D.Dirichlet(taeda.ones(3)).log_prob(taeda.ones(2) / 2)
    with pytest.raises(ValueError, match="not broadcastable"):
        D.Normal(taeda.zeros(3), 1.0).log_prob(taeda.zeros(2))


def test_default_of_validation():
    try:
        D.Distribution.set_default_validate_args(False)
        D.Normal(0.0, -1.0)
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="True or False"):
        D.Distribution.set_default_validate_args("no")


def test_a_subclass_with_its_own_init_says_how_it_expands():
    class Shifted(D.Normal):
        def __init__(self, loc):
            super().__init__(loc, 1.0)

    Shifted(0.0).sample()
    with pytest.raises(NotImplementedError, match="needs an expand"):
        D.LogNormal._get_checked_instance(
            type("Mine", (D.LogNormal,), {"__init__": lambda self: None})(), D.LogNormal
        )


@pytest.mark.parametrize(
    "make",
    [
        lambda a: D.Gamma(a, 2.0),
        lambda a: D.Beta(a, 2.0),
        lambda a: D.StudentT(a),
        lambda a: D.Chi2(a),
        lambda a: D.InverseGamma(a, 2.0),
    ],
)
def test_gradients_of_means_through_samples(make):
    taeda.manual_seed(5)
    a = taeda.tensor(4.0, dtype=T, requires_grad=True)
    make(a).rsample((40000,)).mean().backward()
    b = taeda.tensor(4.0, dtype=T)
    wanted = (make(b + 1e-4).mean - make(b - 1e-4).mean) / 2e-4
    assert a.grad.item() == pytest.approx(wanted.item(), abs=0.03)


def test_what_the_base_does_not_know():
    empty = D.Distribution()
    for name in ("mean", "mode", "variance", "support", "arg_constraints"):
        with pytest.raises(NotImplementedError, match="Distribution"):
            getattr(empty, name)
    for ask in (empty.sample, empty.rsample, empty.entropy, empty.enumerate_support):
        with pytest.raises(NotImplementedError, match="Distribution"):
            ask()
    for ask in (empty.log_prob, empty.cdf, empty.icdf):
        with pytest.raises(NotImplementedError, match="Distribution"):
            ask(t(0.5))
