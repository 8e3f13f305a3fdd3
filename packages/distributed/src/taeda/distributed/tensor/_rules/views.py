"""Rows that look at the same memory in another shape, and what is left of a cut there.

A cut dimension may become another, the first of several that it is split into, or of several that
are joined the first one: where the parts of the whole's chunks are chunks again. Otherwise the
tensor is gathered, and the result is a copy (`_dispatch.py` says so to who writes into it).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..placement_types import Partial, Shard
from ._call import Call, Made, Strategy, rule

__all__ = ["regrouped"]

P = Partial()


def _mapped(call: Call, places: dict[int, int], fn: Any = None) -> Iterator[Strategy]:
    """Dimensions of the argument that are a dimension of the result."""
    for dim, place in places.items():
        yield call.strategy({"self": Shard(dim)}, Shard(place), keep=True, fn=fn)
    for op in ("sum", "avg", "max", "min", "product"):
        yield call.strategy({"self": Partial(op)}, Partial(op), keep=True, fn=fn)


def _shaped(made: Made) -> Any:
    """The part in the shape of a part of the result; a copy where its memory does not lie so."""
    out = made.outs[0]
    assert out is not None
    return made.args["self"].reshape(out.local_shape)


# ---- shapes ----


@rule("view reshape _unsafe_view flatten.using_ints unflatten.int ravel squeeze")
def regroup(call: Call) -> Iterator[Strategy]:
    """Split and joined dimensions, by the shape of the whole."""
    if call.row == "view.dtype":
        return
    spec = call.values[0].spec
    pairs = regrouped(call.values[0].shape, call.outs[0] or ())
    places: dict[int, int] = {}
    for old, new in pairs:
        held = [dim for dim in old if call.values[0].shape[dim] != 1]
        made = [dim for dim in new if (call.outs[0] or ())[dim] != 1]
        if not held or not made or spec is None:
            continue
        first, place = held[0], made[0]
        parts = max(spec.parts(first), 1)
        same = len(held) == len(made) == 1
        sizes = call.values[0].shape[first], (call.outs[0] or ())[place]
        if same or all(size % parts == 0 for size in sizes):
            places[first] = place
    yield from _mapped(call, places, _shaped)


def regrouped(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Groups of dimensions of two shapes that hold the same elements, as few as possible in each.

    >>> regrouped((4, 6), (2, 2, 6))
    [([0], [0, 1]), ([1], [2])]
    """
    if 0 in old or 0 in new:
        return [([dim], [dim]) for dim in range(len(old))] if tuple(old) == tuple(new) else []
    groups, i, j = [], 0, 0
    while i < len(old) or j < len(new):
        left: list[int] = []
        right: list[int] = []
        a = b = 1
        while True:
            if a <= b and i < len(old) and (a < b or not left):
                a *= old[i]
                left.append(i)
                i += 1
            elif j < len(new) and (b < a or not right):
                b *= new[j]
                right.append(j)
                j += 1
            elif a != b and i < len(old):
                a *= old[i]
                left.append(i)
                i += 1
            else:
                break
        groups.append((left, right))
    return groups


@rule("expand broadcast_to")
def expanded(call: Call) -> Iterator[Strategy]:
    """Dimensions that are not repeated."""
    shape, out = call.values[0].shape, call.outs[0] or ()
    more = len(out) - len(shape)
    places = {d: d + more for d in range(len(shape)) if shape[d] == out[d + more]}
    for strategy in _mapped(call, places):
        yield Strategy((*strategy.ins[:1], *(None,) * (len(call.values) - 1)), strategy.outs)


# ---- orders ----


@rule("permute transpose swapaxes swapdims t movedim numpy_T mT mH matrix_H adjoint")
def ordered(call: Call) -> Iterator[Strategy]:
    """Where each dimension goes."""
    ndim = call.values[0].ndim
    order = list(range(ndim))
    name = call.name
    if name == "permute":
        order = [dim % ndim for dim in call["dims"]] if ndim else []
    elif name in ("transpose", "swapaxes", "swapdims"):
        keys = ("axis0", "axis1") if name == "swapaxes" else ("dim0", "dim1")
        if ndim:
            a, b = (call.dim(key) for key in keys)
            order[a], order[b] = b, a
    elif name in ("t", "numpy_T"):
        order.reverse()
    elif name == "movedim":
        order = _moved_order(call, ndim)
    elif ndim >= 2:
        order[-1], order[-2] = order[-2], order[-1]
    yield from _mapped(call, {old: new for new, old in enumerate(order)})


def _moved_order(call: Call, ndim: int) -> list[int]:
    if not ndim:
        return []
    source, target = call.dims("source"), call.dims("destination")
    rest = [dim for dim in range(ndim) if dim not in source]
    order = [-1] * ndim
    for old, new in zip(source, target, strict=True):
        order[new] = old
    left = iter(rest)
    return [next(left) if dim < 0 else dim for dim in order]


