"""The register of divergences, and each formula by samples."""

import pytest
from laws import t

import taeda
from taeda import distributions as D

MATRIX = taeda.tensor([[2.0, 0.3], [0.3, 1.0]], dtype=taeda.float64)


PAIRS = [
    (D.Normal(t(0.3), t(1.2)), D.Normal(t(-0.5), t(2.0))),
    (D.Laplace(t(0.3), t(1.2)), D.Laplace(t(-0.5), t(2.0))),
    (D.Gamma(t(2.5), t(1.2)), D.Gamma(t(1.5), t(2.0))), (D.Beta(t(2.5), t(1.2)), D.Beta(t(1.5), t(2.0))),
    (D.Exponential(t(2.5)), D.Gamma(t(1.5), t(2.0))), (D.Gumbel(t(0.3), t(1.2)), D.Gumbel(t(-0.5), t(2.0))),
    (D.Uniform(t(0.2), t(0.9)), D.Beta(t(1.5), t(2.0))),
    (D.Uniform(t(0.2), t(0.9)), D.Normal(t(0.0), t(1.0))),
    (D.Pareto(t(1.0), t(5.0)), D.Exponential(t(2.0))), (D.Normal(t(0.3), t(1.2)), D.Laplace(t(-0.5), t(2.0))),
    (D.Normal(t(0.3), t(0.5)), D.Gumbel(t(-0.5), t(2.0))), (D.Bernoulli(t(0.3)), D.Bernoulli(t(0.6))),
    (D.Geometric(t(0.3)), D.Geometric(t(0.6))), (D.Poisson(t(3.0)), D.Poisson(t(2.0))),
    (D.Binomial(4, t(0.3)), D.Binomial(4, t(0.6))),
    (D.Categorical(t([0.2, 0.8])), D.Categorical(t([0.5, 0.5]))),
    (D.Dirichlet(t([1.0, 2.0])), D.Dirichlet(t([3.0, 1.5]))),
    (D.MultivariateNormal(t([0.0, 1.0]), MATRIX), D.MultivariateNormal(t([0.5, 0.0]), 2 * MATRIX)),
    (D.LogNormal(t(0.3), t(0.5)), D.LogNormal(t(0.0), t(0.7))), (D.HalfNormal(t(1.0)), D.HalfNormal(t(2.0))),
    (D.ContinuousBernoulli(t(0.3)), D.ContinuousBernoulli(t(0.8))),
    (D.Wishart(t(4.0), MATRIX), D.Wishart(t(5.0), MATRIX / 2)),
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


def test_pairs_without_a_formula():
    with pytest.raises(NotImplementedError, match="p type Weibull and q type Normal"):
        D.kl_divergence(D.Weibull(1.0, 1.0), D.Normal(0.0, 1.0))
    with pytest.raises(TypeError, match="subclass of Distribution"):
        D.register_kl(D.Normal(0.0, 1.0), D.Normal)


def test_a_mixin_of_ours_and_others():
    """A library's own base, from which its distributions inherit beside ours."""

    class Base: ...

    class Mine(D.Normal, Base): ...

    @D.register_kl(D.Laplace, Base)
    def formula(p, q):
        return 7.0

    assert D.kl_divergence(D.Laplace(0.0, 1.0), Mine(0.0, 1.0)).item() != 7.0  # Normal is nearer
    other = type("Other", (Base, D.Distribution), {})
    assert D.kl_divergence(D.Laplace(0.0, 1.0), other(validate_args=False)) == 7.0


def test_a_registered_formula_serves_subclasses():
    class Mine(D.Normal):
        pass

    assert D.kl_divergence(Mine(0.0, 1.0), D.Normal(1.0, 1.0)) == 0.5

    @D.register_kl(Mine, D.Normal)
    def formula(p, q):
        return "mine"

    assert D.kl_divergence(Mine(0.0, 1.0), D.Normal(1.0, 1.0)) == "mine"
