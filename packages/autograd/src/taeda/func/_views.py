"""Views as operators: what a view becomes without aliases, and a tensor with other contents where a
view of it was written.

`put(parent, view, made)` is the parent with `made` in the view's place: the inverse of the view
where it keeps all elements, a scatter where it leaves some out, and by the numbers of the elements
for whatever has no inverse of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs as _core

__all__ = ["RESHAPES", "View", "copied", "put", "put_through", "repeats"]

Call = Callable[..., Any]


@dataclass
class View:
    """How a tensor came from another one: `op(*args)`, whose first argument was `parent`; `place`
    is its number among several.
    """

    op: str
    args: tuple[Any, ...]
    parent: Tensor
    shape: tuple[int, ...]
    place: int | None = None

    def of(self, parent: Tensor, call: Call) -> Tensor:
        """The same view of another tensor."""
        made = call(self.op, (parent, *self.args[1:]))
        found: Tensor = made if self.place is None else made[self.place]
        return found


# ---- put ----


def put(parent: Tensor, view: View, made: Tensor, call: Call) -> Tensor:
    """`parent` with `made` where `view` looks.
    NotImplementedError where elements cannot be told from their places.
    """
    inverse = _INVERSES.get(view.op) or _INVERSES.get(view.op.partition(".")[0])
    if inverse is not None and view.place is None:
        found: Tensor = inverse(parent, view, made, call)
    else:
        found = _by_numbers(parent, view, made, call)
    return found


def _select(parent: Tensor, view: View, made: Tensor, call: Call) -> Any:
    return call("select_scatter", (parent, made, *view.args[1:]))


def _slice(parent: Tensor, view: View, made: Tensor, call: Call) -> Any:
    return call("slice_scatter", (parent, made, *view.args[1:]))


def _diagonal(parent: Tensor, view: View, made: Tensor, call: Call) -> Any:
    return call("diagonal_scatter", (parent, made, *view.args[1:]))


def _same(parent: Tensor, view: View, made: Tensor, call: Call) -> Any:
    return made


def _other_dtype(parent: Tensor, view: View, made: Tensor, call: Call) -> Any:
    return call("view.dtype", (made, parent.dtype))


def _real_pairs(parent: Tensor, view: View, made: Tensor, call: Call) -> Any:
    return call("view_as_complex", (made,))


def _complex_numbers(parent: Tensor, view: View, made: Tensor, call: Call) -> Any:
    return call("view_as_real", (made,))


def _reshaped(parent: Tensor, view: View, made: Tensor, call: Call) -> Any:
    return call("reshape", (made, tuple(parent.shape)))


def _permuted(parent: Tensor, view: View, made: Tensor, call: Call) -> Any:
    order = _order(parent, view)
    return call("permute", (made, tuple(order.index(d) for d in range(len(order)))))


def _order(parent: Tensor, view: View) -> list[int]:
    """Which dimension of the parent each one of the view is: sizes of a stand-in tell them apart."""
    stand_in = taeda.empty([d + 2 for d in range(parent.dim())], device="meta")
    made: Tensor = _core.call_backend(view.op, (stand_in, *view.args[1:]))
    return [n - 2 for n in made.shape]


RESHAPES = (
    "view", "reshape", "view_as", "reshape_as", "flatten", "unflatten", "ravel", "squeeze", "unsqueeze",
)  # fmt: skip
_PERMUTES = ("permute", "transpose", "t", "swapaxes", "swapdims", "movedim", "numpy_T", "mT")
_INVERSES: dict[str, Any] = {
    "select": _select, "slice": _slice, "diagonal": _diagonal, "alias": _same, "detach": _same,
    "view.dtype": _other_dtype, "view_as_real": _real_pairs, "view_as_complex": _complex_numbers,
    **dict.fromkeys(RESHAPES, _reshaped), **dict.fromkeys(_PERMUTES, _permuted),
}  # fmt: skip


def put_through(parent: Tensor, views: list[View], made: Tensor, call: Call) -> Tensor:
    """`parent` with `made` where the last of these views looks, each of which is one of the result
    of the view before it. By the numbers of elements: of a view that shows one element in several
    places (`repeats`), only the place that was written counts.
    """
    odd = next((v for v in views if v.op.partition(".")[0] in _OTHERWISE), None)
    if made.dtype != parent.dtype or odd is not None:
        raise NotImplementedError(
            f"functionalize: a write through {(odd or views[-1]).op}, which reads elements in another way "
            "than its base holds them"
        )
    with _core.hidden(_core.TRACE):
        numbers = _numbered(parent)
        for view in views:
            numbers = view.of(numbers, _core.call_backend)
        places = numbers.reshape(-1)
    _core.note_made(places)  # of sizes alone
    flat = call("reshape", (parent, (-1,)))
    filled = call("scatter.src", (flat, 0, places, call("reshape", (made, (-1,)))))
    found: Tensor = call("view", (filled, tuple(parent.shape)))
    return found


def repeats(view: View) -> bool:
    """Whether the view may show an element in several places."""
    return view.op.partition(".")[0] in _REPEATING


_REPEATING = ("expand", "expand_as", "broadcast_to", "unfold", "as_strided")
_OTHERWISE = ("_conj", "_neg_view", "conj", "view_as_real", "view_as_complex", "imag", "real")


def _by_numbers(parent: Tensor, view: View, made: Tensor, call: Call) -> Tensor:
    return put_through(parent, [view], made, call)


def _numbered(parent: Tensor) -> Tensor:
    """A tensor laid out as `parent`, whose elements are their own numbers."""
    count = math.prod(parent.shape)
    made = taeda.empty_strided(
        parent.shape, parent.stride(), dtype=taeda.int64, device=parent.device
    )
    made.copy_(taeda.arange(count, device=parent.device).reshape(parent.shape))
    return made


# ---- views without aliases ----


def copied(op: str, args: tuple[Any, ...], made: Any) -> tuple[str, tuple[Any, ...]] | None:
    """The operator that copies what `op(*args)` shows, and its arguments; None if there is none."""
    name = op.partition(".")[0]
    parent = args[0]
    if op == "view.dtype":
        return "view_copy.dtype", args
    if name in _PERMUTES:
        view = View(op, args, parent, ())
        return "permute_copy", (parent, tuple(_order(parent, view)))
    if name in RESHAPES:
        return "view_copy", (parent, tuple(made.shape))
    if name in ("expand", "expand_as", "broadcast_to"):
        return "expand_copy", (parent, tuple(made.shape), False)
    if name == "narrow" and isinstance(args[2], int):
        start = args[2] % max(parent.shape[args[1]], 1)
        return "slice_copy", (parent, args[1], start, start + args[3], 1)
    if isinstance(made, tuple | list) and name not in ("unbind",):
        dim = _split_dim(name, args)
        return "split_with_sizes_copy", (parent, tuple(m.shape[dim] for m in made), dim)
    return (name + "_copy", args) if name in _PLAIN else None


def _split_dim(name: str, args: tuple[Any, ...]) -> int:
    if name in ("hsplit", "vsplit", "dsplit"):
        return {"h": 0 if args[0].dim() == 1 else 1, "v": 0, "d": 2}[name[0]]
    return int(args[2])


_PLAIN = (
    "alias", "as_strided", "detach", "diagonal", "select", "slice", "unbind", "unfold", "view_as_real",
    "view_as_complex",
)  # fmt: skip
