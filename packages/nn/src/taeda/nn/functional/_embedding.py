"""Rows of a table by their numbers: one by one, or reduced over bags."""

from __future__ import annotations

from importlib import import_module

import taeda
from taeda import Tensor
from taeda._core_api.doors import call_others, exact, is_for_others, watched

__all__ = ["embedding", "embedding_bag"]

_embedding = taeda.embedding


def needs_sparse(sparse: bool) -> None:
    """Of `sparse=True` the package whose tensors its gradients are, now and not amid a backward.

    Args:
        sparse: whether the gradient of weight is a sparse tensor
    """
    if sparse:
        import_module("taeda.sparse")


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """weight[input]: every index becomes a row, at the end of the shape.

    The row `padding_idx` gets no gradient. With `max_norm`, rows that are used and longer are shortened
    in place. With `sparse`, the gradient of `weight` is a sparse tensor of the rows that are used, for
    SGD, Adagrad and SparseAdam. Raises IndexError for an index outside of the table.

    Args:
        input: rows of weight, int32 or int64 of any shape
        weight: the table, of shape (rows, width); a row comes for each index
        padding_idx: the row that gets no gradient; None for none
        max_norm: the largest norm of a row: longer ones are shortened in weight itself; None for
            no bound
        norm_type: the order of the norm, above 0 (default: 2.0)
        scale_grad_by_freq: whether the gradient of a row is divided by how often it came
            (default: False)
        sparse: whether the gradient by weight is a sparse tensor (default: False)

    >>> table = taeda.tensor([[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]])
    >>> taeda.nn.functional.embedding(taeda.tensor([[1, 2], [0, 1]]), table)
    tensor([[[1., 2.],
             [3., 4.]],
    <BLANKLINE>
            [[0., 0.],
             [1., 2.]]])
    """
    if (watched or type(input) not in exact or type(weight) not in exact) and is_for_others(
        (input, weight)
    ):
        return call_others(embedding, (input, weight))
    needs_sparse(sparse)
    if padding_idx is None:
        padding_idx = -1
    else:
        rows = weight.size(0)
        if not -rows <= padding_idx < rows:
            raise AssertionError(
                f"Padding_idx must be within num_embeddings: {padding_idx} is not in [{-rows}, {rows - 1}]"
            )
        padding_idx %= rows
    if max_norm is not None:
        # it may lie in the memory of the rows that are written
        input = input.clone(memory_format=taeda.contiguous_format)
        _shorten_rows(weight, input, max_norm, norm_type)
    return _embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def _shorten_rows(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the rows that are used to a norm of at most `max_norm`, in place."""
    with taeda.no_grad():
        used = indices.reshape(-1).long()  # twice the same row writes the same twice
        rows = weight.index_select(0, used)
        norms = taeda.linalg.vector_norm(rows, norm_type, 1, keepdim=True)
        too_long = (norms > max_norm).squeeze(1)
        shortened = rows * (max_norm / (norms + 1e-7))
        weight.index_copy_(0, used[too_long], shortened[too_long])


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or maximum of the rows of every bag, as (bags, features).

    A 2-D input has a bag in each row; a 1-D input is cut at `offsets`, the first of which is 0. Indices
    equal to `padding_idx` do not count; an empty bag gives zeros. `per_sample_weights` scale the rows of
    a sum. With `sparse`, the gradient of `weight` is a sparse tensor of the rows that are used (not for
    `max`, whose gradient has other rows for each column). Raises ValueError for arguments that do not fit
    together, RuntimeError for an index outside of the table.

    Args:
        input: rows of weight, int32 or int64: of shape (B, n), or one row of all bags
        weight: the table, of shape (rows, width)
        offsets: where each bag begins in the indices, int64, with 0 first; None if the indices
            have two dimensions, a bag in each row
        max_norm: the largest norm of a row: longer ones are shortened in weight itself; None for
            no bound
        norm_type: the order of the norm, above 0 (default: 2)
        scale_grad_by_freq: whether the gradient of a row is divided by how often it came
            (default: False)
        mode: how a bag is put together: 'sum', 'mean' or 'max' (default: 'mean')
        sparse: whether the gradient of weight is a sparse tensor (default: False)
        per_sample_weights: a factor of each row that is summed, of the shape of the indices; only
            with mode 'sum'. None for ones
        include_last_offset: whether offsets ends with the number of indices (default: False)
        padding_idx: the row that gets no gradient; None for none

    >>> table = taeda.tensor([[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]])
    >>> taeda.nn.functional.embedding_bag(taeda.tensor([[1, 2], [2, 2]]), table)
    tensor([[2., 3.],
            [3., 4.]])
    >>> words, starts = taeda.tensor([1, 2, 2]), taeda.tensor([0, 1])
    >>> taeda.nn.functional.embedding_bag(words, table, starts, mode="sum")
    tensor([[1., 2.],
            [6., 8.]])
    """
    if (
        watched
        or type(input) not in exact
        or type(weight) not in exact
        or type(offsets) not in exact
        or type(per_sample_weights) not in exact
    ) and is_for_others((input, weight, offsets, per_sample_weights)):
        return call_others(embedding_bag, (input, weight, offsets, per_sample_weights))
    needs_sparse(sparse)
    _check_bags(input, weight, offsets, mode, per_sample_weights, scale_grad_by_freq, sparse)
    plain = padding_idx is None and max_norm is None and input.is_cpu and input.numel()
    sums = not sparse and mode != "max" and per_sample_weights is None and not scale_grad_by_freq
    if plain and sums and weight.dtype in (taeda.float32, taeda.float64):
        return _sums(input, weight, offsets, mode == "mean", include_last_offset)
    if plain and input.dim() == 2:
        rows = _rows(input, weight, scale_grad_by_freq, sparse)
        return _reduce_rows(rows, mode, per_sample_weights)
    if input.dim() == 2:
        bags, length = input.shape
        offsets = (
            taeda.arange(0, input.numel(), length, device=input.device)
            if length
            else (taeda.zeros(bags, dtype=taeda.int64, device=input.device))
        )
        include_last_offset = False
    assert offsets is not None  # checked above
    flat = input.reshape(-1)
    weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if padding_idx is not None:
        padding_idx = _wrapped(padding_idx, weight.size(0))
    if max_norm is not None or not flat.is_cpu:  # before a row is written; a device tells too late
        _check_indices(flat, weight.size(0))
    if max_norm is not None:
        flat, offsets = flat.clone(), offsets.clone()  # they may lie in the memory of the rows
        weights = None if weights is None else weights.clone()
        _shorten_rows(weight, flat, max_norm, norm_type)
    bag, count = _bag_of_each(flat, offsets, include_last_offset)
    rows = _rows(flat, weight, scale_grad_by_freq, sparse, padding_idx)
    if padding_idx is not None:
        kept = (flat != padding_idx).nonzero().squeeze(1)
        rows, bag = rows.index_select(0, kept), bag.index_select(0, kept)
        weights = None if weights is None else weights.index_select(0, kept)
    return _reduce_bags(rows, bag, count, mode, weights)


def _check_bags(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None,
    mode: str,
    weights: Tensor | None,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> None:
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"mode has to be one of sum, mean or max, but got {mode!r}")
    if weights is not None and weights.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({tuple(weights.shape)}) is not None, then it must have "
            f"the same shape as the input ({tuple(input.shape)})"
        )
    if weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
            f"mode='sum' (got mode='{mode}')."
        )
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if weight.dim() != 2:
        raise ValueError(
            f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}"
        )
    if input.dim() == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
            f"length sequences. However, found offsets of type {type(offsets)}"
        )
    if input.dim() == 1 and (offsets is None or offsets.dim() != 1):
        found = None if offsets is None else f"Tensor of dimension {offsets.dim()}"
        raise ValueError(f"offsets has to be a 1D Tensor but got {found}")
    if input.dim() not in (1, 2):
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}"
        )
    for name, tensor in (("input", input), ("offsets", offsets)):
        if tensor is not None and tensor.dtype not in (taeda.int64, taeda.int32):
            raise RuntimeError(
                f"embedding_bag: {name} must be of dtype int64 or int32, but got {tensor.dtype}"
            )
    if weights is not None and weights.dtype != weight.dtype:
        raise RuntimeError(
            f"embedding_bag: weight ({weight.dtype}) and per_sample_weights ({weights.dtype}) must "
            "have the same dtype"
        )


