"""Functions that make nested tensors: of lists, of values and offsets, of a part of each row."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.doors import require_tensors
from taeda._core_api.layouts import require_plain

from ._graph import built, components
from ._ints import size_for
from ._parts import Jagged, is_nested, packed, packed_offsets
from ._pieces import is_pieces, joined, pieces_of

__all__ = [
    "as_nested_tensor", "from_components", "masked_select", "narrow", "nested_tensor",
    "nested_tensor_from_jagged",
]  # fmt: skip


def _is_jagged(layout: Any, name: str) -> bool:
    """Whether the layout is jagged, and not strided, the default; RuntimeError for another."""
    if layout not in (None, taeda.strided, taeda.jagged):
        raise RuntimeError(
            f"{name}: nested tensors have the layout strided or jagged, and not {layout}"
        )
    return layout is taeda.jagged


def from_components(pieces: Sequence[Tensor]) -> Tensor:
    """The nested tensor of these, with their history. RuntimeError if they differ in more than a size."""
    if not pieces:
        raise RuntimeError("a nested tensor wants at least one tensor, got an empty list")
    first = pieces[0]
    if any(piece.dim() != first.dim() for piece in pieces):
        raise RuntimeError(
            "a nested tensor wants tensors of as many dimensions, got "
            f"{[piece.dim() for piece in pieces]}"
        )
    if not first.dim():
        raise RuntimeError("a nested tensor wants tensors with a dimension, got some without")
    unlike = [d for d in range(first.dim()) if len({piece.shape[d] for piece in pieces}) > 1]
    if len(unlike) > 1:
        raise RuntimeError(
            "a jagged nested tensor has one ragged dimension, but the tensors have the shapes "
            f"{[tuple(piece.shape) for piece in pieces]}"
        )
    at = unlike[0] if unlike else 0
    values = taeda.cat(list(pieces), at)
    return built(packed(values.detach(), [p.shape[at] for p in pieces], at + 1), values)


def nested_tensor(
    tensor_list: Sequence[Any],
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A nested tensor of copies, a leaf of the graph.

    Args:
        tensor_list: tensors, or what `tensor` takes, of one rank; they may differ in one size.
        dtype, device: of the result; None (the default) for that of the first tensor.
        layout: taeda.jagged, or taeda.strided, in which tensors may differ in every size; None
            (the default) for taeda.strided.
        requires_grad: whether gradients are wanted (default: False).
        pin_memory: not supported (default: False).

    >>> import taeda
    >>> x = taeda.nested.nested_tensor([[1.0, 2.0], [3.0]], layout=taeda.jagged)
    >>> x.unbind()
    (tensor([1., 2.]), tensor([3.]))
    """
    _is_jagged(layout, "nested_tensor")
    if pin_memory:
        raise NotImplementedError("nested_tensor: pin_memory: pin the tensors of the list")
    if not isinstance(tensor_list, (list, tuple)):
        raise TypeError(
            f"nested_tensor(): Expected first argument to be list or tuple, got {type(tensor_list).__name__}"
        )
    _require_plain_pieces("nested_tensor", tensor_list)
    pieces = [taeda.as_tensor(piece).detach() for piece in tensor_list]
    return as_nested_tensor(pieces, dtype, device, layout).requires_grad_(requires_grad)


def as_nested_tensor(ts: Any, dtype: Any = None, device: Any = None, layout: Any = None) -> Tensor:
    """A nested tensor with the history of what it is made of.

    Args:
        ts: a list of tensors as in `nested_tensor`, whose copies it holds; a strided tensor, each
            row of which is a tensor of the batch; or a nested tensor.
        dtype, device, layout: as in `nested_tensor` (default: None).

    >>> x = taeda.nested.as_nested_tensor([taeda.ones(2), taeda.ones(3)], layout=taeda.jagged)
    >>> [piece.shape for piece in x.unbind()]
    [taeda.Size([2]), taeda.Size([3])]
    """
    if is_pieces(ts):
        ts = pieces_of(ts)
    if is_nested(ts) and layout is taeda.strided:
        ts = components(ts)
    if is_nested(ts):
        return ts.to(dtype=dtype or ts.dtype, device=device or ts.device)
    jagged = _is_jagged(layout, "as_nested_tensor")
    _require_plain_pieces("as_nested_tensor", ts)
    if isinstance(ts, Tensor) and jagged:
        return _of_rows(ts.to(dtype=dtype or ts.dtype, device=device or ts.device))
    if isinstance(ts, Tensor):
        ts = ts.unbind(0)
    if not isinstance(ts, (list, tuple)) or not all(isinstance(t, Tensor) for t in ts):
        raise TypeError(
            f"as_nested_tensor(): wanted a tensor, a list or a tuple of tensors, got {type(ts).__name__}"
        )
    if ts:
        if jagged and dtype is None and len({t.dtype for t in ts}) > 1:
            raise RuntimeError(
                "as_nested_tensor: all tensors of the list must have one dtype, but got "
                f"{sorted({str(t.dtype) for t in ts})}: give dtype="
            )
        dtype, device = dtype or ts[0].dtype, device or ts[0].device
    pieces = [t.to(dtype=dtype, device=device) for t in ts]
    return from_components(pieces) if jagged else joined([t.clone() for t in pieces])


