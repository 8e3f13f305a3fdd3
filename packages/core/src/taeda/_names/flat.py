"""`flatten` and `unflatten` by names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._layers import NAMES, hidden
from .._native import core as _core
from .dims import checked, give, names_of, place

if TYPE_CHECKING:
    from taeda import Tensor

__all__ = ["flatten", "unflatten"]


def flatten(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """`flatten(dims, out_dim)` or `flatten(start_dim, end_dim, out_dim)`: dimensions that stand one after the
    other become one of the name `out_dim`. TypeError for other arguments, RuntimeError for dimensions that
    do not stand one after the other.
    """
    words = (
        ("dims", "out_dim") if len(args) + len(kwargs) == 2 else ("start_dim", "end_dim", "out_dim")
    )
    given = dict(zip(words, args, strict=False)) | kwargs
    listed = not isinstance(given.get("dims", ()), str)
    if set(given) != set(words) or not isinstance(given["out_dim"], str) or not listed:
        raise TypeError(
            "flatten by names: wanted flatten(dims, out_dim) or flatten(start_dim, end_dim, out_dim), where "
            f"out_dim is the name of the new dimension; got {list(given.values())}"
        )
    if "dims" in given:
        where = [_at(self, dim) for dim in given["dims"]]
    else:
        where = list(range(_at(self, given["start_dim"]), _at(self, given["end_dim"]) + 1))
    if not where or where != list(range(where[0], where[0] + len(where))):
        raise RuntimeError(
            f"flatten: the dims {list(given.values())[:-1]} do not stand one after the other in "
            f"{list(names_of(self))}"
        )
    names = list(names_of(self))
    names[where[0] : where[-1] + 1] = [given["out_dim"]]
    known = checked(names, len(names))
    with hidden(NAMES):
        made = _core.functions[""]["flatten"](self, where[0], where[-1])
        return give(made if made is not self else made.view_as(made), known)


def unflatten(self: Tensor, dim: Any, sizes: Any, names: Any = None) -> Tensor:
    """`unflatten(dim, [(name, size), ...])`, or sizes and names apart: one dimension becomes several."""
    pairs = [*sizes] if names is None else [*zip(names, sizes, strict=True)]
    if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
        raise TypeError(
            f"unflatten by names: wanted pairs of a name and a size, such as ('C', 3); got {sizes!r}"
        )
    at = _at(self, dim)
    known = list(names_of(self))
    known[at : at + 1] = [name for name, _ in pairs]
    with hidden(NAMES):
        made = _core.functions[""]["unflatten"](self, at, [size for _, size in pairs])
        return give(made, checked(known, made.dim()))


def _at(self: Tensor, dim: Any) -> int:
    return place(self, dim) if isinstance(dim, str) else int(dim) % max(self.dim(), 1)