def _rows(
    input: Tensor, weight: Tensor, by_freq: bool, sparse: bool, padding: int | None = None
) -> Tensor:
    """weight[input]; an index outside of the table is a RuntimeError here, which names its place."""
    try:
        return embedding(input, weight, padding, scale_grad_by_freq=by_freq, sparse=sparse)
    except IndexError:
        _check_indices(input.reshape(-1), weight.size(0))
        raise


def _sums(input: Tensor, weight: Tensor, offsets: Tensor | None, mean: bool, last: bool) -> Tensor:
    """Sums or means of bags, which are added up where the rows lie."""
    if offsets is None:
        edges = taeda.arange(0, input.numel() + 1, input.size(1))
    else:
        _check_offsets(input, offsets, last)
        edges = offsets.long()
        edges = edges if last else taeda.cat([edges, edges.new_tensor([input.numel()])])
    flat = input.reshape(-1).long()
    try:
        sums = taeda._bag_sums(weight, flat, edges)
    except IndexError:
        _check_indices(flat, weight.size(0))
        raise
    if not mean:
        return sums
    return sums / edges.diff().clamp_min(1).unsqueeze(1).to(sums.dtype)


def _reduce_rows(rows: Tensor, mode: str, weights: Tensor | None) -> Tensor:
    """Of bags of one length, (bags, length, features): one for each bag."""
    if mode == "max":
        return rows.max(1).values  # of equals the first, as its gradient has it
    if weights is not None:
        rows = rows * weights.unsqueeze(2)
    return rows.sum(1) if mode == "sum" else rows.mean(1)


