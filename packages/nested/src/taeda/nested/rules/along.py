"""Functions along dimensions: on the packed values where the ragged dimension is none of them, for one tensor
of the batch after the other where it is. None goes along the batch.
"""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.layouts import arguments_by_name, dimension

from .._graph import built, compact, components
from .._parts import is_nested, packed
from ._registry import call, rule

#: rows whose `dim` stays as it is
KEEPING = """
    softmax.int log_softmax.int cumsum cumprod logcumsumexp flip sort sort.stable argsort argsort.stable
    cummax cummin
""".split()
#: rows whose `dim` goes, or gets the size 1
REDUCING = """
    sum.dim_IntList mean.dim prod.dim_int amax amin any.dim any.dims all.dim all.dims logsumexp max.dim
    min.dim argmax argmin var.correction std.correction vector_norm norm nansum count_nonzero.dim_IntList
    var.dim std.dim median.dim
""".split()
#: rows of all elements
WHOLE = """
    sum mean prod max min any all var std median count_nonzero
""".split()


_PLACES = (call("argmax"), call("argmin"))


def _dims(name: str, given: Any, rank: int) -> list[int]:
    """Dimensions of the nested shape, the batch none of them."""
    many = [given] if isinstance(given, int) else list(given)
    found = [dimension(dim, rank) for dim in many]
    if 0 in found:
        raise NotImplementedError(
            f"{name}: dimension 0 of a nested tensor is its batch. Compute with the tensors of its "
            "unbind(), or with x.to_padded_tensor(padding)"
        )
    return found


def _shifted(given: Any, dims: list[int]) -> Any:
    moved = [dim - 1 for dim in dims]
    return moved[0] if isinstance(given, int) else moved


def _each(result: Any, change: Any) -> Any:
    return change(result) if isinstance(result, Tensor) else tuple(change(part) for part in result)


def _gathered(results: list[Any], change: Any) -> Any:
    """Results of each tensor of the batch, as one result."""
    if isinstance(results[0], Tensor):
        return change(results)
    return tuple(change(list(parts)) for parts in zip(*results, strict=True))


def _register(row: str, name: str, *, reducing: bool) -> None:
    function, argument = call(row), "dims" if row == "flip" else "dim"

    @rule(row)
    def run(x: Tensor, *args: Any) -> Any:
        if not is_nested(x):
            return NotImplemented
        named = arguments_by_name(row, (x, *args))
        given = named[argument]
        if given is None or (not isinstance(given, int) and not given):
            return _of_all(x, function, named, argument) if reducing else NotImplemented
        dims = _dims(name, given, x.dim())
        named[argument] = _shifted(given, dims)
        return _run(x, function, named, dims, reducing)


def _of_all(x: Tensor, function: Any, named: dict[str, Any], argument: str) -> Any:
    if named.get("keepdim") or function in _PLACES:
        return NotImplemented  # a place in all of the values would name no element
    return function(**{**named, "self": compact(x)[1]})


def _run(x: Tensor, function: Any, named: dict[str, Any], dims: list[int], reducing: bool) -> Any:
    parts, values = compact(x)
    if parts.ragged not in dims:
        gone = reducing and not named.get("keepdim")
        at = parts.ragged - sum(dim < parts.ragged for dim in dims) * gone
        return _each(function(**{**named, "self": values}), lambda y: built(parts, y, at))
    if not parts.bounds:
        return NotImplemented
    results = [function(**{**named, "self": piece}) for piece in parts.of(values)]
    if reducing:
        return _gathered(results, taeda.stack)
    return _gathered(results, lambda ys: built(parts, taeda.cat(ys, parts.ragged - 1)))


for _row in KEEPING:
    _register(_row, _row.partition(".")[0], reducing=False)
for _row in REDUCING:
    _register(_row, _row.partition(".")[0], reducing=True)


def _whole(row: str) -> None:
    function = call(row)

    @rule(row)
    def run(x: Tensor, *args: Any) -> Any:
        named = arguments_by_name(row, (x, *args))
        return function(**{**named, "self": compact(x)[1]})


for _row in WHOLE:
    _whole(_row)


@rule("unbind.int")
def unbind(x: Tensor, dim: int = 0) -> Any:
    """The tensors of the batch, views."""
    if dimension(dim, x.dim()):
        return NotImplemented
    return tuple(components(x))


@rule("select.int")
def select(x: Tensor, dim: int, index: int) -> Any:
    """One tensor of the batch, or one place of each along a dimension that is not ragged."""
    at, (parts, values) = dimension(dim, x.dim()), compact(x)
    if not at:
        pieces = components(x)
        if not -len(pieces) <= index < len(pieces):
            raise IndexError(f"select(): index {index} out of range for a batch of {len(pieces)}")
        return pieces[index]
    if at == parts.ragged:
        return NotImplemented
    return built(parts, values.select(at - 1, index), parts.ragged - (at < parts.ragged))


@rule("slice.Tensor")
def slice_(x: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    at, (parts, values) = dimension(dim, x.dim()), compact(x)
    pieces = components(x)
    if not at:
        chosen = pieces[slice(start, end, step)]
        return from_components_at(chosen, parts.ragged) if chosen else NotImplemented
    if at == parts.ragged:
        cut = [taeda.ops.aten.slice.Tensor(p, at - 1, start, end, step) for p in pieces]
        return from_components_at(cut, parts.ragged)
    return built(parts, taeda.ops.aten.slice.Tensor(values, at - 1, start, end, step))


def from_components_at(pieces: list[Tensor], ragged: int) -> Tensor:
    """A nested tensor of these, ragged in this dimension whether they differ there or not."""
    values = taeda.cat(pieces, ragged - 1)
    return built(packed(values.detach(), [p.shape[ragged - 1] for p in pieces], ragged), values)
