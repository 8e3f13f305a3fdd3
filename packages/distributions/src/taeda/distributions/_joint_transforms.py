"""Transforms made of others."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Size, Tensor

from . import constraints
from ._shapes import sum_rightmost
from ._transform import Transform, with_dims

__all__ = [
    "CatTransform",
    "ComposeTransform",
    "IndependentTransform",
    "ReshapeTransform",
    "StackTransform",
    "identity_transform",
]


class ComposeTransform(Transform):
    """Transforms one after the other, the first of the list first.

    Args:
        parts: the transforms, from the first that is applied to the last
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither (default: 0)

    >>> from taeda.distributions import AffineTransform, ComposeTransform, ExpTransform
    >>> ComposeTransform([AffineTransform(0.0, 2.0), ExpTransform()])(taeda.zeros(2))
    tensor([1., 1.])
    """

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.parts = [p.with_cache(cache_size) for p in parts] if cache_size else list(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = Transform.__hash__

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """The first domain, with as many dimensions as any part along the way needs."""
        if not self.parts:
            return constraints.real
        event_dim = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            event_dim += part.domain.event_dim - part.codomain.event_dim
            event_dim = max(event_dim, part.domain.event_dim)
        return _widened(self.parts[0].domain, event_dim)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """The last codomain, with as many dimensions as any part along the way needs."""
        if not self.parts:
            return constraints.real
        event_dim = self.parts[0].domain.event_dim
        for part in self.parts:
            event_dim += part.codomain.event_dim - part.domain.event_dim
            event_dim = max(event_dim, part.codomain.event_dim)
        return _widened(self.parts[-1].codomain, event_dim)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(p.bijective for p in self.parts)

    @property
    def sign(self) -> Any:
        sign: Any = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    @property
    def inv(self) -> Transform:
        made = self._inv() if self._inv is not None else None
        if made is None:
            made = ComposeTransform([p.inv for p in reversed(self.parts)])
            self._inv, made._inv = weakref.ref(made), weakref.ref(self)
        return made

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        if not self.parts:
            return taeda.zeros_like(x)
        points = [x]
        for part in self.parts[:-1]:
            points.append(part(points[-1]))
        points.append(y)
        total: Any = 0.0
        event_dim = self.domain.event_dim
        for part, before, after in zip(self.parts, points, points[1:], strict=False):
            one = part.log_abs_det_jacobian(before, after)
            total = total + sum_rightmost(one, event_dim - part.domain.event_dim)
            event_dim += part.codomain.event_dim - part.domain.event_dim
        return total

    def forward_shape(self, shape: Size) -> Size:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Size) -> Size:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        parts = ",\n    ".join(repr(p) for p in self.parts)
        return f"{type(self).__name__}(\n    {parts}\n)"


def _widened(constraint: Any, event_dim: int) -> Any:
    extra = event_dim - constraint.event_dim
    return constraints.independent(constraint, extra) if extra > 0 else constraint


identity_transform = ComposeTransform([])
identity_transform.__doc__ = """The transform that gives back what it gets.

Args:
    x: a tensor of any shape and dtype, which is returned itself

