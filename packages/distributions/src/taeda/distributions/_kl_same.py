"""Divergences within one family."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._shapes import sum_rightmost
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .kl import kl_divergence, register
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal, squared_distance
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import euler_constant

__all__: list[str] = []


# ---- counts and categories ----


@register(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    softplus = taeda.nn.functional.softplus
    ones = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    zeros = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    ones = ones.masked_fill(q.probs == 0, taeda.inf).masked_fill(p.probs == 0, 0)
    zeros = zeros.masked_fill(q.probs == 1, taeda.inf).masked_fill(p.probs == 1, 0)
    return ones + zeros


@register(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count * each).masked_fill(p.total_count > q.total_count, taeda.inf)


@register(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    each = p.probs * (p.logits - q.logits)
    each = each.masked_fill((q.probs == 0).expand_as(each), taeda.inf)
    return each.masked_fill((p.probs == 0).expand_as(each), 0).sum(-1)


@register(OneHotCategorical, OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categorical(p._categorical, q._categorical)


@register(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    apart = taeda.xlogy(p.rate, p.rate) - taeda.xlogy(p.rate, q.rate)  # 0 where nothing comes
    return apart - (p.rate - q.rate)


# ---- numbers ----


@register(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    total_p, total_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    normaliser_q = q.concentration1.lgamma() + q.concentration0.lgamma() + total_p.lgamma()
    normaliser_p = p.concentration1.lgamma() + p.concentration0.lgamma() + total_q.lgamma()
    ones = (p.concentration1 - q.concentration1) * p.concentration1.digamma()
    zeros = (p.concentration0 - q.concentration0) * p.concentration0.digamma()
    return normaliser_q - normaliser_p + ones + zeros + (total_q - total_p) * total_p.digamma()


@register(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    tilt = p.mean * (p.logits - q.logits)
    return tilt + p._log_constant() + (-p.probs).log1p() - q._log_constant() - (-q.probs).log1p()


@register(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    total_p, total_q = p.concentration.sum(-1), q.concentration.sum(-1)
    totals = total_p.lgamma() - total_q.lgamma()
    parts = (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    means = p.concentration.digamma() - total_p.digamma().unsqueeze(-1)
    return totals - parts + ((p.concentration - q.concentration) * means).sum(-1)


@register(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    scale = q.concentration * (p.rate / q.rate).log()
    shapes = q.concentration.lgamma() - p.concentration.lgamma()
    tilt = (p.concentration - q.concentration) * p.concentration.digamma()
    return scale + shapes + tilt + (q.rate - p.rate) * (p.concentration / p.rate)


@register(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio, shift = p.scale / q.scale, (p.loc - q.loc) / q.scale
    tail = (-shift + (1 + ratio).lgamma()).exp()
    return -ratio.log() + shift + ratio * euler_constant + tail - (1 + euler_constant)


@register(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


@register(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * (-apart / p.scale).exp() - 1


@register(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    """Chyzak and Nielsen: A closed-form formula for the Kullback-Leibler divergence between Cauchy
    distributions, 2019.
    """
    reach = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return reach.log() - (4 * p.scale * q.scale).log()


@register(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    value = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return value.masked_fill(p.scale < q.scale, taeda.inf)


@register(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    value = ((q.high - q.low) / (p.high - p.low)).log()
    return value.masked_fill((q.low > p.low) | (q.high < p.high), taeda.inf)


# ---- vectors ----


def _gaussians(p: Any, q: Any, trace: Tensor, distance: Tensor, log_dets: Tensor) -> Tensor:
    """From tr(Q^-1 P), the means' distance, and log det Q - log det P."""
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL-divergence between two distributions with different event shapes cannot be computed: "
            f"{tuple(p.event_shape)} and {tuple(q.event_shape)}"
        )
    return 0.5 * (log_dets + trace + distance - p.event_shape[0])


def _log_det(distribution: Any) -> Tensor:
    if isinstance(distribution, LowRankMultivariateNormal):
        return distribution._log_det()
    return 2 * distribution._half_log_det()


def _trace(q_tril: Tensor, factor: Tensor) -> Tensor:
    """tr(Q^-1 F F^T) for Q = L L^T."""
    solved = taeda.linalg.solve_triangular(q_tril, factor, upper=False)
    return solved.pow(2).sum((-2, -1))


@register(MultivariateNormal, MultivariateNormal)
@register(MultivariateNormal, LowRankMultivariateNormal)
@register(LowRankMultivariateNormal, MultivariateNormal)
@register(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        return _gaussians(p, q, *(taeda.zeros(()),) * 3)
    q_tril = q.scale_tril
    distance = squared_distance(q_tril, q.loc - p.loc)
    return _gaussians(p, q, _trace(q_tril, p.scale_tril), distance, _log_det(q) - _log_det(p))


# ---- made of others ----


@register(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("the two make events of different numbers of dimensions")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    """Transforms that are the same change nothing."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("the two are not transformed alike")
    extra = len(p.event_shape) - len(p.base_dist.event_shape)
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), extra)


@register(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """The Bregman divergence of the log normaliser (Nielsen and Nock, 2010)."""
    if type(p) is not type(q):
        raise NotImplementedError(
            f"{type(p).__name__} and {type(q).__name__} are of different exponential families"
        )
    with taeda.enable_grad():
        natural_p = [x.detach().requires_grad_() for x in p._natural_params]
        normaliser_p = p._log_normalizer(*natural_p)
        gradients = taeda.autograd.grad(normaliser_p.sum(), natural_p, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normaliser_p
    for at_p, at_q, gradient in zip(natural_p, q._natural_params, gradients, strict=True):
        result = result - ((at_q - at_p) * gradient).reshape((*result.shape, -1)).sum(-1)
    return result
