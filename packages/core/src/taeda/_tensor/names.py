"""Names of dimensions: methods of Tensor. `taeda._names` does the work."""

from __future__ import annotations

from types import EllipsisType
from typing import Any

from .._native import core as _core
from ._method import Tensor, method, set_property


def _names() -> Any:
    from .. import _names as names  # late: it needs Tensor complete

    return names


def _set(self: Tensor, names: Any) -> None:
    self.rename_(*((None,) if names is None else names))


set_property(
    "names",
    lambda self: _names().names_of(self),
    "The names of the dimensions, None for one without.",
    _set,
)


@method
def has_names(self: Tensor) -> bool:
    """Whether a dimension has a name."""
    found = _core.names_of(self)
    return found is not None and any(found)


@method
def rename(self: Tensor, *names: str | EllipsisType | None, **rename_map: str | None) -> Tensor:
    """A view whose dimensions have other names.

    RuntimeError for names that are no identifiers, stand twice, or are not there.

    Args:
        names: a name for each dimension, or None; `...` stands for those that stay. None alone takes
            all names away.
        rename_map: instead of `names`, new names by the old ones.

    >>> taeda.zeros(2, 3, names=("N", "C")).rename(C="channels").names
    ('N', 'channels')
    """
    made: Tensor = _names().rename(self, names, rename_map, in_place=False)
    return made


@method
def rename_(self: Tensor, *names: str | EllipsisType | None, **rename_map: str | None) -> Tensor:
    """`rename` of the tensor itself.

    Args:
        names: as in `rename`.
        rename_map: as in `rename`.
    """
    made: Tensor = _names().rename(self, names, rename_map, in_place=True)
    return made


@method
def refine_names(self: Tensor, *names: str | EllipsisType | None) -> Tensor:
    """A view in which dimensions without a name get one. RuntimeError if one has another name already.

    Args:
        names: a name for each dimension; `...` stands for those that stay.

    >>> taeda.zeros(2, 3, 4).refine_names("N", ...).names
    ('N', None, None)
    """
    made: Tensor = _names().refine_names(self, names)
    return made


@method
def align_to(self: Tensor, *names: str | EllipsisType) -> Tensor:
    """A view whose dimensions stand in the order of `names`, of size 1 where the tensor has none of that
    name. RuntimeError if a dimension has no name, or is not named.

    Args:
        names: the order; `...` stands for the dimensions that are not named otherwise.

    >>> taeda.zeros(2, 3, names=("N", "C")).align_to("C", "H", "N").shape
    taeda.Size([3, 1, 2])
    """
    made: Tensor = _names().align_to(self, names)
    return made


@method
def align_as(self: Tensor, other: Tensor) -> Tensor:
    """`align_to` the names of another tensor.

    Args:
        other: a tensor whose dimensions all have names, among them those of this one.
    """
    made: Tensor = _names().align_to(self, other.names, "align_as")
    return made
