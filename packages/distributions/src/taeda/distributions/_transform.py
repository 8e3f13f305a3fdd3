"""What all transforms have: a cache, an inverse, shapes."""

from __future__ import annotations

import weakref
from typing import Any

from taeda import Size, Tensor

__all__ = ["Transform", "with_dims"]


class Transform:
    """A map with an inverse: `t(x)`, `t.inv(y)`, `t.log_abs_det_jacobian(x, y)`.

    Subclasses define `_call`, `_inverse`, `log_abs_det_jacobian`, `domain` and `codomain`. With
    `cache_size=1` the last pair is kept, so that the inverse of a result is its very argument,
    though the inverse may be inexact or dear.

    Args:
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither (default: 0)

    >>> from taeda.distributions.transforms import ExpTransform
    >>> transform = ExpTransform()
    >>> x = taeda.tensor([0.0, 1.0])
    >>> transform(x), transform.inv(transform(x))
    (tensor([1.0000, 2.7183]), tensor([0., 1.]))
    """

    bijective = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError(f"cache_size is 0 or 1, got {cache_size}")
        self._cache_size = cache_size
        self._inv: weakref.ref[Transform] | None = None
        self._cached_x_y: tuple[Any, Any] = (None, None)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> int:
        """How many dimensions belong together, where that is the same before and after."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        """The inverse, whose inverse is this very transform."""
        made = self._inv() if self._inv is not None else None
        if made is None:
            made = _InverseTransform(self)
            self._inv = weakref.ref(made)
        return made

    @property
    def sign(self) -> Any:
        """1 where the map rises, -1 where it falls; of maps of single numbers only."""
        raise NotImplementedError(f"{type(self).__name__} has no sign")

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform with a cache of that size."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self).__name__}.with_cache is not implemented")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __call__(self, x: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._call(x)
        old_x, old_y = self._cached_x_y
        if x is old_x:
            return old_y
        y = self._call(x)
        self._cached_x_y = x, y
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._inverse(y)
        old_x, old_y = self._cached_x_y
        if y is old_y:
            return old_x
        x = self._inverse(y)
        self._cached_x_y = x, y
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no forward map")

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no inverse")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        """log |det dy/dx|, given both ends."""
        raise NotImplementedError(f"{type(self).__name__} has no log_abs_det_jacobian")

    def forward_shape(self, shape: Size) -> Size:
        """The shape of results of arguments of `shape`."""
        return shape

    def inverse_shape(self, shape: Size) -> Size:
        """The shape of arguments of results of `shape`."""
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _InverseTransform(Transform):
    """A transform read from its other end."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._forward = transform

    @property
    def domain(self) -> Any:
        return self._forward.codomain

    @property
    def codomain(self) -> Any:
        return self._forward.domain

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self._forward.bijective

    @property
    def sign(self) -> Any:
        return self._forward.sign

    @property
    def inv(self) -> Transform:
        return self._forward

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._forward.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._forward == other._forward

    __hash__ = Transform.__hash__

    def __call__(self, x: Tensor) -> Tensor:
        return self._forward._inv_call(x)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        return -self._forward.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Size) -> Size:
        return self._forward.inverse_shape(shape)

    def inverse_shape(self, shape: Size) -> Size:
        return self._forward.forward_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._forward!r})"


def with_dims(shape: Size, dims: int) -> Size:
    """The shape, if it has so many dimensions.

    Args:
        dims: how many of the last dimensions
    """
    if len(shape) < dims:
        raise ValueError("Too few dimensions on input")
    return shape
