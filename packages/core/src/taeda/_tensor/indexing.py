"""x[key] and x[key] = value where the key is not only integers and slices: masks, index tensors,
lists, arrays.

A key is split into a basic part, which makes a view, and tensors that index dimensions of that view:
`x[0, :, mask]` is `index(x[0, :], [None, mask])`.
"""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core
from taeda._warnings import warn

_BYTES = (
    "indexing with dtype uint8 is deprecated: its numbers count as truth values here and as places in NumPy. "
    "Index with mask.bool(), or with places.long()"
)

__all__ = ["getitem", "getitem_layered", "setitem", "setitem_layered"]


def getitem_layered(self: Tensor, key: Any) -> Any:
    """The entry while a layer is active or `self` is of a subclass."""
    from taeda._layers import dispatch as _dispatch

    return _dispatch.dispatch_override(Tensor.__getitem__, (self, key), {})


def setitem_layered(self: Tensor, key: Any, value: Any) -> None:
    """The same for assignment."""
    from taeda._layers import dispatch as _dispatch

    _dispatch.dispatch_override(Tensor.__setitem__, (self, key, value), {})


_KNOWN = frozenset({Tensor, list, tuple, int, bool, range, type(None), type(...)})


def _is_for_others(key: Any) -> bool:
    """Whether an index that is none of those known has a `__torch_function__`."""
    if _KNOWN.issuperset(map(type, key if type(key) is tuple else (key,))):
        return False
    from taeda._layers import dispatch as _dispatch

    asked = (v for v in _dispatch._scan((key,), {}) if not isinstance(v, Tensor))
    return _dispatch.has_overrides(asked)


def getitem(self: Tensor, key: Any) -> Tensor:
    """x[key] for a key with at least one advanced entry."""
    if _is_for_others(key):
        return getitem_layered(self, key)
    view, indices = _split(self, key)
    return taeda.index(view, indices) if indices else taeda.alias(view)


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """x[key] = value, written in place with the value broadcast."""
    if self.layout is not _core.strided and not self.is_nested:
        raise TypeError(
            "Cannot assign to a sparse tensor: what its index gives is no view. Make one of its indices and "
            "other values, or assign to its to_dense()"
        )
    view = _core.basic_view(self, key)
    if view is None and key is True:
        view = self.unsqueeze(0)
    if view is not None:
        _write(view, value)
        return
    if key is False:  # it names nothing
        return
    if _is_for_others(key):
        setitem_layered(self, key, value)
        return
    view, indices = _split(self, key)
    if not indices:
        _write(view, value)
        return
    # floats are quantized as they are written
    dtype = taeda.float32 if self.is_quantized else self.dtype
    if not isinstance(value, Tensor):
        value = _as_tensor(value, dtype)
    elif value.dtype is not self.dtype and (value.dim() == 0 or _fills(value, indices)):
        value = value.to(dtype)
    if value.numel() == 1 and value.device != self.device:  # a number goes with any device
        value = value.reshape(())
    taeda.index_put_(view, indices, _shrink(value, view, indices))


def _fills(value: Tensor, indices: list[Tensor | None]) -> bool:
    """Is this one number written wherever a mask is true? Then any dtype will do."""
    given = [i for i in indices if i is not None]
    return value.numel() == 1 and len(given) == 1 and given[0].dtype in (taeda.bool, taeda.uint8)


def _shrink(value: Tensor, view: Tensor, indices: list[Tensor | None]) -> Tensor:
    """Leading dimensions of size 1 that the target lacks are dropped, as basic assignment does."""
    while value.dim() > view.dim() + 64 or (
        value.dim() > 1 and value.shape[0] == 1 and value.dim() > _rank(view, indices)
    ):
        value = value.squeeze(0)
    return value


def _rank(view: Tensor, indices: list[Tensor | None]) -> int:
    given = [i for i in indices if i is not None]
    masks = sum(i.dim() - 1 for i in given if i.dtype in (taeda.bool, taeda.uint8))
    shapes = max((1 if i.dtype in (taeda.bool, taeda.uint8) else i.dim() for i in given), default=0)
    return view.dim() - len(given) - masks + shapes


def _write(view: Tensor, value: Any) -> None:
    if not isinstance(value, Tensor):
        if isinstance(value, (bool, int, float, complex)):
            view.fill_(value)
            return
        value = _as_tensor(value, None)
    while value.dim() > view.dim() and value.shape[0] == 1:
        value = value.squeeze(0)
    view.copy_(value)


