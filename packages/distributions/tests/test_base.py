"""Shapes, validation, expansion, text, transforms, constraints, divergences."""

import copy
import pickle

import numpy as np
import pytest

import taeda
from taeda import distributions as D
from taeda.distributions import constraints, transforms
from taeda.distributions.utils import lazy_property, tril_matrix_to_vec, vec_to_tril_matrix

T = taeda.float64


def t(*values):
    return taeda.tensor(values, dtype=T)


MATRIX = t([2.0, 0.3], [0.3, 1.0])
ALL = [
    D.Bernoulli(t(0.3, 0.5)), D.Beta(t(0.5, 2.0), t(1.0, 3.0)), D.Binomial(5, t(0.2, 0.5)), D.Categorical(t([0.2, 0.8], [0.5, 0.5])),
    D.Cauchy(t(0.0, 1.0), 2.0), D.Chi2(t(1.0, 2.0)), D.ContinuousBernoulli(t(0.2, 0.5)), D.Dirichlet(t([0.2, 0.8], [1.0, 3.0])),
    D.Exponential(t(1.0, 2.0)), D.FisherSnedecor(t(3.0, 4.0), 5.0), D.Gamma(t(1.0, 2.0), 3.0), D.Geometric(t(0.2, 0.5)),
    D.Gumbel(t(0.0, 1.0), 2.0), D.HalfCauchy(t(1.0, 2.0)), D.HalfNormal(t(1.0, 2.0)), D.Independent(D.Normal(t([0.0, 1.0], [2.0, 3.0]), 1.0), 1),
    D.InverseGamma(t(1.0, 2.0), 3.0), D.Kumaraswamy(t(1.0, 2.0), 3.0), D.LKJCholesky(3, t(1.0, 2.0)), D.Laplace(t(0.0, 1.0), 2.0),
    D.LogNormal(t(0.0, 1.0), 2.0), D.LowRankMultivariateNormal(taeda.zeros(2, 2, dtype=T), MATRIX, t(1.0, 2.0)),
    D.MixtureSameFamily(D.Categorical(t([0.2, 0.8], [0.5, 0.5])), D.Normal(t([0.0, 1.0], [2.0, 3.0]), 1.0)),
    D.Multinomial(3, t([0.2, 0.8], [0.5, 0.5])), D.MultivariateNormal(taeda.zeros(2, 2, dtype=T), MATRIX), D.NegativeBinomial(t(3.0, 4.0), t(0.2, 0.5)),
    D.Normal(t(0.0, 1.0), 2.0), D.OneHotCategorical(t([0.2, 0.8], [0.5, 0.5])), D.Pareto(t(1.0, 2.0), 3.0), D.Poisson(t(1.0, 2.0)),
    D.RelaxedBernoulli(t(0.5), t(0.2, 0.5)), D.RelaxedOneHotCategorical(t(0.5), t([0.2, 0.8], [0.5, 0.5])), D.StudentT(t(3.0, 4.0)),
    D.TransformedDistribution(D.Normal(t(0.0, 1.0), 1.0), [transforms.TanhTransform()]), D.Uniform(t(0.0, 1.0), 2.0), D.VonMises(t(0.0, 1.0), 2.0),
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


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: D.Dirichlet(0.5), "concentration"),
        (lambda: D.MultivariateNormal(0.0, taeda.eye(1)), "loc"),
        (lambda: D.MultivariateNormal(taeda.zeros(1), scale_tril=1.0), "scale_tril"),
        (lambda: D.LowRankMultivariateNormal(taeda.zeros(1), 1.0, taeda.ones(1)), "cov_factor"),
        (lambda: D.Wishart(2.0, 1.0), "covariance_matrix"),
    ],
)
def test_numbers_are_refused_where_dimensions_mean_something(make, name):
    with pytest.raises(TypeError, match=f"{name} must be a Tensor, .* not float"):
        make()
    with pytest.raises(ValueError, match="greater than ndim - 1 = 1"):
        D.Wishart(taeda.tensor(1.0, dtype=T), MATRIX)


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


# ---- transforms ----

MAPS = [
    transforms.ExpTransform(), transforms.PowerTransform(t(1.5).squeeze()), transforms.SigmoidTransform(), transforms.TanhTransform(),
    transforms.SoftplusTransform(), transforms.AffineTransform(1.0, -2.0), transforms.AffineTransform(t(1.0, 2.0, 3.0), 2.0),
    transforms.ComposeTransform([transforms.AffineTransform(1.0, 2.0), transforms.ExpTransform()]),
    transforms.StickBreakingTransform(), transforms.CorrCholeskyTransform(), transforms.ReshapeTransform((3,), (1, 3)),
    transforms.IndependentTransform(transforms.ExpTransform(), 1), transforms.CumulativeDistributionTransform(D.Normal(t(0.0).squeeze(), 1.0)),
    transforms.CatTransform([transforms.ExpTransform(), transforms.TanhTransform()], -1, [1, 2]),
    transforms.StackTransform([transforms.ExpTransform(), transforms.TanhTransform(), transforms.identity_transform], -1),
]  # fmt: skip


