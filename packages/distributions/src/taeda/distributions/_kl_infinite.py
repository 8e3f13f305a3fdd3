"""Divergences that are infinite whatever the parameters: p gives values that q cannot."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
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

__all__: list[str] = []

_BOUNDED: tuple[type, ...] = (Beta, ContinuousBernoulli, Uniform)
_POSITIVE: tuple[type, ...] = (Exponential, Gamma)
#: from where no q of the second list gives all values
_NEVER: dict[type, tuple[type, ...]] = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (*_BOUNDED, Pareto),
    Gamma: (*_BOUNDED, Pareto),
    Gumbel: (*_BOUNDED, *_POSITIVE, Pareto),
    Laplace: (*_BOUNDED, *_POSITIVE, Pareto),
    Normal: (*_BOUNDED, *_POSITIVE, Pareto),
    Pareto: _BOUNDED,
    Poisson: (Bernoulli, Binomial),
}


def _infinite(p: Any, q: Any) -> Tensor:
    shape = taeda.broadcast_shapes(p.batch_shape, q.batch_shape)
    like = p.mean
    return taeda.full(shape, taeda.inf, dtype=like.dtype, device=like.device)


for _p, _others in _NEVER.items():
    for _q in _others:
        register(_p, _q)(_infinite)
