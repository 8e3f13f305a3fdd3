"""The base of all distributions: shapes, validation, expansion."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import taeda
from taeda import Size, Tensor

from . import constraints
from ._short_floats import has_short_parts, rounds_once
from .utils import lazy_property

__all__ = ["Distribution"]


def _unsaid(name: str) -> Any:
    """A property for what a subclass says of itself, as an attribute or as a property."""

    def missing(self: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say its {name}")

    return property(missing)


class Distribution:
    """A distribution over tensors of `event_shape`, one for every element of `batch_shape`.

    Subclasses name their parameters in `_dims`, each with the number of its last dimensions that
    belong to an event; `expand` and the text of a distribution follow from that.

    Args:
        batch_shape: the sizes of the parameters: of draws that do not depend on each other
        event_shape: the sizes of one draw
        validate_args: whether parameters, and values given to `log_prob`, are checked, with a
            ValueError for wrong ones; None for the class's default, which is on

    >>> normal = taeda.distributions.Normal(taeda.zeros(3), taeda.ones(3))
    >>> normal.batch_shape, normal.sample((2,)).shape, normal.mean
    (taeda.Size([3]), taeda.Size([2, 3]), tensor([0., 0., 0.]))
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args: bool = __debug__
    _dims: ClassVar[dict[str, int]] = {}
    #: the set that each parameter lies in, by name
    arg_constraints: Any = _unsaid("arg_constraints")
    #: the set that samples lie in
    support: Any = _unsaid("support")

    #: whether values go to its parts as they are, which compute in float32 themselves; see `_short_floats.py`
    _passes_on: ClassVar[bool] = False
    #: whether a parameter has 16 bits
    _is_short: bool = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith(__name__.rpartition(".")[0] + "."):
            rounds_once(cls)

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check parameters and values when nothing else is said; True unless
        Python runs with -O.
        """
        if value not in (True, False):
            raise ValueError(f"validate_args is True or False, got {value!r}")
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Size = Size(),
        event_shape: Size = Size(),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape, self._event_shape = batch_shape, event_shape
        if has_short_parts(self):
            self._is_short = True
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self) -> None:
        for name, constraint in self._constraints_or_none().items():
            computed = name not in self.__dict__ and isinstance(
                getattr(type(self), name, None), lazy_property
            )
            if computed or constraints.is_dependent(constraint):
                continue
            value = getattr(self, name)
            valid = constraint.check(value)
            if not valid.all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def _constraints_or_none(self) -> dict[str, constraints.Constraint]:
        try:
            return self.arg_constraints
        except NotImplementedError:
            return {}

    # ---- shapes ----

    @property
    def batch_shape(self) -> Size:
        """The shape over which parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of a single sample."""
        return self._event_shape

    def expand(self, batch_shape: Any, _instance: Any = None) -> Self:
        """The distribution with its parameters expanded to a batch shape; no memory is copied."""
        new = self._get_checked_instance(type(self), _instance)
        batch = Size(batch_shape)
        if "_computed" in self.__dict__:
            new.__dict__["_computed"] = set(self.__dict__["_computed"])
        for name, event_dims in self._dims.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                kept = value.shape[value.dim() - event_dims :]
                setattr(new, name, value.expand((*batch, *kept)))
        self._expand_rest(new, batch)
        Distribution.__init__(new, batch, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _expand_rest(self, new: Self, batch_shape: Size) -> None:
        """What `expand` sets besides the tensors of `_dims`."""

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """An empty object to expand into. A subclass with an `__init__` of its own says itself how
        it expands.
        """
        own = type(self).__init__ is not cls.__init__  # type: ignore[misc]
        if _instance is None and own:
            raise NotImplementedError(
                f"{type(self).__name__} has an __init__ of its own, so it needs an expand() of its own"
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    def _extended_shape(self, sample_shape: Any = Size()) -> Size:
        return Size(sample_shape) + self._batch_shape + self._event_shape

    # ---- what a distribution offers ----

    @property
    def mean(self) -> Tensor:
        """The mean, of shape batch_shape + event_shape."""
        raise NotImplementedError(f"{type(self).__name__} has no mean")

    @property
    def mode(self) -> Tensor:
        """The likeliest value, of shape batch_shape + event_shape."""
        raise NotImplementedError(f"{type(self).__name__} does not have a mode")

    @property
    def variance(self) -> Tensor:
        """The variance, of shape batch_shape + event_shape."""
        raise NotImplementedError(f"{type(self).__name__} has no variance")

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples of shape sample_shape + batch_shape + event_shape, without a gradient."""
        with taeda.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Samples through which gradients flow to the parameters; NotImplementedError unless
        `has_rsample`.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no reparameterised samples: use sample()"
        )

    def sample_n(self, n: int) -> Tensor:
        """`sample((n,))`, as older programs write it."""
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of density or probability, of the values' shape without event_shape."""
        raise NotImplementedError(f"{type(self).__name__} has no log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The share of the distribution up to each value."""
        raise NotImplementedError(f"{type(self).__name__} has no cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of `cdf`."""
        raise NotImplementedError(f"{type(self).__name__} has no icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values, along a new first dimension; with `expand` for every element of the batch."""
        raise NotImplementedError(f"{type(self).__name__} has no finite support")

    def entropy(self) -> Tensor:
        """The entropy in nats, of shape batch_shape."""
        raise NotImplementedError(f"{type(self).__name__} has no entropy")

    def perplexity(self) -> Tensor:
        """exp of the entropy."""
        return self.entropy().exp()

    def _inside(self, value: Tensor) -> Tensor:
        """The values, those outside of the support moved to its nearer end, where `cdf` is 0 or 1."""
        support = self.support
        for name, move in (
            ("lower_bound", taeda.Tensor.clamp_min),
            ("upper_bound", taeda.Tensor.clamp_max),
        ):
            bound = getattr(support, name, None)
            if bound is not None:
                value = move(value, bound)
        return value

    # ---- checks and text ----

    def _validate_sample(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ValueError(f"The value argument must be a Tensor, got {type(value).__name__}")
        begin = len(value.size()) - len(self._event_shape)
        if value.size()[max(begin, 0) :] != self._event_shape or begin < 0:
            raise ValueError(
                f"The right-most size of value must match event_shape: {tuple(value.size())} vs "
                f"{tuple(self._event_shape)}"
            )
        shape = self._batch_shape + self._event_shape
        for have, want in zip(reversed(value.size()), reversed(shape), strict=False):
            if 1 not in (have, want) and have != want:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{tuple(value.size())} vs {tuple(shape)}"
                )
        self._check_support(value)

    def _check_support(self, value: Tensor) -> None:
        try:
            support = self.support
        except NotImplementedError:
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument (Tensor of shape {tuple(value.shape)}) to be within the "
                f"support ({support!r}) of the "
                f"distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        names = [name for name in self._constraints_or_none() if name in self.__dict__]
        shown = [f"{name}: {_shown(self.__dict__[name])}" for name in names]
        return f"{type(self).__name__}({', '.join(shown)})"


def _shown(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    return value.item() if value.numel() == 1 else value.size()


rounds_once(Distribution)