def _require_plain_pieces(name: str, ts: Any) -> None:
    if isinstance(ts, Tensor):
        require_plain(f"{name}: the batch", ts)
        return
    for number, piece in enumerate(ts if isinstance(ts, (list, tuple)) else ()):
        require_plain(f"{name}: tensor {number} of the list", piece)


def _of_rows(x: Tensor) -> Tensor:
    if x.dim() < 2:
        raise RuntimeError(
            f"as_nested_tensor: wanted a batch of tensors, but got {x.dim()} dimensions"
        )
    values = x.flatten(0, 1)
    return built(packed(values.detach(), [int(x.shape[1])] * int(x.shape[0]), 1), values)


def nested_tensor_from_jagged(
    values: Tensor,
    offsets: Tensor | None = None,
    lengths: Tensor | None = None,
    jagged_dim: int | None = None,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> Tensor:
    """The nested tensor of packed values, as a view of them. Its raggedness is that of `offsets`: tensors
    made with the same ones go together.

    Args:
        values: all tensors of the batch, one after the other along a dimension.
        offsets: where each begins, and where the last ends: ints, one more than there are
            tensors (default: None).
        lengths: how long each is, where there are holes; alone, of tensors that follow each
            other (default: None).
        jagged_dim: the ragged dimension of the result; None (the default) for 1.
        min_seqlen, max_seqlen: bounds of the lengths that are known already; they are checked
            (default: None).

    ValueError or RuntimeError for offsets and lengths that do not fit the values.

    >>> values, offsets = taeda.arange(5.0), taeda.tensor([0, 2, 5])
    >>> x = taeda.nested.nested_tensor_from_jagged(values, offsets)
    >>> [piece.tolist() for piece in x.unbind()]
    [[0.0, 1.0], [2.0, 3.0, 4.0]]
    """
    require_tensors("nested_tensor_from_jagged", values=values)
    at = 1 if jagged_dim is None else int(jagged_dim)
    for name, part in (("values", values), ("offsets", offsets), ("lengths", lengths)):
        require_plain(f"nested_tensor_from_jagged: {name}", part)
    if not 1 <= at <= values.dim():
        raise ValueError(
            f"jagged_dim is {at}, but values of {values.dim()} dimensions have 1 to {values.dim()}"
        )
    if offsets is None and lengths is None:
        raise RuntimeError("nested_tensor_from_jagged(): wanted offsets or lengths, got neither")
    for name, given in (("offsets", offsets), ("lengths", lengths)):
        if given is not None and (
            given.dim() != 1 or given.dtype not in (taeda.int64, taeda.int32)
        ):
            raise RuntimeError(
                f"{name} must be ints of one dimension, but got {given.dtype} of "
                f"{tuple(given.shape)}"
            )
    if offsets is None:
        assert lengths is not None  # one of them was asked for above
        own, bounds = packed_offsets(lengths.tolist(), values.device)
        lengths = None
    else:
        own, starts = offsets, offsets.tolist()
        if not starts:
            raise ValueError("offsets has at least one number: where the first tensor begins")
        ends = starts[1:]
        if lengths is not None:
            if lengths.numel() != len(ends):
                raise ValueError(f"lengths has {lengths.numel()} numbers for {len(ends)} tensors")
            ends = [s + n for s, n in zip(starts[:-1], lengths.tolist(), strict=True)]
        bounds = list(zip(starts[:-1], ends, strict=True))
    _check_bounds(bounds, int(values.shape[at - 1]), min_seqlen, max_seqlen)
    return built(Jagged(values.detach(), own, lengths, at, bounds, size_for(own)), values)


def _check_bounds(bounds: Any, total: int, least: int | None, most: int | None) -> None:
    for number, (start, end) in enumerate(bounds):
        if not 0 <= start <= end <= total:
            raise ValueError(
                f"tensor {number} of the batch would lie from {start} to {end} in {total} values"
            )
        if not (least or 0) <= end - start <= (total if most is None else most):
            raise ValueError(
                f"tensor {number} of the batch has the length {end - start}, not within min_seqlen "
                f"{least} and max_seqlen {most}"
            )


def narrow(
    tensor: Tensor, dim: int, start: int | Tensor, length: int | Tensor, layout: Any = taeda.strided
) -> Tensor:
    """The nested tensor of a part of each row, a view.

    Args:
        tensor: strided, (batch, places, ...).
        dim: the dimension of which parts are taken: 1, of the strided layout any but 0.
        start, length: where each part begins and how long it is: one number, or one for each row.
        layout: taeda.jagged for a view; taeda.strided, the default, copies the parts.

    >>> x = taeda.arange(10.0).reshape(2, 5)
    >>> starts, lengths = taeda.tensor([0, 2]), taeda.tensor([1, 3])
    >>> parts = taeda.nested.narrow(x, 1, starts, lengths, layout=taeda.jagged)
    >>> [piece.tolist() for piece in parts.unbind()]
    [[0.0], [7.0, 8.0, 9.0]]
    """
    require_tensors("narrow", tensor=tensor)
    require_plain("narrow: the batch", tensor)
    if not _is_jagged(layout, "narrow"):
        return _copied_parts(tensor, dim, start, length)
    if dim != 1:
        raise RuntimeError(f"jagged layout only supports dim=1, but got dim={dim}")
    if tensor.dim() < 2:
        raise RuntimeError("narrow: wanted a strided tensor of at least two dimensions")
    rows, places = int(tensor.shape[0]), int(tensor.shape[1])
    starts, lengths = _one_a_row(start, rows, "start"), _one_a_row(length, rows, "length")
    for number, (begin, count) in enumerate(zip(starts, lengths, strict=True)):
        if begin < 0 or count < 0 or begin + count > places:
            raise RuntimeError(
                f"narrow: row {number} has {places} places, not those from {begin} to {begin + count}"
            )
    begins = [row * places + begin for row, begin in enumerate(starts)]
    bounds = [(begin, begin + count) for begin, count in zip(begins, lengths, strict=True)]
    offsets = taeda.tensor([*begins, rows * places], device=tensor.device)
    held = taeda.tensor(lengths, device=tensor.device, dtype=taeda.int64)
    values = tensor.flatten(0, 1)
    return built(Jagged(values.detach(), offsets, held, 1, bounds, size_for(offsets)), values)


def _copied_parts(tensor: Tensor, dim: int, start: Any, length: Any) -> Tensor:
    if tensor.dim() < 2 or not 1 <= dim < tensor.dim():
        raise RuntimeError(
            "narrow: wanted a strided tensor of at least two dimensions, and one of them that is not the "
            f"batch, got dim={dim}"
        )
    rows = tensor.unbind(0)
    starts = _one_a_row(start, len(rows), "start")
    lengths = _one_a_row(length, len(rows), "length")
    parts = zip(rows, starts, lengths, strict=True)
    return joined([row.narrow(dim - 1, begin, count).clone() for row, begin, count in parts])


def _one_a_row(given: Any, rows: int, name: str) -> list[int]:
    if isinstance(given, Tensor):
        if given.dim() != 1 or given.numel() != rows:
            raise RuntimeError(
                f"{name} must have one number for each of {rows} rows, but has the "
                f"shape {tuple(given.shape)}"
            )
        if given.is_floating_point() or given.is_complex() or given.dtype is taeda.bool:
            raise TypeError(f"{name} must be integers, got {given.dtype}")
        return [int(n) for n in given.tolist()]
    return [index(given)] * rows


def masked_select(tensor: Tensor, mask: Tensor) -> Tensor:
    """The elements of each row where the mask is True, as a nested tensor.

    Args:
        tensor: strided.
        mask: bools that broadcast to it.

    >>> x, mask = taeda.tensor([[1, 2], [3, 4]]), taeda.tensor([[True, False], [True, True]])
    >>> [piece.tolist() for piece in taeda.nested.masked_select(x, mask).unbind()]
    [[1], [3, 4]]
    """
    require_tensors("masked_select", tensor=tensor, mask=mask)
    require_plain("masked_select: the batch", tensor)
    require_plain("masked_select: mask", mask)
    if mask.dtype is not taeda.bool:
        raise RuntimeError(f"masked_select: expected BoolTensor for mask, but got {mask.dtype}")
    if tensor.dim() != 2:
        raise NotImplementedError(f"masked_select: wanted 2 dimensions, but got {tensor.dim()}")
    own = mask.expand(tensor.shape)
    values = tensor[own]
    return built(packed(values.detach(), own.sum(1).tolist(), 1), values)
