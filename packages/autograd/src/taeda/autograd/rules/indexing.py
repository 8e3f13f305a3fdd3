"""Derivatives of reading and writing at places that other tensors name."""

from __future__ import annotations

import math
from collections.abc import Sequence

import taeda
from taeda import Tensor

from ._products import has_quotients, of_others_in_groups
from ._registry import differentiated, linear, not_differentiable
from ._registry import rule_as_is as rule
from ._registry import rule_joint_as_is as rule_joint

Shape = tuple[int, ...]
Pair = tuple[Tensor | None, Tensor | None]


def _zero(like: Tensor) -> Tensor:
    return like.new_zeros(())


def _grown(part: Tensor, shape: Shape) -> Tensor:
    """`part` in the first corner of a tensor of zeros: scatter leaves the rest of a larger src unread."""
    if tuple(part.shape) == tuple(shape):
        return part
    if part.dim() != len(shape):  # an index without elements may have any rank: nothing was read
        return part.new_zeros(shape)
    whole = part.new_zeros(shape)
    whole[tuple(slice(n) for n in part.shape)] = part
    return whole


# ---- self[indices] ----


def _index_values(grad: Tensor, indices: Sequence[Tensor | None], values_shape: Shape) -> Tensor:
    read = taeda.index(grad, indices)
    if len(values_shape) > read.dim():  # leading dimensions of size 1 that were dropped
        read = read.reshape((1,) * (len(values_shape) - read.dim()) + tuple(read.shape))
    return read


def _index_put_self(grad: Tensor, indices: Sequence[Tensor | None], accumulate: bool) -> Tensor:
    return grad if accumulate else taeda.index_put(grad, indices, _zero(grad))


rule(
    "index.Tensor",
    self=lambda grad, self_shape, indices: grad.new_zeros(self_shape).index_put_(
        indices, grad, True
    ),
)
for _name in ("index_put", "index_put_"):
    rule(_name, self=_index_put_self, values=_index_values)

# ---- an index for every element ----
rule(
    "gather",
    self=lambda grad, self_shape, dim, index, sparse_grad: (
        _gathered_places(grad, self_shape, dim, index)
        if sparse_grad
        else grad.new_zeros(self_shape).scatter_add_(dim, index, grad)
    ),
)
rule(
    "scatter.src",
    self=lambda grad, dim, index: grad.scatter(dim, index, 0),
    src=lambda grad, dim, index, src_shape: _grown(grad.gather(dim, index), src_shape),
)
rule("scatter.value", self=lambda grad, dim, index: grad.scatter(dim, index, 0))
rule(
    "scatter_add",
    self=lambda grad: grad,
    src=lambda grad, dim, index, src_shape: _grown(grad.gather(dim, index), src_shape),
)


def _only_add(reduce: str) -> None:
    if reduce != "add":
        raise RuntimeError(
            f"scatter with reduce={reduce!r} has no derivative; use scatter_reduce(..., 'prod')"
        )


def _scatter_add_self(grad: Tensor, reduce: str) -> Tensor:
    _only_add(reduce)
    return grad


def _scatter_add_src(
    grad: Tensor, dim: int, index: Tensor, src_shape: Shape, reduce: str
) -> Tensor:
    _only_add(reduce)
    return _grown(grad.gather(dim, index), src_shape)


rule("scatter.reduce", self=_scatter_add_self, src=_scatter_add_src)
rule(
    "scatter.value_reduce",
    self=lambda grad, index, value, dim, reduce: (
        grad
        if reduce == "add"
        else grad * taeda.ones_like(grad).scatter(dim, index, value, reduce="multiply")
    ),
)


