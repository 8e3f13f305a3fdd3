"""Which gradients travel together, and where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed._calls import Call
from taeda.distributed._groups.group import ProcessGroup

__all__ = ["MIB", "Bucket", "assign", "build"]

MIB = 1 << 20
ALIGN = 64


@dataclass
class Bucket:
    """Gradients of one dtype, one after the other in `buffer`; `views` are their pieces in their shapes."""

    numbers: list[int]  # of the parameters
    buffer: Tensor
    views: list[Tensor]
    lengths: list[int]
    waiting: set[int] = field(default_factory=set)  # parameters whose gradient is not there yet
    work: Any = None
    sparse: bool = False  # one parameter, whose gradient names its rows and lies in no buffer


def assign(
    params: Sequence[Tensor], order: Sequence[int], first: int, rest: int
) -> list[list[int]]:
    """Numbers of parameters by bucket, in `order`: the first of at most `first` bytes, the others
    of `rest`, each of one dtype.
    """
    open_ones: dict[Any, list[int]] = {}
    sizes: dict[Any, int] = {}
    done: list[list[int]] = []
    limits: dict[Any, int] = {}
    for number in order:
        param = params[number]
        nbytes = param.numel() * param.element_size()
        bucket = open_ones.setdefault(param.dtype, [])
        limit = limits.setdefault(param.dtype, first)
        if bucket and sizes[param.dtype] + nbytes > limit:
            done.append(bucket)
            bucket = open_ones[param.dtype] = []
            sizes[param.dtype] = 0
            limits[param.dtype] = rest
        bucket.append(number)
        sizes[param.dtype] = sizes.get(param.dtype, 0) + nbytes
    return done + [bucket for bucket in open_ones.values() if bucket]


def build(
    group: ProcessGroup, params: Sequence[Tensor], lists: Sequence[list[int]]
) -> list[Bucket]:
    """Buckets whose buffers lie in memory that the group adds up quickly, if it has such."""
    if not lists:
        return []
    offsets, total = [], 0
    for numbers in lists:
        offsets.append(total)
        nbytes = sum(params[n].numel() * params[n].element_size() for n in numbers)
        total += -(-nbytes // ALIGN) * ALIGN
    memory = _allocate(group, total, params[0].device)
    return [
        _bucket(params, numbers, memory, at) for numbers, at in zip(lists, offsets, strict=True)
    ]


def _allocate(group: ProcessGroup, nbytes: int, device: taeda.device) -> Tensor:
    """`nbytes` of the engine's own memory, else of ours. Every rank calls it."""
    found: list[Tensor | None] = []
    call = Call("allocate", f"allocate({nbytes} bytes of buckets)")
    group.run(
        call, lambda engine, deadline: found.append(engine.allocate(max(nbytes, 1), deadline))
    )
    if found[0] is not None:
        return found[0]
    return taeda.zeros(nbytes, dtype=taeda.uint8, device=device)


def _bucket(params: Sequence[Tensor], numbers: list[int], memory: Tensor, at: int) -> Bucket:
    lengths = [params[n].numel() for n in numbers]
    nbytes = sum(lengths) * params[numbers[0]].element_size()
    buffer = memory[at : at + nbytes].view(params[numbers[0]].dtype)
    pieces = buffer.split(lengths)
    views = [piece.view(params[n].shape) for n, piece in zip(numbers, pieces, strict=True)]
    return Bucket(numbers, buffer, views, lengths)