@rule("squeeze.dim squeeze.dims")
def squeezed(call: Call) -> Iterator[Strategy]:
    """Dimensions of size 1 of the whole go; what a part has does not matter."""
    shape = call.values[0].shape
    gone = [dim for dim in call.dims("dim") if shape and shape[dim] == 1]
    left = [dim for dim in range(len(shape)) if dim not in gone]
    yield from _mapped(call, {old: new for new, old in enumerate(left)}, _shaped)


@rule("unsqueeze")
def unsqueezed(call: Call) -> Iterator[Strategy]:
    """One dimension more."""
    ndim = call.values[0].ndim
    new = call.dim("dim", ndim + 1)
    yield from _mapped(call, {dim: dim + (dim >= new) for dim in range(ndim)})


# ---- pieces ----


@rule("select")
def selected(call: Call) -> Iterator[Strategy]:
    """Other dimensions."""
    ndim, along = call.values[0].ndim, call.dim("dim")
    yield from _mapped(call, {d: d - (d > along) for d in range(ndim) if d != along})


@rule("slice narrow unfold split split_with_sizes chunk tensor_split.sections tensor_split.indices")
def pieces(call: Call) -> Iterator[Strategy]:
    """Other dimensions; of a slice that takes all of it the one as well."""
    shape = call.values[0].shape
    along = call.dim("dimension" if call.name == "unfold" else "dim")
    places = {dim: dim for dim in range(len(shape)) if dim != along}
    if call.name == "slice" and call.outs[0] == shape and call["step"] == 1:
        places[along] = along
    yield from _mapped(call, places)


@rule("unbind")
def unbound(call: Call) -> Iterator[Strategy]:
    """Other dimensions."""
    ndim, along = call.values[0].ndim, call.dim("dim")
    yield from _mapped(call, {d: d - (d > along) for d in range(ndim) if d != along})


@rule("diagonal")
def diagonal(call: Call) -> Iterator[Strategy]:
    """Other dimensions."""
    ndim = call.values[0].ndim
    gone = call.dim("dim1"), call.dim("dim2")
    left = [dim for dim in range(ndim) if dim not in gone]
    yield from _mapped(call, {old: new for new, old in enumerate(left)})


@rule("view_as_real view_as_complex")
def pairs(call: Call) -> Iterator[Strategy]:
    """All dimensions of the complex numbers."""
    ndim = call.values[0].ndim - (call.name == "view_as_complex")
    for one in _mapped(call, {dim: dim for dim in range(ndim)}):
        if not isinstance(one.ins[0], Partial) or one.ins[0].reduce_op == "sum":
            yield one


# ---- gradients ----


@rule("select_backward")
def select_backward(call: Call) -> Iterator[Strategy]:
    """Other dimensions; `input_sizes` is the shape of a part."""
    ndim, along = len(call["input_sizes"]), call.dim("dim", len(call["input_sizes"]))
    for dim in range(ndim):
        if dim != along:
            yield call.strategy({"grad_output": Shard(dim - (dim > along))}, Shard(dim))
    yield call.strategy({"grad_output": P}, P)


@rule("slice_backward unfold_backward")
def slice_backward(call: Call) -> Iterator[Strategy]:
    """Other dimensions; `input_sizes` is the shape of a part."""
    ndim = len(call["input_sizes"])
    along = call.dim("dim", ndim)
    for dim in range(ndim):
        if dim != along:
            yield call.strategy({call_first(call): Shard(dim)}, Shard(dim))
    yield call.strategy({call_first(call): P}, P)


def call_first(call: Call) -> str:
    """The name of the first argument."""
    first: Any = next(iter(call.args))
    name: str = first
    return name


@rule("diagonal_backward")
def diagonal_backward(call: Call) -> Iterator[Strategy]:
    """Other dimensions; `input_sizes` is the shape of a part."""
    ndim = len(call["input_sizes"])
    gone = call.dim("dim1", ndim), call.dim("dim2", ndim)
    left = [dim for dim in range(ndim) if dim not in gone]
    for place, dim in enumerate(left):
        yield call.strategy({"grad_output": Shard(place)}, Shard(dim))
    yield call.strategy({"grad_output": P}, P)


@rule("select_scatter slice_scatter diagonal_scatter")
def scattered(call: Call) -> Iterator[Strategy]:
    """Other dimensions of both."""
    ndim = call["self"].ndim
    if call.name == "diagonal_scatter":
        gone = [call.dim("dim1"), call.dim("dim2")]
        left = [dim for dim in range(ndim) if dim not in gone]
        pairs = {dim: place for place, dim in enumerate(left)}
    else:
        along, lost = call.dim("dim"), call.name == "select_scatter"
        pairs = {d: d - (lost and d > along) for d in range(ndim) if d != along}
    for dim, place in pairs.items():
        yield call.strategy({"self": Shard(dim), "src": Shard(place)}, Shard(dim))
    yield call.strategy({"self": P, "src": P}, P)
