"""Rows that keep a shape, of which some dimensions are whole: scans, sorts, softmax, flips, matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..placement_types import Partial, Shard
from ._call import Call, Made, Strategy, rule

__all__ = ["all_but"]

P = Partial()


def all_but(
    call: Call, whole: Sequence[int], names: Sequence[str] = ("self",)
) -> Iterator[Strategy]:
    """Every dimension but these, of tensors and results that have them alike."""
    ndim = call[names[0]].ndim
    for dim in range(ndim):
        if dim in whole:
            continue
        if all(out is None or len(out) == ndim for out in call.outs):
            yield call.strategy({name: Shard(dim) for name in names}, Shard(dim))


@rule(
    "cumsum cumprod logcumsumexp cummax cummin softmax log_softmax _softmax _log_softmax sort topk"
)
def along_dim(call: Call) -> Iterator[Strategy]:
    """Those that `dim` does not name."""
    dim = call.dim("dim", default=call.values[0].ndim - 1)
    yield from all_but(call, [dim])
    if call.name == "cumsum" and call.values[0].dtype.is_floating_point:
        yield call.strategy({"self": P}, P)


@rule("_softmax_backward_data _log_softmax_backward_data")
def softmax_backward(call: Call) -> Iterator[Strategy]:
    """Those that `dim` does not name."""
    yield from all_but(call, [call.dim("dim")], ("grad_output", "output"))


@rule("flip roll")
def moved(call: Call) -> Iterator[Strategy]:
    """Those that `dims` does not name; `roll` without them moves all."""
    if call.name == "roll" or call["dims"]:
        yield from all_but(call, call.dims("dims"))
    yield call.strategy({"self": P}, P)


@rule("tril triu")
def triangles(call: Call) -> Iterator[Strategy]:
    """All dimensions: a part of a matrix has another diagonal."""
    for dim in range(call.values[0].ndim):
        yield call.strategy({"self": Shard(dim)}, Shard(dim), fn=_triangle_of_part)
    yield call.strategy({"self": P}, P)


def _triangle_of_part(made: Made) -> Any:
    *_, row, column = made.spec("self").box[0]
    return made.run(diagonal=made.args["diagonal"] + row - column)


@rule("constant_pad_nd")
def padded(call: Call) -> Iterator[Strategy]:
    """Dimensions without padding."""
    ndim, pad = call.values[0].ndim, list(call["pad"])
    whole = [ndim - 1 - place // 2 for place, size in enumerate(pad) if size]
    yield from all_but(call, whole)


@rule("repeat tile")
def repeated(call: Call) -> Iterator[Strategy]:
    """Dimensions that come once."""
    times = call["repeats"] if call.name == "repeat" else call["dims"]
    if len(times) >= call.values[0].ndim:
        more = len(times) - call.values[0].ndim
        for dim in range(call.values[0].ndim):
            if times[dim + more] == 1:
                yield call.strategy({"self": Shard(dim)}, Shard(dim + more))
    yield call.strategy({"self": P}, P)


@rule("new_zeros new_ones new_full new_empty rand_like randn_like")
def made_like(call: Call) -> Iterator[Strategy]:
    """Where the shape is that of the tensor, as the tensor."""
    if call.outs[0] == call.values[0].shape:
        for dim in range(call.values[0].ndim):
            yield call.strategy({"self": Shard(dim)}, Shard(dim), fn=_sized)


def _sized(made: Made) -> Any:
    out = made.outs[0]
    assert out is not None
    return made.run(size=list(out.local_shape))


LEADING = (
    "_linalg_cholesky:A _linalg_inv:A _linalg_solve:A,B _linalg_lu:A _linalg_qr:A _linalg_eigh:A "
    "_linalg_eig:A _linalg_svd:A _linalg_slogdet:A _linalg_det:A _linalg_triangular:A,B geqrf:self"
)


@rule(*(one.partition(":")[0] for one in LEADING.split()))
def matrices(call: Call) -> Iterator[Strategy]:
    """The dimensions before the last two, of batches of matrices."""
    names = next(
        one.partition(":")[2].split(",")
        for one in LEADING.split()
        if one.startswith(call.name + ":")
    )
    first = call[names[0]]
    if any(
        call[name].shape[:-2] != first.shape[:-2] or call[name].ndim != first.ndim for name in names
    ):
        return
    for dim in range(first.ndim - 2):
        if all(
            out is None or (len(out) > dim and out[dim] == first.shape[dim]) for out in call.outs
        ):
            yield call.strategy({name: Shard(dim) for name in names}, Shard(dim))
