"""Constructors: indices and values that were given, checked."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.layouts import require_plain

from ._graph import built
from ._invariants import check_sparse_tensor_invariants
from ._parts import Coo, check_coo, keys_of

__all__ = ["sparse_coo_tensor"]

_INDICES = (taeda.int64, taeda.int32, taeda.int16, taeda.int8, taeda.uint8)


def given(data: Any, dtype: Any, device: Any, name: str = "values") -> Tensor:
    require_plain(name, data)
    if isinstance(data, Tensor):
        return data.to(
            dtype=data.dtype if dtype is None else dtype,
            device=data.device if device is None else device,
        )
    return taeda.tensor(data, dtype=dtype, device=device)


def index_tensor(data: Any, name: str, wanted: Any, device: Any) -> Tensor:
    found = given(data, None, device, name)
    # a tensor without elements is often one of floats
    if found.dtype not in _INDICES and found.numel():
        wants = "an int tensor type" if isinstance(data, Tensor) else "integers"
        raise RuntimeError(f"{name} must be {wants}, but got {found.dtype}")
    return (found if found.dtype is wanted else found.to(wanted)).detach()


def finish(
    parts: Any, values: Tensor, size: Any, requires_grad: bool, is_differentiable: bool
) -> Tensor:
    made = built(parts, values if is_differentiable else values.detach(), size)
    return made.requires_grad_() if requires_grad else made


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of `values` (entries, dense dimensions) at `indices` (sparse dimensions, entries).

    Values at the same place are added up. Without `size` it is the smallest that has all places.
    With `sparse_coo_tensor(size)` no place has a value. Indices are always checked:
    `check_invariants=True` also looks whether `is_coalesced=True` is true. Gradients flow to
    `values` if they require them.

    Args:
        indices: (sparse dimensions, entries), integers of 0 or more; or the size, where nothing
            else is given (default: None).
        values: (entries, dense dimensions); one number counts as one entry (default: None).
        size: sparse, then dense dimensions; RuntimeError where it does not fit the values
            (default: None).
        dtype, device: of the values; None (the default) for that of `values`.
        requires_grad: whether the result is a leaf that gets a gradient; False by default.
        check_invariants: None takes what `check_sparse_tensor_invariants` was told.
        is_coalesced: True says that places rise and none comes twice; None and False say nothing.
        pin_memory: only False; NotImplementedError for True.

    >>> sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    refuse_pinned(pin_memory)
    if values is None:
        if indices is None and size is None:
            raise TypeError("sparse_coo_tensor wants indices and values, or a size")
        size = tuple(indices) if size is None else tuple(size)
        indices = taeda.empty((len(size), 0), dtype=taeda.int64, device=device)
        values = taeda.empty(0, dtype=dtype, device=device)
        is_coalesced = True  # no place, so none twice
    found = given(values, dtype, device)
    if found.dim() == 0:
        found = found.reshape(1)
    at = index_tensor(indices, "indices", taeda.int64, device or found.device)
    if at.dim() != 2:
        raise RuntimeError(
            f"indices must be sparse_dim x nnz, but got a tensor of shape {tuple(at.shape)}"
        )
    if at.size(1) != found.size(0):
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {at.size(1)}, nnz "
            f"from values: {found.size(0)}"
        )
    size = _size(at, found, size)
    check_coo(at, size)
    parts = Coo(at, found, bool(is_coalesced))
    if check_invariants is None:
        check_invariants = check_sparse_tensor_invariants.is_enabled()
    if is_coalesced and check_invariants and not at.is_meta:
        _check_coalesced(parts, size)
    return finish(parts, found, size, requires_grad, not requires_grad)


def refuse_pinned(pin_memory: bool) -> None:
    if pin_memory:
        raise NotImplementedError(
            "pin_memory=True is not supported for sparse tensors: pin the indices and values"
        )


def _size(indices: Tensor, values: Tensor, size: Any) -> tuple[int, ...]:
    dense = tuple(values.shape[1:])
    if size is None:
        if not indices.size(1) and indices.size(0):
            return (*(0,) * indices.size(0), *dense)
        if indices.is_meta:
            raise RuntimeError("indices on meta have no numbers to take a size from: give size")
        most = (indices.amax(1) + 1).tolist() if indices.numel() else []
        return (*most, *dense)
    size = tuple(int(n) for n in size)
    if any(n < 0 for n in size):
        raise RuntimeError(f"a size has no negative numbers, but got {size}")
    rank = indices.size(0) + len(dense)
    if len(size) != rank:
        raise RuntimeError(
            f"number of dimensions must be sparse_dim ({indices.size(0)}) + dense_dim "
            f"({len(dense)}), but got {len(size)}"
        )
    if size[indices.size(0) :] != dense:
        raise RuntimeError(
            f"values has incorrect size, expected {[values.size(0), *size[indices.size(0) :]]}, "
            f"got {list(values.shape)}"
        )
    return size


def _check_coalesced(parts: Coo, size: Any) -> None:
    if parts.indices.size(0) and bool((keys_of(parts.places(), size).diff() <= 0).any()):
        raise RuntimeError(
            "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor: they "
            "must rise, each once"
        )
