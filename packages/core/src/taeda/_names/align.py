"""Dimensions in the order of names: what `align_to`, `align_as` and `align_tensors` do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._layers import NAMES, hidden
from .dims import Names, checked, give, names_of

if TYPE_CHECKING:
    from taeda import Tensor

__all__ = ["align_tensors", "align_to"]


def align_to(self: Tensor, names: Sequence[Any], method: str = "align_to") -> Tensor:
    """A view whose dimensions stand in the order of `names`, with one of size 1 for each name that the
    tensor has not. RuntimeError if a dimension has no name, or if its name is not among `names`.
    """
    own = names_of(self)
    if None in own:
        raise RuntimeError(
            f"{method}: all dimensions have to have names, got {list(own)}. Use refine_names() first"
        )
    order = _order(own, names, method)
    missing = [name for name in own if name not in order]
    if missing:
        raise RuntimeError(
            f"{method}: dim {missing[0]!r} of {list(own)} is not among {list(order)}"
        )
    kept = [own.index(name) for name in order if name in own]
    with hidden(NAMES):
        made = self.permute(kept)
        for at, name in enumerate(order):
            made = made if name in own else made.unsqueeze(at)
        return give(made, order)


def _order(own: Names, names: Sequence[Any], method: str) -> Names:
    """`names` with those that it does not mention in place of an ellipsis."""
    whole = [item is ... or item == "..." for item in names]
    if sum(whole) > 1:
        raise RuntimeError(f"{method}: more than one ellipsis in {list(names)}")
    order = list(names)
    if any(whole):
        at = whole.index(True)
        order[at : at + 1] = [name for name in own if name not in names]
    if None in order:
        raise RuntimeError(f"{method}: every place of {order} has to have a name")
    return checked(order, len(order))


def align_tensors(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of the tensors with the dimensions of the one that has most of them, in its order."""
    longest = names_of(max(tensors, key=lambda x: x.dim())) if tensors else ()
    return tuple(align_to(x, longest, "align_tensors") for x in tensors)