def _check_indices(flat: Tensor, rows: int) -> None:
    if flat.is_meta:
        return
    bad = ((flat < 0) | (flat >= rows)).nonzero()
    if bad.numel():
        at = int(bad[0, 0])
        raise RuntimeError(
            f"Index {at} of input takes value {int(flat[at])} which is not in the valid range [0, {rows})"
        )


def _wrapped(padding_idx: int, rows: int) -> int:
    if not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but "
            f"got {padding_idx}"
        )
    return padding_idx % rows


def _check_offsets(flat: Tensor, offsets: Tensor, last: bool) -> int:
    """The number of bags."""
    count = offsets.numel() - 1 if last else offsets.numel()
    if count < 0:
        raise RuntimeError("include_last_offset: number of offsets should be at least 1")
    if offsets.numel():
        if int(offsets[0]) != 0:
            raise RuntimeError(
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
                f"position 0. However, got {int(offsets[0])}"
            )
        if int(offsets[-1]) > flat.numel():
            raise RuntimeError(
                f"offsets[-1] can not be greater than input's length {flat.numel()} but got "
                f"offsets[-1] of {int(offsets[-1])}"
            )
    return count


def _bag_of_each(flat: Tensor, offsets: Tensor, last: bool) -> tuple[Tensor, int]:
    """The bag of each index, and the number of bags."""
    count = _check_offsets(flat, offsets, last)
    starts = (offsets[:-1] if last else offsets).long()
    begun = taeda.zeros(flat.numel() + 1, dtype=taeda.int64, device=flat.device)
    begun.index_add_(0, starts, taeda.ones_like(starts))
    return begun.cumsum(0)[:-1] - 1, count


def _largest(rows: Tensor, bag: Tensor, zeros: Tensor) -> Tensor:
    """The maximum in every bag, taken from the first row that has it: to that one the gradient goes."""
    index, found = bag.unsqueeze(1).expand_as(rows), rows.detach()
    largest = zeros.scatter_reduce(0, index, found, "amax", include_self=False).gather(0, index)
    places = taeda.arange(rows.size(0), device=rows.device).unsqueeze(1)
    behind = rows.size(0)  # a row of zeros, for bags that are empty
    places = taeda.where((found == largest) | found.isnan(), places, behind)
    first = taeda.full(zeros.shape, behind, device=rows.device)
    first = first.scatter_reduce(0, index, places, "amin")
    return taeda.cat([rows, zeros.new_zeros((1, rows.size(1)))]).gather(0, first)


def _reduce_bags(
    rows: Tensor, bag: Tensor, count: int, mode: str, weights: Tensor | None
) -> Tensor:
    zeros = taeda.zeros((count, rows.size(1)), dtype=rows.dtype, device=rows.device)
    if mode == "max":
        return _largest(rows, bag, zeros)
    if rows.dtype in (taeda.float16, taeda.bfloat16):  # rounded once
        return _reduce_bags(rows.float(), bag, count, mode, weights).to(rows.dtype)
    if weights is not None:
        rows = rows * weights.unsqueeze(1)
    total = zeros.index_add(0, bag, rows)
    if mode == "sum":
        return total
    sizes = taeda.zeros(count, dtype=bag.dtype, device=bag.device)
    sizes.index_add_(0, bag, taeda.ones_like(bag))
    return total / sizes.clamp_min(1).to(rows.dtype).unsqueeze(1)