def _as_tensor(value: Any, dtype: Any) -> Tensor:
    if value is None:
        raise TypeError("can't assign a NoneType to a tensor: wanted numbers or a tensor")
    return taeda.as_tensor(value, dtype=dtype)


def _is_sequence_of_indices(key: Any) -> bool:
    """A list of fewer than 32 entries counts as a tuple if one of them is no number: a slice, a
    tensor, a sequence.
    """
    return isinstance(key, list) and len(key) < 32 and any(map(_is_no_number, key))


def _is_no_number(item: Any) -> bool:
    if item is None or item is Ellipsis or isinstance(item, (slice, Tensor)):
        return True
    return hasattr(item, "__len__") and hasattr(item, "__getitem__") and not isinstance(item, dict)


def _is_mask(key: Any) -> bool:
    """Nested lists of truth values, as `mask.tolist()` gives them."""
    return isinstance(key, bool) or (isinstance(key, list) and all(map(_is_mask, key)))


def _split(self: Tensor, key: Any) -> tuple[Tensor, list[Tensor | None]]:
    one = isinstance(key, list) and len(key) > self.dim() and _is_mask(key)  # too many for a tuple
    many = isinstance(key, tuple) or (not one and _is_sequence_of_indices(key))
    items = list(key) if many else [key]
    items = [_index_tensor(item) for item in items]
    if sum(item is Ellipsis for item in items) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    used = sum(_dims(item) for item in items)
    if used > self.dim():
        raise IndexError(
            f"too many indices for tensor of dimension {self.dim()}: {used} were given"
        )
    view, dim, indices = self, 0, list[Tensor | None]()
    for item in items:
        if item is Ellipsis:
            dim += self.dim() - used
        elif item is None:
            view = view.unsqueeze(dim)
            dim += 1
        elif isinstance(item, slice):
            view = _core.basic_view(view, (slice(None),) * dim + (item,))
            dim += 1
        elif isinstance(item, int) and not isinstance(item, bool):
            view = view.select(dim, item)
        else:
            if isinstance(item, bool):
                view, item = view.unsqueeze(dim), taeda.tensor([item])
            elif item.dim() == 0 and item.dtype in (taeda.bool, taeda.uint8):
                view, item = view.unsqueeze(dim), item.reshape(1).to(taeda.bool)
            indices.extend([None] * (dim - len(indices)))
            indices.append(item)
            indices.extend(
                [None] * (_dims(item) - 1 if item.dtype in (taeda.bool, taeda.uint8) else 0)
            )
            dim += _dims(item)
    return view, _without_mask_padding(indices)


def _without_mask_padding(indices: list[Tensor | None]) -> list[Tensor | None]:
    """A mask of rank r stands for r dimensions by itself: drop the r - 1 placeholders behind it."""
    kept, skip = list[Tensor | None](), 0
    for item in indices:
        if skip:
            skip -= 1
            continue
        kept.append(item)
        if item is not None and item.dtype in (taeda.bool, taeda.uint8):
            skip = item.dim() - 1
    return kept


def _dims(item: Any) -> int:
    """How many dimensions of the tensor an entry of the key stands for."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, Tensor) and item.dtype in (taeda.bool, taeda.uint8):
        return item.dim()
    return 1


def _index_tensor(item: Any) -> Any:
    if isinstance(item, Tensor):
        if item.dtype not in (
            taeda.int64,
            taeda.int32,
            taeda.bool,
            taeda.uint8,
            taeda.int8,
            taeda.int16,
        ):
            raise IndexError(
                f"tensors used as indices must be long, int, byte or bool tensors, got {item.dtype}"
            )
        if item.dtype is taeda.uint8:
            warn(_BYTES, UserWarning)
        if item.dim() == 0 and item.dtype not in (taeda.bool, taeda.uint8):
            return int(item) if item.device.type != "meta" else item.reshape(1)
        return item
    if item is None or item is Ellipsis or isinstance(item, (slice, bool, int)):
        return item
    if hasattr(item, "__index__") and not hasattr(item, "shape"):
        return item.__index__()
    if isinstance(item, (list, tuple, range)) or hasattr(item, "__array__"):
        made = taeda.as_tensor(item if not isinstance(item, range) else list(item))
        if made.numel() == 0 and isinstance(item, (list, tuple)):
            made = made.to(taeda.int64)
        return _index_tensor(made)
    # of a text, a key meant for a dict, programs expect a TypeError
    raise (TypeError if isinstance(item, (str, bytes)) else IndexError)(
        "only integers, slices (`:`), ellipsis (`...`), None and tensors of integers or bools are indices "
        f"(got {type(item).__name__})"
    )
