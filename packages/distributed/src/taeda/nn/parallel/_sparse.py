"""Gradients that name their rows, such as those of `Embedding(sparse=True)`: their mean is a union.

Each rank gives its indices and values to all, as many as it has; rows that several ranks name are
added. A rank whose gradient is dense makes the mean dense, on all ranks.
"""

from __future__ import annotations

from collections.abc import Collection

import taeda
from taeda import Tensor, nn
from taeda.distributed._collectives import all_gather_into_tensor, all_reduce
from taeda.distributed._groups.group import ProcessGroup
from taeda.distributed._types import ReduceOp

from ._buckets import Bucket

__all__ = ["bucket", "mean", "sparse_names"]

DENSE = -1


def sparse_names(module: nn.Module) -> Collection[str]:
    """Names of the parameters whose gradients name their rows: tables of modules with `sparse=True`."""
    return {
        f"{prefix}.weight".removeprefix(".")
        for prefix, part in module.named_modules()
        if isinstance(part, (nn.Embedding, nn.EmbeddingBag)) and part.sparse
    }


def bucket(param: Tensor, number: int) -> Bucket:
    """A bucket without a buffer, which waits for the gradient of one parameter."""
    empty = param.detach().new_empty(0)
    return Bucket([number], empty, [empty], [0], sparse=True)


def mean(grad: Tensor | None, param: Tensor, group: ProcessGroup, divide_by: int) -> Tensor:
    """The sum of all ranks' gradients (None is zero) over `divide_by`; every rank calls it."""
    mine = None if grad is None else grad.detach()
    if mine is not None and mine.is_sparse:
        mine = mine.coalesce()
        count = mine.indices().shape[1]
    else:
        count = 0 if mine is None else DENSE
    mine_count = taeda.tensor([count], dtype=taeda.int64, device=param.device)
    counts = _from_all(mine_count, group)[:, 0].tolist()
    if DENSE in counts:
        whole = taeda.zeros_like(param.detach()) if mine is None else mine.to_dense()
        if whole is grad or mine is whole:
            whole = whole.clone()
        all_reduce(whole, ReduceOp.SUM, group)
        return whole.div_(divide_by)
    return _union(mine, param, counts, group, divide_by)


def _union(
    mine: Tensor | None, param: Tensor, counts: list[int], group: ProcessGroup, divide_by: int
) -> Tensor:
    """Indices and values of all ranks as one sparse tensor; places of the longest travel."""
    most, shape = max(counts), param.shape
    indices = taeda.zeros(most, dtype=taeda.int64, device=param.device)
    values = param.detach().new_zeros(most, *shape[1:])
    if mine is not None:
        here = mine.indices().shape[1]
        indices[:here], values[:here] = mine.indices()[0], mine.values()
    if most:
        every, each = _from_all(indices, group), _from_all(values, group)
        rows = taeda.cat([every[rank, :count] for rank, count in enumerate(counts)])
        held = taeda.cat([each[rank, :count] for rank, count in enumerate(counts)])
    else:
        rows, held = indices, values
    made = taeda.sparse_coo_tensor(rows[None], held, shape)
    return made.coalesce().div(divide_by)


def _from_all(mine: Tensor, group: ProcessGroup) -> Tensor:
    whole = mine.new_empty(group.size(), *mine.shape)
    all_gather_into_tensor(whole.view(-1), mine.reshape(-1), group)
    return whole