class _Places:
    """How a reduction reads from and adds to its places: by `gather` and `scatter_add`, or by
    slices of a dimension.
    """

    def __init__(self, dim: int, index: Tensor, source: Tensor, by_slices: bool) -> None:
        self.dim, self.by_slices, self.shape = dim, by_slices, source.shape
        self.index = index
        if not by_slices and source.dim():
            source = source[tuple(slice(n) for n in index.shape)]
        self.source = source  # the part that is read

    def read(self, x: Tensor) -> Tensor:
        if self.by_slices:
            return x.index_select(self.dim, self.index)
        return x.gather(self.dim, self.index)

    def add(self, x: Tensor, values: Tensor) -> Tensor:
        if self.by_slices:
            return x.index_add(self.dim, self.index, values)
        return x.scatter_add(self.dim, self.index, values)

    def numbers(self, x: Tensor) -> Tensor:
        """Which place of `x` each element of the source goes to."""
        if not self.by_slices or not self.source.dim():
            return self.index
        shape = [1] * self.source.dim()
        shape[self.dim] = -1
        return (self.index % x.size(self.dim)).view(shape).expand_as(self.source)

    def clear(self, x: Tensor) -> Tensor:
        if self.by_slices:
            return x.index_fill(self.dim, self.index, 0)
        return x.scatter(self.dim, self.index, 0)

    def reduce(self, x: Tensor, values: Tensor, how: str, include_self: bool) -> Tensor:
        if self.by_slices:
            return x.index_reduce(self.dim, self.index, values, how, include_self=include_self)
        return x.scatter_reduce(self.dim, self.index, values, how, include_self=include_self)


def _wide(dtype: taeda.dtype) -> taeda.dtype:
    return taeda.float32 if dtype in (taeda.float16, taeda.bfloat16) else dtype


def _shared(grad: Tensor, count: Tensor) -> Tensor:
    """`grad` divided by int64 counts, 0 counting as 1. Types of 16 bits hold no large count."""
    wide = _wide(grad.dtype)
    return (grad.to(wide) / count.clamp_min(1).to(wide)).to(grad.dtype)


def _reduce_mean(p: _Places, grad: Tensor, include_self: bool) -> tuple[Tensor, Tensor]:
    count = taeda.full_like(grad, int(include_self), dtype=taeda.int64)
    count = p.add(count, taeda.ones_like(p.source, dtype=taeda.int64))
    grad = _shared(grad, count)
    return grad, p.read(grad)


def _equal(x: Tensor, y: Tensor) -> Tensor:
    return (x == y) | (x.isnan() & y.isnan())


def _reduce_extremum(
    p: _Places, grad: Tensor, self: Tensor, result: Tensor, include_self: bool
) -> tuple[Tensor, Tensor]:
    """Shared evenly by all that took part and equal the result; a NaN equals a NaN."""
    self_wins = _equal(self, result).to(taeda.int64)
    if not include_self:
        self_wins = p.clear(self_wins)
    source_wins = _equal(p.source, p.read(result))
    count = p.add(self_wins, source_wins.to(taeda.int64))
    share = _shared(grad, count)
    return share * self_wins.to(grad.dtype), p.read(share) * source_wins.to(grad.dtype)


def _others(p: _Places, self: Tensor, include_self: bool) -> Tensor:
    """For each element of the source the product of all else at its place, by division where it is exact."""
    source = p.source.to(self.dtype)
    if not differentiated():
        zero, own = source == 0, self == 0
        rest = p.reduce(self.masked_fill(own, 1), source.masked_fill(zero, 1), "prod", include_self)
        rest = p.read(rest)
        if has_quotients(rest):
            own = own.to(taeda.int64) if include_self else taeda.zeros_like(self, dtype=taeda.int64)
            zeros = p.read(p.add(own, zero.to(taeda.int64)))  # of all that took part
            return taeda.where(zeros == zero, rest / source.masked_fill(zero, 1), 0.0)
    others = of_others_in_groups(source, p.numbers(self), p.dim)
    return others * p.read(self) if include_self else others


def _reduce_prod(
    p: _Places, grad: Tensor, self: Tensor, include_self: bool
) -> tuple[Tensor, Tensor]:
    """The product of the others, in float32 for types whose range a product soon leaves."""
    own, g = self.to(_wide(grad.dtype)), grad.to(_wide(grad.dtype))
    of_sources = p.reduce(taeda.ones_like(own), p.source.to(own.dtype), "prod", True)
    grad_source = p.read(g) * _others(p, own, include_self)
    return (g * of_sources).to(grad.dtype), grad_source.to(grad.dtype)


def _reduce(
    p: _Places,
    needs: Sequence[bool],
    grad: Tensor,
    self: Tensor,
    result: Tensor,
    reduce: str,
    include_self: bool,
) -> Pair:
    if not (p.by_slices or p.index.numel()):  # nothing was read, whatever the rank of the index
        grad_self, grad_source = grad, p.source.new_zeros(p.shape)
    elif reduce == "sum":
        grad_self, grad_source = grad, p.read(grad)
    elif reduce == "mean":
        grad_self, grad_source = _reduce_mean(p, grad, include_self)
    elif reduce in ("amax", "amin"):
        grad_self, grad_source = _reduce_extremum(p, grad, self, result, include_self)
    else:
        grad_self, grad_source = _reduce_prod(p, grad, self, include_self)
    if not include_self:
        grad_self = p.clear(grad_self)
    if not p.by_slices:
        grad_source = _grown(grad_source, p.shape)
    return grad_self if needs[0] else None, grad_source if needs[2] else None