@pytest.mark.parametrize("f", MAPS, ids=lambda f: type(f).__name__)
def test_inverse_and_jacobian(f):
    x = t(0.3, 0.7, 0.2)
    y = f(x)
    taeda.testing.assert_close(f.inv(y), x)
    assert f.inv.inv is f
    assert f.forward_shape(x.shape) == y.shape
    assert f.inverse_shape(y.shape) == x.shape
    free = (lambda v: f(v)[..., :-1]) if isinstance(f, transforms.StickBreakingTransform) else f
    if isinstance(f, transforms.CorrCholeskyTransform):
        free = lambda v: tril_matrix_to_vec(f(v), -1)  # noqa: E731 - what moves freely
    columns = []
    for k in range(3):
        step = taeda.zeros(3, dtype=T)
        step[k] = 1e-6
        columns.append(((free(x + step) - free(x - step)) / 2e-6).reshape(-1))
    wanted = np.linalg.slogdet(taeda.stack(columns, 1).numpy())[1]
    found = f.log_abs_det_jacobian(x, y)
    assert found.sum().item() == pytest.approx(wanted, rel=1e-5, abs=1e-9)


def test_a_cache_gives_the_very_argument_back():
    f = transforms.SigmoidTransform(cache_size=1)
    x = t(40.0)  # whose sigmoid is 1 to the last digit
    assert f.inv(f(x)) is x
    assert f.with_cache(0) is not f
    with pytest.raises(ValueError, match="cache_size is 0 or 1"):
        transforms.ExpTransform(cache_size=2)


SETS = [
    constraints.real, constraints.positive, constraints.greater_than(2.0), constraints.less_than(-1.0), constraints.interval(1.0, 3.0),
    constraints.unit_interval, constraints.simplex, constraints.corr_cholesky, constraints.independent(constraints.positive, 1),
    constraints.half_open_interval(-1.0, 1.0), constraints.cat([constraints.positive, constraints.real], -1, [1, 2]),
]  # fmt: skip


@pytest.mark.parametrize("c", SETS, ids=repr)
def test_transforms_lead_into_their_sets(c):
    x = taeda.linspace(-2, 2, 3, dtype=T)
    for registry in (D.biject_to, D.transform_to):
        assert c.check(registry(c)(x)).all()
    taeda.testing.assert_close(D.biject_to(c).inv(D.biject_to(c)(x)), x)


@pytest.mark.parametrize("c", [constraints.lower_cholesky, constraints.positive_definite], ids=repr)
def test_transforms_lead_into_sets_of_matrices(c):
    x = taeda.linspace(-1, 1, 9, dtype=T).reshape(3, 3)
    assert c.check(D.transform_to(c)(x)).all()
    with pytest.raises(NotImplementedError, match="Cannot transform"):
        D.biject_to(c)


def test_constraints_say_what_is_inside():
    c = constraints
    assert c.boolean.check(t(0.0, 1.0, 2.0)).tolist() == [True, True, False]
    assert c.integer_interval(0, 3).check(t(0.0, 3.0, 1.5, 4.0)).tolist() == [
        True,
        True,
        False,
        False,
    ]
    assert c.nonnegative_integer.check(t(-1.0, 0.0)).tolist() == [False, True]
    assert c.one_hot.check(t([1.0, 0.0], [1.0, 1.0])).tolist() == [True, False]
    assert c.simplex.check(t([0.5, 0.5], [0.5, 0.6])).tolist() == [True, False]
    assert c.positive_definite.check(taeda.stack([MATRIX, -MATRIX])).tolist() == [True, False]
    assert not c.symmetric.check(t([1.0, 2.0], [3.0, 1.0]))
    assert not c.positive_semidefinite.check(t([1.0, 2.0], [2.0, 1.0]))
    assert c.is_dependent(D.Uniform.support)
    with pytest.raises(ValueError, match="dependent"):
        c.dependent.check(t(1.0))


def test_triangles():
    v = taeda.arange(6.0)
    assert vec_to_tril_matrix(v).tolist() == [[0, 0, 0], [1, 2, 0], [3, 4, 5]]
    assert tril_matrix_to_vec(vec_to_tril_matrix(v)).tolist() == v.tolist()
    with pytest.raises(ValueError, match="5 numbers"):
        vec_to_tril_matrix(taeda.zeros(5))