>>> from taeda.distributions import identity_transform
>>> identity_transform(taeda.tensor([1.0, 2.0]))
tensor([1., 2.])
"""


class IndependentTransform(Transform):
    """A transform whose last batch dimensions are taken for dimensions of an event.

    Args:
        base_transform: the transform that is applied to each element
        reinterpreted_batch_ndims: how many of the last batch dimensions become part of the event,
            at least 0
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither (default: 0)

    >>> from taeda.distributions import ExpTransform, IndependentTransform
    >>> IndependentTransform(ExpTransform(), 1).log_abs_det_jacobian(taeda.ones(3), taeda.ones(3).exp())
    tensor(3.)
    """

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        result = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(result, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Size) -> Size:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Size) -> Size:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """The last dimensions in another shape of as many elements.

    ValueError where the two shapes have different numbers of elements.

    Args:
        in_shape: the sizes of an event before
        out_shape: the sizes of an event after, with as many elements
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither (default: 0)

    >>> from taeda.distributions import ReshapeTransform
    >>> ReshapeTransform((4,), (2, 2))(taeda.zeros(3, 4)).shape
    taeda.Size([3, 2, 2])
    """

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError(
                f"in_shape {tuple(in_shape)}, out_shape {tuple(out_shape)} have different numbers of elements"
            )
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size)

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.size()[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Size) -> Size:
        return _replaced(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Size) -> Size:
        return _replaced(shape, self.out_shape, self.in_shape)


def _replaced(shape: Size, old: Size, new: Size) -> Size:
    cut = len(with_dims(shape, len(old))) - len(old)
    if shape[cut:] != old:
        raise ValueError(f"Shape mismatch: expected {tuple(shape[cut:])} but got {tuple(old)}")
    return shape[:cut] + new


class CatTransform(Transform):
    """Transforms side by side along `dim`, each over so many places of it.

    ValueError where the dimension is of another length than `lengths` in all.

    Args:
        tseq: the transforms, one for each part
        dim: the dimension along which the parts lie; negative counts from the end (default: 0)
        lengths: the sizes of the parts along dim; 1 each if None
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither (default: 0)

    >>> from taeda.distributions import CatTransform, ExpTransform, TanhTransform
    >>> CatTransform([ExpTransform(), TanhTransform()], 0, [1, 1])(taeda.zeros(2))
    tensor([1., 0.])
    """

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise ValueError(
                f"{len(self.transforms)} transforms need as many lengths, got {len(self.lengths)}"
            )
        self.dim = dim

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """How many places there are."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, value: Tensor) -> Sequence[Tensor]:
        if value.size(self.dim) != self.length:
            raise ValueError(
                f"expected {self.length} places along dimension {self.dim}, got {value.size(self.dim)}"
            )
        return taeda.split(value, self.lengths, self.dim)

    def _call(self, x: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._parts(x), strict=True)
        return taeda.cat([t(part) for t, part in pairs], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._parts(y), strict=True)
        return taeda.cat([t.inv(part) for t, part in pairs], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        found = []
        for t, before, after in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            one = t.log_abs_det_jacobian(before, after)
            found.append(sum_rightmost(one, self.event_dim - t.event_dim))
        dim = self.dim if self.dim < 0 else self.dim - x.dim()
        return (
            taeda.cat(found, dim + self.event_dim)
            if dim + self.event_dim < 0
            else sum(found[1:], found[0])
        )

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(t.bijective for t in self.transforms)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(Transform):
    """Transforms side by side along `dim`, each over one place of it.

    ValueError where the dimension is longer or shorter than the list.

    Args:
        tseq: the transforms, one for each part
        dim: the dimension that counts the parts; negative counts from the end (default: 0)
        cache_size: 1 to keep the last input and result, so that the inverse of a result is the
            input itself; 0 for neither (default: 0)

    >>> from taeda.distributions import ExpTransform, StackTransform, TanhTransform
    >>> StackTransform([ExpTransform(), TanhTransform()])(taeda.zeros(2))
    tensor([1., 0.])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _parts(self, value: Tensor) -> Sequence[Tensor]:
        if value.size(self.dim) != len(self.transforms):
            raise ValueError(
                f"expected {len(self.transforms)} places along dimension {self.dim}, got "
                f"{value.size(self.dim)}"
            )
        return value.unbind(self.dim)

    def _call(self, x: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._parts(x), strict=True)
        return taeda.stack([t(part) for t, part in pairs], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._parts(y), strict=True)
        return taeda.stack([t.inv(part) for t, part in pairs], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        wanted = self.domain.event_dim
        dim = self.dim if self.dim < 0 else self.dim - x.dim()
        # the stacked dimension is one of an event's, which has one number
        inside = dim + wanted >= 0
        found = []
        for t, before, after in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            one = t.log_abs_det_jacobian(before, after)
            found.append(sum_rightmost(one, wanted - inside - t.domain.event_dim))
        return sum(found[1:], found[0]) if inside else taeda.stack(found, dim + wanted)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(t.bijective for t in self.transforms)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
