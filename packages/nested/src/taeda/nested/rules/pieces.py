"""Rules of the strided layout: a row runs on one tensor of the batch after the other."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core
from taeda._core_api.layouts import arguments_by_name, dimension, register

from .._pieces import is_pieces, joined, pieces_of
from ._registry import call
from .elementwise import ROWS

#: with dimensions, of which none is the batch
BY_DIMENSION = """
    softmax.int log_softmax.int cumsum cumprod sum.dim_IntList mean.dim amax amin argmax argmin prod.dim_int
    any.dim all.dim logsumexp var.correction std.correction transpose.int squeeze.dim narrow slice.Tensor flip
    chunk split.Tensor sort max.dim min.dim topk unflatten.int flatten.using_ints scaled_dot_product_attention
""".split()
#: where tensors besides the first are parameters, the same for the whole batch, and which argument that is
WITH_PARAMETERS = {
    "linear": 0, "layer_norm": 0, "rms_norm": 0, "matmul": 0, "embedding": 1, "dropout": 0,
    "native_dropout": 0,
}  # fmt: skip
LIKE = "zeros_like ones_like empty_like full_like rand_like randn_like".split()
COPIES = "detach alias clone contiguous _to_copy".split()
#: parameters that count dimensions
_DIMS = ("dim", "dims", "dim0", "dim1", "start_dim", "end_dim")


def _register(row: str, first: int | None = None) -> None:
    """`first`: which argument has to be nested, where others may be parameters."""
    function, name = call(row), row.partition(".")[0]

    def run(*args: Any) -> Any:
        _check_others(name, args, first)
        given = _inside(arguments_by_name(row, args), args)
        return _gathered([function(**_one(given, number)) for number in range(_batch(name, args))])

    register([row], [core._nested])(run)


def _batch(name: str, args: Any) -> int:
    counts = {len(core.parts_of(x).tensors) for x in args if is_pieces(x)}
    if len(counts) > 1:
        raise RuntimeError(
            f"{name}: got nested tensors of {sorted(counts)} tensors: a call wants one number"
        )
    return counts.pop()


def _check_others(name: str, args: Any, first: int | None) -> None:
    """NotImplementedError for a tensor that would have to be taken apart, or broadcast along the batch."""
    parameters = first is not None and is_pieces(args[first])
    for x in args:
        if isinstance(x, Tensor) and not is_pieces(x) and x.dim() > (2 if parameters else 0):
            raise NotImplementedError(
                f"{name}: beside a nested tensor of the strided layout came a tensor of shape "
                f"{tuple(x.shape)}, which would meet the batch. Compute with the tensors of unbind()"
            )


def _inside(given: dict[str, Any], args: Any) -> dict[str, Any]:
    """The arguments with dimensions as a tensor of the batch counts them."""
    rank = max(x.dim() for x in args if is_pieces(x))

    def moved(dim: Any) -> Any:
        if not isinstance(dim, int):
            return [moved(d) for d in dim]
        place = dimension(dim, rank)
        if not place:
            raise NotImplementedError(
                "a nested tensor of the strided layout: no operation goes along the batch, dimension 0. "
                "Compute with the tensors of unbind()"
            )
        return place - 1

    named = {
        name: moved(value) for name, value in given.items() if name in _DIMS and value is not None
    }
    empty = [name for name, value in named.items() if value == []]
    if empty:
        raise NotImplementedError(f"{empty[0]}=[]: no operation goes along the batch, dimension 0")
    return {**given, **named, **_taken(given)}


def _taken(given: dict[str, Any]) -> dict[str, Any]:
    return {name: pieces_of(value) for name, value in given.items() if is_pieces(value)}


def _one(given: dict[str, Any], number: int) -> dict[str, Any]:
    """The arguments for one tensor of the batch; lists of tensors are batches here."""
    return {name: value[number] if _is_batch(value) else value for name, value in given.items()}


def _is_batch(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Tensor)


def _gathered(made: list[Any]) -> Any:
    if isinstance(made[0], Tensor):
        return joined(made) if made[0].dim() else taeda.stack(made)
    if len({len(parts) for parts in made}) > 1:
        raise NotImplementedError("the tensors of the batch fall into different numbers of pieces")
    parts = tuple(_gathered(list(column)) for column in zip(*made, strict=True))
    return parts if type(made[0]) in (tuple, list) else type(made[0])(parts)  # a named tuple


def _register_in_place(row: str) -> None:
    """The in-place form: every tensor takes over what is computed for it."""
    made_of = core.layout_rules(core._nested, False)[row]
    name = row.partition(".")[0]

    def run(self: Any, *args: Any) -> Any:
        if not is_pieces(self):
            return NotImplemented
        _check_recorded(name, (self, *args), name)
        _take(name, self, made_of(self, *args))
        return self

    core.layout_rules(core._nested, True)[row] = run


def _check_recorded(name: str, args: Any, way: str) -> None:
    if taeda.is_grad_enabled() and any(isinstance(x, Tensor) and x.requires_grad for x in args):
        raise RuntimeError(
            f"{name}_: a nested tensor is not changed in place while gradients are recorded: use {way}, "
            "or no_grad()"
        )


def _take(name: str, self: Tensor, made: Tensor) -> None:
    parts = core.parts_of(self)
    pairs = [*zip(parts.tensors, core.parts_of(made).tensors, strict=True)]
    for own, new in pairs:
        if own.shape != new.shape or not taeda.can_cast(new.dtype, own.dtype):
            raise RuntimeError(
                f"{name}_: a tensor of {own.dtype} and {tuple(own.shape)} cannot take the result, of "
                f"{new.dtype} and {tuple(new.shape)}. Use {name}"
            )
    for own, new in pairs:
        own.copy_(new)
    core.set_parts(self, parts)  # counts the version


for _row in (*ROWS, *BY_DIMENSION, *LIKE, *COPIES):
    _register(_row)
for _row, _first in WITH_PARAMETERS.items():
    _register(_row, _first)


for _row in ROWS:
    _register_in_place(_row)


# ---- writes of what has no form that makes a new tensor ----


def _register_filling(row: str) -> None:
    function, name = call(row), row.partition(".")[0]

    @register([row], [core._nested])
    def run(x: Tensor, *args: Any) -> Any:
        if not is_pieces(x):
            return NotImplemented
        _check_recorded(name.removesuffix("_"), (x, *args), "zeros_like, full_like or clone()")
        parts = core.parts_of(x)
        sources = [pieces_of(y) if is_pieces(y) else y for y in args]
        _check_sizes(name, parts.tensors, sources)
        for number, place in enumerate(parts.tensors):
            one = [y[number] if _is_batch(y) else y for y in sources]
            function(**arguments_by_name(row, (place, *one)))
        core.set_parts(x, parts)
        return x


def _check_sizes(name: str, places: Any, sources: Any) -> None:
    for other in filter(_is_batch, sources):
        shapes = [[tuple(y.shape) for y in batch] for batch in (other, places)]
        if shapes[0] != shapes[1]:
            raise RuntimeError(f"{name}: got tensors of {shapes[0]} for a batch of {shapes[1]}")
    if any(isinstance(y, Tensor) and y.dim() for y in sources):
        raise NotImplementedError(
            f"{name}: a nested tensor of the strided layout takes over nested tensors and numbers. "
            "Write into the tensors of unbind()"
        )


for _row in ("zero_", "fill_.Scalar", "fill_.Tensor", "copy_"):
    _register_filling(_row)


# ---- along the batch ----


@register(["unbind.int"], [core._nested])
def unbind(x: Tensor, dim: int) -> Any:
    if dimension(dim, x.dim()):
        return NotImplemented
    return tuple(pieces_of(x))


@register(["select.int"], [core._nested])
def select(x: Tensor, dim: int, index: int) -> Any:
    if dimension(dim, x.dim()):
        return joined([piece.select(dimension(dim, x.dim()) - 1, index) for piece in pieces_of(x)])
    pieces = pieces_of(x)
    if not -len(pieces) <= index < len(pieces):
        raise IndexError(f"select: index {index} is out of range for {len(pieces)} tensors")
    return pieces[index]


@register(["sum"], [core._nested])
def total(x: Tensor, dtype: Any) -> Tensor:
    return taeda.stack([piece.sum(dtype=dtype) for piece in pieces_of(x)]).sum()