@rule_joint("scatter_reduce.two")
def _scatter_reduce(grads, needs, self, dim, index, src, reduce, include_self, result):
    places = _Places(dim, index, src, by_slices=False)
    grad_self, grad_src = _reduce(places, needs, grads[0], self, result, reduce, include_self)
    return grad_self, None, grad_src


@rule_joint("index_reduce")
def _index_reduce(grads, needs, self, dim, index, source, reduce, include_self, result):
    places = _Places(dim, index, source, by_slices=True)
    grad_self, grad_source = _reduce(places, needs, grads[0], self, result, reduce, include_self)
    return grad_self, None, grad_source


# ---- a vector of indices for one dimension ----


def _index_select(grad: Tensor, self_shape: Shape, dim: int, index: Tensor) -> Tensor:
    return grad.new_zeros(self_shape).index_add_(dim, index, grad) if self_shape else grad


def _selected(grad: Tensor, dim: int, index: Tensor, shape: Shape) -> Tensor:
    return grad.index_select(dim, index).reshape(shape)


rule("index_select", self=_index_select)
rule(
    "index_add",
    self=lambda grad: grad,
    source=lambda grad, dim, index, source_shape, alpha: (
        _selected(grad, dim, index, source_shape) * alpha
    ),
)
rule(
    "index_copy",
    self=lambda grad, dim, index: grad.index_fill(dim, index, 0),
    source=lambda grad, dim, index, source_shape: _selected(grad, dim, index, source_shape),
)
rule("index_fill.int_Scalar", self=lambda grad, dim, index: grad.index_fill(dim, index, 0))
rule(
    "index_fill.int_Tensor",
    self=lambda grad, dim, index: grad.index_fill(dim, index, 0),
    value=lambda grad, dim, index: (grad - grad.index_fill(dim, index, 0)).sum(),
)

# ---- masks ----


def _masked_select(grad: Tensor, self_shape: Shape, mask: Tensor) -> Tensor:
    shape = taeda.broadcast_shapes(self_shape, mask.shape)
    return grad.new_zeros(shape).masked_scatter(mask, grad)


def _masked_scatter_source(grad: Tensor, mask: Tensor, source_shape: Shape) -> Tensor:
    used = grad.masked_select(mask.expand(grad.shape))
    missing = math.prod(source_shape) - used.numel()
    return taeda.cat([used, used.new_zeros((missing,))]).reshape(source_shape)


rule("masked_fill.Scalar", self=lambda grad, mask: grad.masked_fill(mask, 0))
rule(
    "masked_fill.Tensor",
    self=lambda grad, mask: grad.masked_fill(mask, 0),
    value=lambda grad, mask: grad.masked_fill(~mask, 0).sum(),
)
rule("masked_select", self=_masked_select)
rule(
    "masked_scatter",
    self=lambda grad, mask: grad.masked_fill(mask, 0),
    source=_masked_scatter_source,
)
for _name in ("nonzero", "nonzero_numpy", "argwhere", "where"):
    not_differentiable(_name, "it returns places")

# ---- the tensor as one row ----
rule(
    "take", self=lambda grad, self_shape, index: grad.new_zeros(self_shape).put_(index, grad, True)
)
rule(
    "put",
    self=lambda grad, index, accumulate: (
        grad if accumulate else grad.put(index, grad.new_zeros(index.shape))
    ),
    source=lambda grad, index, source_shape: grad.take(index).reshape(source_shape),
)

# ---- sparse gradients ----


def _gathered_places(grad: Tensor, shape: Shape, dim: int, index: Tensor) -> Tensor:
    """The gradient of gather by coordinates: an entry for each element that was read."""
    if not shape:
        return grad.reshape(-1).sum()
    dim %= len(shape)
    places = []
    for number, length in enumerate(index.shape):
        along = taeda.arange(length, device=index.device)
        along = along.reshape((-1, *(1,) * (index.dim() - number - 1)))
        places.append((index if number == dim else along.expand(index.shape)).reshape(-1))
    at = taeda.stack(places)
    values = grad.reshape(-1)
    return taeda.sparse_coo_tensor(at, values, tuple(shape))  # upward: sparse_grad asks for it


