"""Other names for the dimensions of a tensor: all, some, or those that have none yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._layers import NAMES, hidden
from .dims import Names, checked, give, names_of

if TYPE_CHECKING:
    from taeda import Tensor

__all__ = ["refine_names", "rename"]


def rename(self: Tensor, names: Sequence[Any], renamed: dict[str, Any], in_place: bool) -> Tensor:
    """`rename(*names)`, `rename(None)` or `rename(old=new)`: a view, or the tensor itself in place."""
    method = "rename_" if in_place else "rename"
    if names and renamed:
        raise RuntimeError(
            f"{method}: give new names for all dimensions, or None to take them away, or old=new; got "
            f"{list(names)} and {renamed}"
        )
    known = _replaced(self, renamed, method) if renamed else _listed(self, names, method)
    return give(self if in_place else _view(self), known)


def _view(self: Tensor) -> Tensor:
    with hidden(NAMES):
        return self.view_as(self)


def _replaced(self: Tensor, renamed: dict[str, Any], method: str) -> Names:
    names = names_of(self)
    for old in renamed:
        if old not in names:
            raise RuntimeError(f"{method}: there is no dimension {old!r} in {list(names)}")
    return checked([renamed.get(name, name) if name else name for name in names], self.dim())


def _listed(self: Tensor, names: Sequence[Any], method: str) -> Names:
    if len(names) == 1 and names[0] is None:
        return (None,) * self.dim()
    return checked(_spread(self, names, method), self.dim())


def _spread(self: Tensor, names: Sequence[Any], method: str) -> list[Any]:
    """`names` with the tensor's own in place of an ellipsis."""
    whole = [item is ... or item == "..." for item in names]
    if not any(whole):
        return list(names)
    if sum(whole) > 1:
        raise RuntimeError(f"{method}: more than one ellipsis in {list(names)}")
    at, more = whole.index(True), self.dim() - (len(names) - 1)
    if more < 0:
        raise RuntimeError(f"{method}: {len(names) - 1} names for {self.dim()} dimensions")
    return [*names[:at], *names_of(self)[at : at + more], *names[at + 1 :]]


def refine_names(self: Tensor, names: Sequence[Any]) -> Tensor:
    """A view whose dimensions without a name get those of `names`; RuntimeError for another name than one
    that is there.
    """
    wanted = checked(_spread(self, names, "refine_names"), self.dim())
    for own, new in zip(names_of(self), wanted, strict=True):
        if own is not None and own != new:
            raise RuntimeError(
                f"refine_names: cannot refine {list(names_of(self))} to {list(wanted)}: dim {own!r} has a "
                f"name, which cannot become {new!r}. Use rename()"
            )
    return give(_view(self), wanted)
