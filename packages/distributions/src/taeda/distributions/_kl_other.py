"""Divergences between two families: minus the entropy of p, minus the mean under p of log q."""

from __future__ import annotations

import math

import taeda
from taeda import Tensor

from .bernoulli import Bernoulli
from .beta import Beta
from .continuous_bernoulli import ContinuousBernoulli
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .kl import register
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant

__all__: list[str] = []


# ---- q is normal: its log needs mean and variance of p only ----


def _to_normal(p: Beta, q: Normal) -> Tensor:
    spread = (p.variance + (p.mean - q.loc).pow(2)) / q.scale.pow(2)
    return -p.entropy() + q.scale.log() + 0.5 * (math.log(2 * math.pi) + spread)


for _type in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Uniform):
    register(_type, Normal)(_to_normal)


@register(Pareto, Normal)
def _pareto_normal(p: Pareto, q: Normal) -> Tensor:
    return _to_normal(p, q).masked_fill(p.alpha <= 2, taeda.inf)  # type: ignore[arg-type]


# ---- q is exponential: its log needs the mean of p ----


def _to_exponential(p: Beta, q: Exponential) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


for _type in (Beta, ContinuousBernoulli, Gamma):
    register(_type, Exponential)(_to_exponential)


@register(Pareto, Exponential)
def _pareto_exponential(p: Pareto, q: Exponential) -> Tensor:
    return _to_exponential(p, q).masked_fill(p.alpha <= 1, taeda.inf)  # type: ignore[arg-type]


@register(Uniform, Exponential)
def _uniform_exponential(p: Uniform, q: Exponential) -> Tensor:
    return _to_exponential(p, q).masked_fill(p.low < 0, taeda.inf)  # type: ignore[arg-type]


# ---- q is gamma: its log needs the means of x and of log x ----


def _to_gamma(p: Beta, mean_log: Tensor, q: Gamma) -> Tensor:
    normaliser = q.concentration.lgamma() - q.concentration * q.rate.log()
    return -p.entropy() + normaliser - (q.concentration - 1) * mean_log + q.rate * p.mean


@register(Beta, Gamma)
def _beta_gamma(p: Beta, q: Gamma) -> Tensor:
    mean_log = p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    return _to_gamma(p, mean_log, q)


@register(Exponential, Gamma)
def _exponential_gamma(p: Exponential, q: Gamma) -> Tensor:
    return _to_gamma(p, -euler_constant - p.rate.log(), q)  # type: ignore[arg-type]


@register(Pareto, Gamma)
def _pareto_gamma(p: Pareto, q: Gamma) -> Tensor:
    mean_log = p.scale.log() + p.alpha.reciprocal()
    return _to_gamma(p, mean_log, q).masked_fill(p.alpha <= 1, taeda.inf)  # type: ignore[arg-type]


def _uniform_mean_log(p: Uniform) -> Tensor:
    """The mean of log x for x from low to high, neither below 0."""
    return (taeda.xlogy(p.high, p.high) - taeda.xlogy(p.low, p.low)) / (p.high - p.low) - 1


@register(Uniform, Gamma)
def _uniform_gamma(p: Uniform, q: Gamma) -> Tensor:
    return _to_gamma(p, _uniform_mean_log(p), q).masked_fill(p.low < 0, taeda.inf)  # type: ignore[arg-type]


# ---- q is uniform: is p within its bounds? ----


@register(Beta, Uniform)
def _beta_uniform(p: Beta, q: Uniform) -> Tensor:
    value = -p.entropy() + (q.high - q.low).log()
    return value.masked_fill((q.low > 0) | (q.high < 1), taeda.inf)


@register(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p: ContinuousBernoulli, q: Uniform) -> Tensor:
    return _beta_uniform(p, q)  # type: ignore[arg-type]


# ---- q is Gumbel: its log needs the mean of exp(-x / scale) ----


def _to_gumbel(p: Normal, mean_exp: Tensor, q: Gumbel) -> Tensor:
    shift = (p.mean - q.loc) / q.scale
    return -p.entropy() + q.scale.log() + shift + mean_exp


@register(Normal, Gumbel)
def _normal_gumbel(p: Normal, q: Gumbel) -> Tensor:
    shift, ratio = (p.loc - q.loc) / q.scale, p.scale / q.scale
    return _to_gumbel(p, (0.5 * ratio.pow(2) - shift).exp(), q)


@register(Exponential, Gumbel)
def _exponential_gumbel(p: Exponential, q: Gumbel) -> Tensor:
    product = p.rate * q.scale
    mean_exp = (q.loc / q.scale).exp() * product / (product + 1)
    return _to_gumbel(p, mean_exp, q)  # type: ignore[arg-type]


@register(Gamma, Gumbel)
def _gamma_gumbel(p: Gamma, q: Gumbel) -> Tensor:
    product = p.rate * q.scale
    mean_exp = (q.loc / q.scale).exp() * (1 + product.reciprocal()).pow(-p.concentration)
    return _to_gumbel(p, mean_exp, q)  # type: ignore[arg-type]


@register(Uniform, Gumbel)
def _uniform_gumbel(p: Uniform, q: Gumbel) -> Tensor:
    low, high = (q.loc - p.low) / q.scale, (q.loc - p.high) / q.scale
    mean_exp = (low.exp() - high.exp()) * q.scale / (p.high - p.low)
    return _to_gumbel(p, mean_exp, q)  # type: ignore[arg-type]


# ---- others ----


@register(Normal, Laplace)
def _normal_laplace(p: Normal, q: Laplace) -> Tensor:
    apart = p.loc - q.loc
    z = apart / p.scale
    density = math.sqrt(2 / math.pi) * p.scale * (-0.5 * z.pow(2)).exp()
    mean_distance = density + apart * taeda.erf(math.sqrt(0.5) * z)
    return -p.entropy() + (2 * q.scale).log() + mean_distance / q.scale


@register(Uniform, Beta)
def _uniform_beta(p: Uniform, q: Beta) -> Tensor:
    width = p.high - p.low
    mean_log_rest = (
        taeda.xlogy(1 - p.low, 1 - p.low) - taeda.xlogy(1 - p.high, 1 - p.high)
    ) / width - 1
    total = (q.concentration1 + q.concentration0).lgamma()
    normaliser = q.concentration1.lgamma() + q.concentration0.lgamma() - total
    tilt = (q.concentration1 - 1) * _uniform_mean_log(p) + (q.concentration0 - 1) * mean_log_rest
    return (-p.entropy() + normaliser - tilt).masked_fill((p.high > 1) | (p.low < 0), taeda.inf)


def _to_continuous_bernoulli(p: Beta, q: ContinuousBernoulli) -> Tensor:
    return -p.entropy() - p.mean * q.logits - (-q.probs).log1p() - q._log_constant()


register(Beta, ContinuousBernoulli)(_to_continuous_bernoulli)


@register(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Uniform, q: ContinuousBernoulli) -> Tensor:
    value = _to_continuous_bernoulli(p, q)  # type: ignore[arg-type]
    return value.masked_fill((p.high >= 1) | (p.low < 0), taeda.inf)


@register(Uniform, Pareto)
def _uniform_pareto(p: Uniform, q: Pareto) -> Tensor:
    value = (q.alpha + 1) * _uniform_mean_log(p) - (
        q.alpha * q.scale.pow(q.alpha) * (p.high - p.low)
    ).log()
    return value.masked_fill(p.low < q.scale, taeda.inf)


@register(Bernoulli, Poisson)
def _bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)
