"""Rows whose results at a place depend on their tensors at that place only, and linear ones."""

from __future__ import annotations

from collections.abc import Iterator

from taeda._core_api.table import rows

from ..placement_types import REDUCTIONS, Partial, Placement, Replicate, Shard
from ._call import RULES, Call, Strategy, Value, rule

__all__ = ["aligned", "is_pointwise", "strategies"]

R = Replicate()

#: rows in C that are elementwise, beside those that the table calls so
MORE = (
    "where.self masked_fill fill clone detach alias _to_copy zeros_like ones_like empty_like full_like "
    "div.Tensor_mode float_power frexp complex native_dropout_backward _neg_view _conj conj real imag "
    "resolve_conj resolve_neg contiguous copy zero lift_fresh nan_to_num"
)
#: of their tensor they take shape and dtype only
VALUES_OF_THEIR_OWN = ("ones_like", "full_like", "empty_like")
#: linear in all their tensors together
LINEAR_TOGETHER = "add sub rsub"
#: linear in one tensor while the others are whole; the names are of arguments
LINEAR_IN = {
    "mul": ("self", "other"),
    "div.Tensor": ("self",),
    "neg": ("self",),
    "clone": ("self",),
    "detach": ("self",),
    "alias": ("self",),
    "contiguous": ("self",),
    "real": ("self",),
    "imag": ("self",),
    "_conj": ("self",),
    "conj": ("self",),
    "_neg_view": ("self",),
    "resolve_conj": ("self",),
    "resolve_neg": ("self",),
    "_conj_physical": ("self",),
    "zeros_like": ("self",),
    "native_dropout_backward": ("grad_output",),
    "tanh_backward": ("grad_output",),
    "sigmoid_backward": ("grad_output",),
    "threshold_backward": ("grad_output",),
    "gelu_backward": ("grad_output",),
    "silu_backward": ("grad_output",),
}


def is_pointwise(name: str) -> bool:
    """Does the table call a row elementwise?"""
    found = rows().get(name)
    return found is not None and found.kind == "pointwise"


def aligned(shape: tuple[int, ...], dim: int, value: Value) -> Placement | None:
    """How a tensor lies that is broadcast to a shape, of which `dim` is cut."""
    if value.spec is None:
        return None
    place = dim - (len(shape) - value.ndim)
    return Shard(place) if place >= 0 and value.shape[place] == shape[dim] else R


@rule(MORE)
def strategies(call: Call) -> Iterator[Strategy]:
    """Each dimension of the result."""
    made = [out for out in call.outs if out is not None]
    shape = made[0] if made else ()
    if any(out != shape for out in made):
        return
    for dim, size in enumerate(shape):
        ins = [aligned(shape, dim, value) for value in call.values]
        if size != 1 or any(isinstance(place, Shard) for place in ins):
            yield Strategy(
                tuple(ins), tuple(None if out is None else Shard(dim) for out in call.outs)
            )
    yield from _linear(call)


def _linear(call: Call) -> Iterator[Strategy]:
    if call.name in VALUES_OF_THEIR_OWN:
        for op in REDUCTIONS:
            yield call.strategy({"self": Partial(op)}, R)
    held = [value for value in call.values if value.spec is not None]
    outs = len(call.outs)
    for op in ("sum", "avg"):
        term = Partial(op)
        if call.name in LINEAR_TOGETHER.split():
            if len(held) == len(call.values) == 2:
                yield Strategy((term, term), (term,) * outs)
            continue
        if call.name == "_to_copy" and not _is_exact_cast(call):
            continue
        names = (
            LINEAR_IN.get(call.row)
            or LINEAR_IN.get(call.name)
            or (("self",) if call.name == "_to_copy" else ())
        )
        for name in names:
            if call.has(name):
                yield call.strategy({name: term}, term)


def _is_exact_cast(call: Call) -> bool:
    """Is the sum of casts the cast of the sum, but for rounding?"""
    source = call.values[0].dtype
    target = call.args.get("dtype") or source
    return bool(source.is_floating_point and target.is_floating_point)


def find(row: str) -> object:
    """The rule of a row: its own, or the elementwise one."""
    name = row.partition(".")[0]
    found = RULES.get(row) or RULES.get(name)
    if found is None and (is_pointwise(row) or is_pointwise(name)):
        return strategies
    return found
