"""Reductions of runs of elements along one axis."""

from __future__ import annotations

import math

import taeda
from taeda import Tensor

__all__ = ["segment_reduce"]

_START = {"sum": 0.0, "mean": 0.0, "max": -math.inf, "min": math.inf, "prod": 1.0}
_SCATTER = {"sum": "sum", "mean": "sum", "max": "amax", "min": "amin", "prod": "prod"}


def segment_reduce(
    data: Tensor,
    reduce: str,
    lengths: Tensor | None,
    indices: Tensor | None,
    offsets: Tensor | None,
    axis: int,
    unsafe: bool,
    initial: float | None,
) -> Tensor:
    """Runs that `lengths` or `offsets` cut `data` into; an empty one gives `initial`, or what the
    reduction starts from.
    """
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    how = {"amax": "max", "amin": "min"}.get(reduce, reduce)
    if how not in _START:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, max or min, got {reduce}"
        )
    if not data.is_floating_point():
        raise NotImplementedError(
            f"segment_reduce: wanted floating-point data, got {data.dtype}; convert it: data.float()"
        )
    edges = _edges(data, lengths, offsets, axis, unsafe)
    if data.dtype in (taeda.float16, taeda.bfloat16):  # sums and products are rounded once
        wide = _reduce(data.to(taeda.float32), how, edges, edges.dim() - 1, initial)
        return wide.to(data.dtype)
    return _reduce(data, how, edges, edges.dim() - 1, initial)


def _edges(
    data: Tensor, lengths: Tensor | None, offsets: Tensor | None, axis: int, unsafe: bool
) -> Tensor:
    """Where the runs begin, and where the last ends, along the last dimension."""
    given = offsets if offsets is not None else lengths
    assert given is not None  # one of them is there
    name = "lengths" if offsets is None else "offsets"
    if given.is_floating_point() or given.is_complex() or given.dtype is taeda.bool:
        raise NotImplementedError(f"segment_reduce(): {name} must be integers, got {given.dtype}")
    if axis != given.dim() - 1:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}."
        )
    if axis >= data.dim() or given.shape[:-1] != data.shape[:axis]:
        raise RuntimeError(
            f"segment_reduce(): {name} of shape {list(given.shape)} do not fit data of shape "
            f"{list(data.shape)} along axis {axis}"
        )
    given = given.to(taeda.int64)
    if offsets is None:
        if given.numel() and int(given.min()) < 0:
            raise RuntimeError("segment_reduce(): lengths contains negative value!")
        sums = given.sum(-1)
        if not unsafe and not bool((sums == data.size(axis)).all()):
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to "
                "data.size(lengths.dim()-1) when !unsafe."
            )
        given = taeda.cat([taeda.zeros_like(sums).unsqueeze(-1), given.cumsum(-1)], -1)
    if given.size(-1) < 1:
        raise RuntimeError("segment_reduce(): offsets need one entry at least")
    bounds = given[..., 0] >= 0, given[..., -1] <= data.size(axis)
    if given.numel() and not bool((bounds[0] & bounds[1]).all() & (given.diff(dim=-1) >= 0).all()):
        raise RuntimeError(
            f"segment_reduce(): {name} must rise, from 0 to at most {data.size(axis)}, the size of "
            f"axis {axis}"
        )
    return given


def _reduce(data: Tensor, how: str, edges: Tensor, axis: int, initial: float | None) -> Tensor:
    lead, length, rest = data.shape[:axis], data.size(axis), data.shape[axis + 1 :]
    rows = math.prod(lead)
    flat = data.reshape(rows, length, math.prod(rest))
    marks = edges.reshape(rows, -1)
    count = marks.size(1) - 1
    places = taeda.arange(length, device=data.device).expand(rows, length).contiguous()
    run = taeda.searchsorted(marks[:, 1:].contiguous(), places, right=True)
    run = taeda.where(places < marks[:, :1], count, run)  # before the first run: behind the last
    start = _START[how] if initial is None else float(initial)
    made = taeda.full((rows, count + 1, flat.size(2)), start, dtype=data.dtype, device=data.device)
    made = made.scatter_reduce(1, run.unsqueeze(2).expand_as(flat), flat, _SCATTER[how])
    made = made.narrow(1, 0, count)
    if how == "mean":
        sizes = marks.diff(dim=1).unsqueeze(2)
        divisor = sizes if initial is None else sizes.clamp_min(1)
        made = made / divisor.to(data.dtype)
    return made.reshape(*lead, count, *rest)
