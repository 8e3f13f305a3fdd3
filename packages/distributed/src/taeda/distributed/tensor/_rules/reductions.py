"""Rows that reduce dimensions: those that stay may be cut, those that go leave terms or are gathered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import taeda

from ..placement_types import Partial, Placement, Replicate, Shard
from ._call import Call, Made, Strategy, rule

__all__ = ["kept"]

R = Replicate()

#: what terms over a cut dimension are put together by
TERMS = {
    "sum": "sum", "nansum": "sum", "count_nonzero": "sum", "prod": "product", "amax": "max",
    "amin": "min", "any": "max", "all": "min",
}  # fmt: skip


def kept(call: Call, reduced: list[int], keepdim: bool) -> Iterator[tuple[int, int]]:
    """Pairs of dimensions: of the argument that are not reduced, and where the result has them."""
    place = 0
    for dim in range(call.values[0].ndim):
        if dim not in reduced:
            yield dim, place
        if dim not in reduced or keepdim:
            place += 1


def _facts(call: Call) -> tuple[list[int], bool]:
    if "dim" not in call.args:
        return list(range(call.values[0].ndim)), False
    return call.dims("dim"), bool(call.args.get("keepdim"))


@rule("sum nansum count_nonzero prod amax amin any all")
def terms(call: Call) -> Iterator[Strategy]:
    """Each dimension: one that stays cuts the result, one that goes leaves terms."""
    reduced, keepdim = _facts(call)
    for dim, place in kept(call, reduced, keepdim):
        yield call.strategy({"self": Shard(dim)}, Shard(place))
    op = TERMS[call.name]
    empty = call.name in ("amax", "amin") and call.values[0].spec is not None
    for dim in reduced:
        if empty:
            if call.values[0].shape[dim] >= call.parts:
                yield call.strategy({"self": Shard(dim)}, Partial(op), fn=_extreme)
        elif call.values[0].ndim:
            yield call.strategy({"self": Shard(dim)}, Partial(op))
    if call.name == "sum" and call.values[0].dtype.is_floating_point:
        yield call.strategy({"self": Partial()}, Partial())
        yield call.strategy({"self": Partial("avg")}, Partial("avg"))


def _extreme(made: Made) -> Any:
    """The extreme of a part; of an empty one the number that loses to all."""
    part, out = made.args["self"], made.outs[0]
    assert out is not None
    if part.numel():
        return made.run()
    dtype = part.dtype
    if dtype.is_floating_point:
        worst: Any = float("-inf") if made.call.name in ("amax", "max") else float("inf")
    elif dtype is taeda.bool:
        worst = made.call.name in ("amin", "min")
    else:
        info = taeda.iinfo(dtype)
        worst = info.min if made.call.name in ("amax", "max") else info.max
    return part.new_full(out.local_shape, worst)


@rule("max min")
def extreme_of_all(call: Call) -> Iterator[Strategy]:
    """`max.dim` keeps its dimension whole; `max` of all leaves terms."""
    if "dim" in call.args:
        yield from whole_dims(call)
    else:
        for dim in range(call.values[0].ndim):
            if call.values[0].shape[dim] >= call.parts:
                place: Placement = Partial(call.name)
                yield call.strategy({"self": Shard(dim)}, place, fn=_extreme)


@rule("mean")
def mean(call: Call) -> Iterator[Strategy]:
    """A sum of parts over the whole's count."""
    reduced, keepdim = _facts(call)
    for dim, place in kept(call, reduced, keepdim):
        yield call.strategy({"self": Shard(dim)}, Shard(place))
    for dim in reduced:
        if call.values[0].ndim:
            yield call.strategy({"self": Shard(dim)}, Partial(), fn=_part_of_mean)
    yield call.strategy({"self": Partial()}, Partial())


def _part_of_mean(made: Made) -> Any:
    shape = made.spec("self").shape
    reduced, keepdim = _facts(made.call)
    count = 1
    for dim in reduced:
        count *= shape[dim]
    x, dtype = made.args["self"], made.args.get("dtype")
    if not x.ndim:
        return made.run()
    return (x if dtype is None else x.to(dtype)).sum(reduced, keepdim) / count


@rule(
    "logsumexp argmax argmin var std var_mean std_mean vector_norm median.dim nanmedian.dim mode "
    "kthvalue aminmax median nanmedian"
)
def whole_dims(call: Call) -> Iterator[Strategy]:
    """The dimensions that stay."""
    reduced, keepdim = _facts(call)
    if call.name in ("argmax", "argmin", "aminmax") and call.args.get("dim") is None:
        return
    for dim, place in kept(call, reduced, keepdim):
        yield call.strategy({"self": Shard(dim)}, Shard(place))
