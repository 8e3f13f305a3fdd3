"""Mixtures of distributions of one family."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A mixture: `mixture_distribution` chooses along the last batch dimension of `component_distribution`.

    Args:
        mixture_distribution: a Categorical that chooses the component
        component_distribution: the components: a distribution whose last batch dimension counts
            them
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> from taeda.distributions import Categorical, MixtureSameFamily, Normal
    >>> two = MixtureSameFamily(Categorical(taeda.ones(2)), Normal(taeda.tensor([-1.0, 1.0]), 1.0))
    >>> two.mean
    tensor(0.)

    ValueError where the two do not fit together.
    """

    arg_constraints: Any = {}
    _passes_on = True
    has_rsample = False

    def __init__(
        self,
        mixture_distribution: Any,
        component_distribution: Any,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of taeda.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution need to be an instance of taeda.distributions.Distribution"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._check_fit()
        self._num_component = component_distribution.batch_shape[-1]
        shape = component_distribution.batch_shape[:-1]
        super().__init__(shape, component_distribution.event_shape, validate_args)

    def _check_fit(self) -> None:
        chosen, batch = self._mixture_distribution, self._component_distribution.batch_shape
        if len(batch) < 1:
            raise ValueError("component_distribution has no batch dimension to choose along")
        for want, have in zip(reversed(chosen.batch_shape), reversed(batch[:-1]), strict=False):
            if want != 1 and have != 1 and want != have:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({tuple(chosen.batch_shape)}) is not "
                    "compatible with "
                    f"`component_distribution.batch_shape` ({tuple(batch)})"
                )
        if chosen._num_events != batch[-1]:
            raise ValueError(
                f"`mixture_distribution` has {chosen._num_events} components, "
                f"`component_distribution` has {batch[-1]}"
            )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        batch = Size(batch_shape)
        new._component_distribution = self._component_distribution.expand(
            batch + Size((self._num_component,))
        )
        new._mixture_distribution = self._mixture_distribution.expand(batch)
        new._num_component = self._num_component
        Distribution.__init__(new, batch, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """Chooses the component."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components, along the last batch dimension."""
        return self._component_distribution

    def _weights(self) -> Tensor:
        """Probabilities of components, with a dimension for each of the event."""
        probs = self.mixture_distribution.probs
        return probs.reshape(probs.shape + Size((1,) * len(self.event_shape)))

    @property
    def _component_dim(self) -> int:
        return -1 - len(self.event_shape)

    @property
    def mean(self) -> Tensor:
        return (self._weights() * self.component_distribution.mean).sum(self._component_dim)

    @property
    def variance(self) -> Tensor:
        """The mean of the variances, and the variance of the means."""
        weights, dim = self._weights(), self._component_dim
        within = (weights * self.component_distribution.variance).sum(dim)
        apart = self.component_distribution.mean - self.mean.unsqueeze(dim)
        return within + (weights * apart.pow(2)).sum(dim)

    def cdf(self, value: Tensor) -> Tensor:
        shares = self.component_distribution.cdf(value.unsqueeze(self._component_dim))
        return (shares * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        each = self.component_distribution.log_prob(value.unsqueeze(self._component_dim))
        weights = taeda.log_softmax(self.mixture_distribution.logits, dim=-1)
        return taeda.logsumexp(each + weights, dim=-1)

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with taeda.no_grad():
            chosen = self.mixture_distribution.expand(self.batch_shape).sample(sample_shape)
            every = self.component_distribution.sample(sample_shape)
            events = (1,) * len(self.event_shape)
            places = chosen.reshape((*chosen.shape, 1, *events))
            places = places.expand((*chosen.shape, 1, *self.event_shape))
            return every.gather(self._component_dim, places).squeeze(self._component_dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily({self.mixture_distribution}, {self.component_distribution})"