def test_lazy_property_is_computed_once():
    class Counting:
        calls = 0

        @lazy_property
        def value(self):
            self.calls += 1
            return 3

    c = Counting()
    assert (c.value, c.value, c.calls) == (3, 3, 1)


# ---- divergences ----

PAIRS = [
    (D.Normal(t(0.3), t(1.2)), D.Normal(t(-0.5), t(2.0))), (D.Laplace(t(0.3), t(1.2)), D.Laplace(t(-0.5), t(2.0))),
    (D.Gamma(t(2.5), t(1.2)), D.Gamma(t(1.5), t(2.0))), (D.Beta(t(2.5), t(1.2)), D.Beta(t(1.5), t(2.0))),
    (D.Exponential(t(2.5)), D.Gamma(t(1.5), t(2.0))), (D.Gumbel(t(0.3), t(1.2)), D.Gumbel(t(-0.5), t(2.0))),
    (D.Uniform(t(0.2), t(0.9)), D.Beta(t(1.5), t(2.0))), (D.Uniform(t(0.2), t(0.9)), D.Normal(t(0.0), t(1.0))),
    (D.Pareto(t(1.0), t(5.0)), D.Exponential(t(2.0))), (D.Normal(t(0.3), t(1.2)), D.Laplace(t(-0.5), t(2.0))),
    (D.Normal(t(0.3), t(0.5)), D.Gumbel(t(-0.5), t(2.0))), (D.Bernoulli(t(0.3)), D.Bernoulli(t(0.6))),
    (D.Geometric(t(0.3)), D.Geometric(t(0.6))), (D.Poisson(t(3.0)), D.Poisson(t(2.0))), (D.Binomial(4, t(0.3)), D.Binomial(4, t(0.6))),
    (D.Categorical(t([0.2, 0.8])), D.Categorical(t([0.5, 0.5]))), (D.Dirichlet(t([1.0, 2.0])), D.Dirichlet(t([3.0, 1.5]))),
    (D.MultivariateNormal(t([0.0, 1.0]), MATRIX), D.MultivariateNormal(t([0.5, 0.0]), 2 * MATRIX)),
    (D.LogNormal(t(0.3), t(0.5)), D.LogNormal(t(0.0), t(0.7))), (D.HalfNormal(t(1.0)), D.HalfNormal(t(2.0))),
    (D.ContinuousBernoulli(t(0.3)), D.ContinuousBernoulli(t(0.8))), (D.Wishart(t(4.0), MATRIX), D.Wishart(t(5.0), MATRIX / 2)),
    (D.Bernoulli(t(0.3)), D.Poisson(t(0.6))), (D.Exponential(t(2.0)), D.Gumbel(t(0.5), t(1.0))),
    (D.Independent(D.Normal(t([0.3, 0.1]), 1.0), 1), D.Independent(D.Normal(t([0.0, 0.1]), 2.0), 1)),
]  # fmt: skip


@pytest.mark.parametrize(("p", "q"), PAIRS, ids=lambda d: type(d).__name__)
def test_divergence_is_the_mean_of_the_difference(p, q):
    taeda.manual_seed(3)
    x = p.sample((40000,))
    gap = p.log_prob(x) - q.log_prob(x)
    error = 5 * gap.std().item() / 200 + 1e-6
    assert D.kl_divergence(p, q).item() == pytest.approx(gap.mean().item(), abs=error)
    assert D.kl_divergence(p, p).abs().max() < 1e-7


def test_divergence_is_infinite_where_q_cannot_follow():
    assert D.kl_divergence(D.Normal(0.0, 1.0), D.Uniform(0.0, 1.0)).item() == taeda.inf
    assert D.kl_divergence(D.Uniform(0.0, 2.0), D.Uniform(0.0, 1.0)).item() == taeda.inf
    assert D.kl_divergence(D.Poisson(taeda.ones(3)), D.Bernoulli(0.5)).tolist() == [taeda.inf] * 3


def test_pairs_without_a_formula():
    with pytest.raises(NotImplementedError, match="p type Weibull and q type Normal"):
        D.kl_divergence(D.Weibull(1.0, 1.0), D.Normal(0.0, 1.0))
    with pytest.raises(TypeError, match="subclass of Distribution"):
        D.register_kl(int, D.Normal)


def test_a_registered_formula_serves_subclasses():
    class Mine(D.Normal):
        pass

    assert D.kl_divergence(Mine(0.0, 1.0), D.Normal(1.0, 1.0)) == 0.5

    @D.register_kl(Mine, D.Normal)
    def formula(p, q):
        return "mine"

    assert D.kl_divergence(Mine(0.0, 1.0), D.Normal(1.0, 1.0)) == "mine"
