"""Distributions in float16 and bfloat16 say what they say in float64 of the same parameters, rounded once."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest

import taeda
from taeda import distributions as D
from taeda.distributions import transforms

DTYPES = (taeda.float16, taeda.bfloat16)
#: parameters of each, of a size s, and values that have a density
CASES: dict[str, tuple[Any, Any]] = {
    "Bernoulli": (lambda t, s: D.Bernoulli(t(0.3 / s)), lambda s: [0, 1]),
    "Bernoulli of logits": (lambda t, s: D.Bernoulli(logits=t(0.3 * s)), lambda s: [0, 1]),
    "Beta": (lambda t, s: D.Beta(t(2 * s), t(3 * s)), lambda s: [0.1, 0.4, 0.9]),
    "Binomial": (lambda t, s: D.Binomial(int(10 * s), t(0.3)), lambda s: [0, int(3 * s)]),
    "Categorical": (lambda t, s: D.Categorical(t([0.3, 0.1 / s, 0.6])), lambda s: [0, 1, 2]),
    "Cauchy": (lambda t, s: D.Cauchy(t(0.5 * s), t(1.5 * s)), lambda s: [-2 * s, 0, 400]),
    "Chi2": (lambda t, s: D.Chi2(t(2.5 * s)), lambda s: [0.1 * s, s, 3 * s]),
    "ContinuousBernoulli": (lambda t, s: D.ContinuousBernoulli(t(0.3 / s)), lambda s: [0.1, 0.9]),
    "ContinuousBernoulli, even": (lambda t, s: D.ContinuousBernoulli(t(0.498)), lambda s: [0.1]),
    "Dirichlet": (lambda t, s: D.Dirichlet(t([2 * s, 3 * s, 4 * s])), lambda s: [0.25, 0.5, 0.25]),
    "Exponential": (lambda t, s: D.Exponential(t(1.5 / s)), lambda s: [0.1 * s, 3 * s]),
    "FisherSnedecor": (lambda t, s: D.FisherSnedecor(t(5 * s), t(4.0)), lambda s: [0.1, 3]),
    "Gamma": (lambda t, s: D.Gamma(t(2.5 * s), t(1.5)), lambda s: [0.1 * s, s, 3 * s]),
    "GeneralizedPareto": (
        lambda t, s: D.GeneralizedPareto(t(0.5 * s), t(3 * s), t(0.3)), lambda s: [0.6 * s, 40 * s],
    ),
    "Geometric": (lambda t, s: D.Geometric(t(0.3 / s)), lambda s: [0, 1, int(9 * s)]),
    "Gumbel": (lambda t, s: D.Gumbel(t(0.5 * s), t(1.5 * s)), lambda s: [-2 * s, 3 * s]),
    "HalfCauchy": (lambda t, s: D.HalfCauchy(t(1.5 * s)), lambda s: [0.1, 400]),
    "HalfNormal": (lambda t, s: D.HalfNormal(t(1.5 * s)), lambda s: [0.1 * s, 3 * s]),
    "Independent": (lambda t, s: D.Independent(D.Normal(t([s, s]), s), 1), lambda s: [0, s]),
    "InverseGamma": (lambda t, s: D.InverseGamma(t(2.5 * s), t(1.5 * s)), lambda s: [0.5, s]),
    "Kumaraswamy": (lambda t, s: D.Kumaraswamy(t(2.0), t(3.0)), lambda s: [0.1, 0.4, 0.9]),
    "LKJCholesky": (lambda t, s: D.LKJCholesky(2, t(2.0 * s)), lambda s: [[1, 0], [0.6, 0.8]]),
    "Laplace": (lambda t, s: D.Laplace(t(0.5 * s), t(1.5 * s)), lambda s: [-2 * s, 40 * s]),
    "LogNormal": (lambda t, s: D.LogNormal(t(0.5), t(1.5)), lambda s: [0.1 * s, 40 * s]),
    "LogisticNormal": (
        lambda t, s: D.LogisticNormal(t([0.5, 0.1]), t([1.5, 1.0])), lambda s: [0.25, 0.5, 0.25],
    ),
    "MixtureSameFamily": (
        lambda t, s: D.MixtureSameFamily(D.Categorical(t([0.3, 0.7])), D.Normal(t([s, 2 * s]), s)),
        lambda s: [-2 * s, 3 * s],
    ),
    "Multinomial": (
        lambda t, s: D.Multinomial(int(8 * s), t([0.25, 0.25, 0.5])),
        lambda s: [int(8 * s), 0, 0],
    ),
    "MultivariateNormal": (
        lambda t, s: D.MultivariateNormal(t([s, 0]), scale_tril=t([[2 * s, 0], [s, s]])),
        lambda s: [0.1 * s, 3 * s],
    ),
    "NegativeBinomial": (
        lambda t, s: D.NegativeBinomial(t(10 * s), t(0.3)), lambda s: [0, int(3 * s), int(9 * s)],
    ),
    "Normal": (lambda t, s: D.Normal(t(0.5 * s), t(1.5 * s)), lambda s: [-2 * s, 3 * s, 40 * s]),
    "OneHotCategorical": (lambda t, s: D.OneHotCategorical(t([0.3, 0.7])), lambda s: [0, 1]),
    "OneHotCategoricalStraightThrough": (
        lambda t, s: D.OneHotCategoricalStraightThrough(t([0.3, 0.7])), lambda s: [0, 1],
    ),
    "Pareto": (lambda t, s: D.Pareto(t(0.5 * s), t(3.0)), lambda s: [0.6 * s, 40 * s]),
    "Poisson": (lambda t, s: D.Poisson(t(2.5 * s)), lambda s: [0, int(s), int(3 * s)]),
    "RelaxedBernoulli": (lambda t, s: D.RelaxedBernoulli(t(0.5), t(0.3)), lambda s: [0.1, 0.6]),
    "RelaxedOneHotCategorical": (
        lambda t, s: D.RelaxedOneHotCategorical(t(0.5), t([0.3, 0.1, 0.6])),
        lambda s: [0.25, 0.5, 0.25],
    ),
    "StudentT": (
        lambda t, s: D.StudentT(t(3 * s), t(0.5 * s), t(1.5 * s)), lambda s: [-2 * s, 0, 90 * s],
    ),
    "TransformedDistribution": (
        lambda t, s: D.TransformedDistribution(D.Normal(t(0.5), t(1.5)), D.SigmoidTransform()),
        lambda s: [0.1, 0.9],
    ),
    "Uniform": (lambda t, s: D.Uniform(t(0.5 * s), t(1.5 * s)), lambda s: [0.6 * s]),
    "VonMises": (lambda t, s: D.VonMises(t(0.5), t(2 * s)), lambda s: [-2, 0.5, 0.6]),
    "Weibull": (lambda t, s: D.Weibull(t(1.5 * s), t(1.5)), lambda s: [0.1 * s, 3 * s]),
}  # fmt: skip
SAID = {
    "log_prob": lambda d, v: d.log_prob(v),
    "entropy": lambda d, v: d.entropy(),
    "mean": lambda d, v: d.mean,
    "variance": lambda d, v: d.variance,
    "stddev": lambda d, v: d.stddev,
    "cdf": lambda d, v: d.cdf(v),
    "divergence": lambda d, v: D.kl_divergence(d, d),
}
#: of these a matrix is factored, which is refused in 16 bits
FACTORED = {"LowRankMultivariateNormal", "Wishart"}


def in_float64(part: Any) -> Any:
    """Whatever the distribution holds, converted without being computed again."""
    if isinstance(part, taeda.Tensor):
        return part.double() if part.is_floating_point() else part
    if isinstance(part, list):
        return [in_float64(p) for p in part]
    if not isinstance(part, D.Distribution | D.Transform):
        return part
    made = copy.copy(part)
    for name, value in part.__dict__.items():
        made.__dict__[name] = in_float64(value)
    made.__dict__.update({} if isinstance(part, D.Transform) else {"_is_short": False})
    return made


def test_every_distribution_is_tried():
    bases = {"Distribution", "ExponentialFamily", *FACTORED}
    kinds = {n for n in D.__all__ if isinstance(getattr(D, n), type)}
    kinds = {n for n in kinds if issubclass(getattr(D, n), D.Distribution)}
    assert kinds - bases == {name.partition(" ")[0].rstrip(",") for name in CASES}


@pytest.mark.parametrize("size", [1.0, 30.0, 300.0])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_what_a_distribution_says(name, dtype, size):
    make, values = CASES[name]
    short = make(lambda x: taeda.tensor(x, dtype=dtype), size)
    value = taeda.tensor(values(size), dtype=dtype)
    exact, eps, tried = in_float64(short), taeda.finfo(dtype).eps, 0
    exact._validate_args = False
    for said in SAID.values():
        try:
            wanted = said(exact, value.double())
        except NotImplementedError:  # no distribution says all of these
            continue
        made, tried = said(short, value), tried + 1
        assert made.dtype is dtype
        rounded = wanted.to(dtype).double()
        taeda.testing.assert_close(
            made.double(), rounded, rtol=4 * eps, atol=eps / 4, equal_nan=True
        )
    assert tried


def test_what_was_asked_before_changes_nothing():
    probs = taeda.tensor([0.3, 0.1, 0.6], dtype=taeda.bfloat16)
    fresh, asked = D.Categorical(probs), D.Categorical(probs)
    assert asked.logits.dtype is taeda.bfloat16 and "logits" in asked.__dict__
    for d in (asked, asked.expand((2,)), copy.deepcopy(asked)):
        assert d.entropy().flatten()[0] == fresh.entropy()
    assert asked.probs is fresh.probs or taeda.equal(asked.probs, fresh.probs)


def test_gradients_reach_the_parameters_and_the_value():
    loc, value = (taeda.tensor(x, dtype=taeda.float16, requires_grad=True) for x in (0.5, 3000.0))
    D.Cauchy(loc, taeda.tensor(1.5).half()).log_prob(value=value).backward()
    slope = 2 * 2999.5 / (1.5**2 + 2999.5**2)
    assert value.grad.item() == pytest.approx(-slope, rel=1e-2)
    assert loc.grad.item() == pytest.approx(slope, rel=1e-2)


def test_types_are_those_of_ordinary_promotion():
    wide, short = taeda.tensor([0.5]), taeda.tensor([3.0]).half()
    assert D.Normal(wide, wide).log_prob(short).dtype is taeda.float32
    assert D.Normal(0.0, 1.0).log_prob(short).dtype is taeda.float16  # numbers have no say
    assert D.Normal(short, short).log_prob(short.bfloat16()).dtype is taeda.float32
    assert D.Poisson(short).log_prob(taeda.tensor([2])).dtype is taeda.float16


def test_values_are_checked_as_they_were_given():
    """Probabilities of float16 sum up to 1 in float16."""
    value = taeda.rand(64, 7).softmax(-1).half()
    assert D.Dirichlet(taeda.ones(7).half()).log_prob(value).isfinite().all()
    with pytest.raises(ValueError, match="within the support"):
        D.Dirichlet(taeda.ones(7).half()).log_prob(value * 2)
    with pytest.raises(ValueError, match="must be a Tensor"):
        D.Beta(*taeda.ones(2).half()).log_prob(0.5)
    with pytest.raises(TypeError):
        D.Beta(*taeda.ones(2).half()).log_prob()


class Seen(D.Normal):
    """Of a user: its methods may do anything, and run on the object itself."""

    def log_prob(self, value):
        self.asked = value.dtype
        return super().log_prob(value)


class Doubled(transforms.Transform):
    """Of a user, with weights of 16 bits."""

    bijective, sign = True, 1
    domain = codomain = D.constraints.real

    def _call(self, x):
        assert x.dtype is taeda.float16
        return x * 2

    def _inverse(self, y):
        assert y.dtype is taeda.float16
        return y / 2

    def log_abs_det_jacobian(self, x, y):
        return taeda.full_like(x, math.log(2))


def test_parts_of_users_see_their_own_types():
    one = taeda.ones(1).half()
    seen = Seen(one, one)
    seen.log_prob(one)
    assert seen.asked is taeda.float16
    doubled = Doubled()
    doubled.parts = [doubled]  # whatever a user's parts refer to is not followed
    flow = D.TransformedDistribution(D.Normal(one, one), [doubled])
    assert flow.log_prob(one).dtype is taeda.float16


def test_what_a_cache_holds_is_kept():
    """The inverse of a rounded 1 is infinite; the sample that it was made of is not."""
    base = D.Normal(taeda.tensor([5.0]).half(), taeda.tensor([0.01]).half())
    squashed = D.TransformedDistribution(base, [D.TanhTransform(cache_size=1)])
    sample = squashed.rsample()
    assert sample.item() == 1.0 and squashed.log_prob(sample).isfinite()
