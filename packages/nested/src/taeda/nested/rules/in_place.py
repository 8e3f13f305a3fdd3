"""Calls in place: they write into the packed values. Views of those and the tensors of `unbind()` see it."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core
from taeda._core_api.layouts import arguments_by_name

from .._graph import compact
from .._parts import is_nested, parts_of
from ._registry import call, function_of, rule, rule_in_place, together
from .elementwise import ROWS

#: rows that fill with numbers, whatever stood there
FILLING = """
    zero_ fill_.Scalar fill_.Tensor uniform_ normal_ log_normal_ exponential_ cauchy_ geometric_ random_
    random_.to random_.from bernoulli_.float
""".split()


def _check_graph(name: str, tensors: Any) -> None:
    """RuntimeError where a graph would have to follow the write."""
    if taeda.is_grad_enabled() and any(isinstance(x, Tensor) and x.requires_grad for x in tensors):
        raise RuntimeError(
            f"{name}: a nested tensor is not changed in place while gradients are recorded: use the form "
            "that makes a new tensor, or no_grad()"
        )


def _write(x: Tensor, values: Tensor) -> Tensor:
    """Packed values to where those of `x` lie. Its version grows."""
    parts = parts_of(x)
    if parts.is_packed():
        parts.values.copy_(values)
    else:
        pieces = values.split(parts.counts(), parts.ragged - 1)
        for place, piece in zip(parts.of(parts.values), pieces, strict=True):
            place.copy_(piece)
    core.set_parts(x, parts)
    return x


def _register(row: str) -> None:
    function, name = function_of(row), f"{row.partition('.')[0]}_"

    @rule_in_place(row)
    def run(x: Tensor, *args: Any) -> Any:
        if not is_nested(x):
            return NotImplemented
        _check_graph(name, (x, *args))
        made = function(x, *args)
        if made is NotImplemented:
            return made
        if made.shape != x.shape or not taeda.can_cast(made.dtype, x.dtype):
            shapes = [f"{y.dtype} of ({', '.join(map(str, y.shape))})" for y in (made, x)]
            raise RuntimeError(
                f"{name}: the result is {shapes[0]}, which a tensor of {shapes[1]} cannot take. "
                f"Use {name[:-1]}"
            )
        return _write(x, compact(made)[1])


for _row in ROWS:
    if f"{_row.partition('.')[0]}_" in dir(Tensor):
        _register(_row)


def _register_filling(row: str) -> None:
    function = call(row)

    @rule(row)
    def run(x: Tensor, *args: Any) -> Any:
        if not is_nested(x) or any(is_nested(y) for y in args):
            return NotImplemented
        _check_graph(row.partition(".")[0], (x, *args))
        parts = parts_of(x)
        for place in [parts.values] if parts.is_packed() else parts.of(parts.values):
            function(**arguments_by_name(row, (place, *args)))
        core.set_parts(x, parts)
        return x


for _row in FILLING:
    _register_filling(_row)


@rule("copy_")
def copy(x: Tensor, source: Tensor, non_blocking: bool = False) -> Any:
    """Of sequences of the same lengths, whatever their offsets; or of a strided tensor that broadcasts."""
    if not is_nested(x):
        return NotImplemented
    _check_graph("copy_", (x, source))
    if not is_nested(source):
        values = together("copy_", (x, source))[1][1]
        return _write(x, values.expand(compact(x)[1].shape))
    own, other = parts_of(x), parts_of(source)
    if own.counts() != other.counts() or own.ragged != other.ragged or x.dim() != source.dim():
        raise RuntimeError(
            f"copy_: got sequences of the lengths {other.counts()} for a tensor with {own.counts()}"
        )
    return _write(x, compact(source)[1].expand(compact(x)[1].shape))