# ---- embedding ----


def _embedding(
    grad: Tensor,
    weight_shape: Shape,
    indices: Tensor,
    padding_idx: int,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Tensor:
    if sparse:
        return _embedding_rows(grad, weight_shape, indices, padding_idx, scale_grad_by_freq)
    return taeda.embedding_dense_backward(
        grad, indices, weight_shape[0], padding_idx, scale_grad_by_freq
    )


def _embedding_rows(
    grad: Tensor, weight_shape: Shape, indices: Tensor, padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    """The gradient as COO: an entry for each index, but for those of the padding."""
    flat = indices.reshape(-1).long()
    rows = grad.reshape(flat.numel(), weight_shape[1])
    if scale_grad_by_freq:
        rows = _shared(rows, flat.bincount(minlength=weight_shape[0])[flat].unsqueeze(-1))
    if padding_idx >= 0:
        kept = (flat != padding_idx).nonzero().squeeze(1)
        flat, rows = flat[kept], rows[kept]
    at = flat.unsqueeze(0)
    shape = tuple(weight_shape)
    return taeda.sparse_coo_tensor(at, rows, shape)  # upward: sparse=True asked for it


def _embedding_again(
    grad: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    rows = taeda.embedding(grad, indices)
    if scale_grad_by_freq:
        flat = indices.reshape(-1)
        ones = taeda.ones(flat.shape, dtype=taeda.int64, device=flat.device)
        counts = taeda.zeros(num_weights, dtype=taeda.int64, device=flat.device)
        counts = counts.index_add(0, flat, ones).index_select(0, flat)
        rows = _shared(rows, counts.reshape(indices.shape).unsqueeze(-1))
    return rows.masked_fill((indices == padding_idx).unsqueeze(-1), 0)


rule("embedding", weight=_embedding)
rule("embedding_dense_backward", grad_output=_embedding_again)

# ---- a copy with a part replaced ----


def _slice_of(x: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    return x[(slice(None),) * (dim % x.dim()) + (slice(start, end, step),)]


rule(
    "select_scatter",
    self=lambda grad, src_shape, dim, index: taeda.select_scatter(
        grad, grad.new_zeros(src_shape), dim, index
    ),
    src=lambda grad, dim, index: grad.select(dim, index),
)
rule(
    "slice_scatter",
    self=lambda grad, src_shape, dim, start, end, step: taeda.slice_scatter(
        grad, grad.new_zeros(src_shape), dim, start, end, step
    ),
    src=lambda grad, dim, start, end, step: _slice_of(grad, dim, start, end, step),
)
rule(
    "diagonal_scatter",
    self=lambda grad, src_shape, offset, dim1, dim2: taeda.diagonal_scatter(
        grad, grad.new_zeros(src_shape), offset, dim1, dim2
    ),
    src=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
)
rule(
    "as_strided_scatter",
    self=lambda grad, src_shape, size, stride, storage_offset: taeda.as_strided_scatter(
        grad.contiguous(), grad.new_zeros(src_shape), size, stride, storage_offset
    ),
    src=lambda grad, size, stride, storage_offset: grad.contiguous().as_strided(
        size, stride, storage_offset
    ),
)

# ---- tangents: elements that are moved, added up or replaced ----
linear(
    "index.Tensor",
    "index_put",
    "index_put_",
    "index_select",
    "index_add",
    "index_copy",
    "index_fill.int_Tensor",
)
linear(
    "gather",
    "scatter.src",
    "scatter_add",
    "masked_fill.Tensor",
    "masked_select",
    "masked_scatter",
    "take",
    "put",
)
linear("scatter.value", "masked_fill.Scalar", "index_fill.int_Scalar", value=0)


def _bags(grad: Tensor, indices: Tensor, edges: Tensor, weight_shape: Sequence[int]) -> Tensor:
    """Each row that was added gets the gradient of its bag; rows that lie outside of all bags none."""
    inside = indices[int(edges[0]) : int(edges[-1])]
    rows = grad.repeat_interleave(edges.diff(), 0)
    return taeda.embedding_dense_backward(rows, inside, weight_shape[0], -1, False)


rule("_bag_sums", weight=_bags)
linear("embedding", "embedding_dense_backward", "_bag_sums")
linear("select_scatter", "slice_scatter", "diagonal_scatter", "as_strided_scatter")
