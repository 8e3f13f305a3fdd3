"""From a list of samples to one batch, by the type of the first sample."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import taeda
from taeda import Tensor

from . import here

__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]

CollateMap = dict[Any, Callable[..., Any]]

_NUMBERS = "biufcV"  # kinds of numpy dtypes that tensors have; V: bfloat16 and its like
_WANTED = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
#: for libraries that join samples themselves: numpy dtypes of texts and objects, and the refusal
np_str_obj_array_pattern = re.compile("[SaUO]")
default_collate_err_msg_format = f"{_WANTED}found {{}}"


def collate_tensor_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """One tensor with a new first dimension; in a worker on memory that the main process sees."""
    tensors = list(batch)
    room = None if here.arena is None else here.arena.stack_room(tensors)
    return taeda.stack(tensors, 0) if room is None else taeda.stack(tensors, 0, out=room)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Arrays as tensors, stacked; arrays of texts and objects are refused."""
    if batch[0].dtype.kind not in _NUMBERS:
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return collate_tensor_fn([taeda.as_tensor(array) for array in batch])


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """A tensor of the scalars' own dtype."""
    return taeda.as_tensor(batch)


def collate_float_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """A float64 tensor."""
    return taeda.tensor(batch, dtype=taeda.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """An int64 tensor, or a bool one."""
    return taeda.tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Texts and bytes stay a list."""
    return batch


# The type of a sample, or a tuple of types, to the function that joins samples of it. Looked up by
# exact type first, then by the first entry that the sample is an instance of. Users may add types.
default_collate_fn_map: CollateMap = {
    Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def _is_numpy(data: Any) -> bool:
    """Whether this is an array or a scalar of numpy, found without importing it."""
    return type(data).__module__ == "numpy" and hasattr(data, "dtype")


def _numpy_function(element: Any) -> Callable[..., Any] | None:
    if not _is_numpy(element):
        return None
    if type(element).__name__ == "ndarray":
        return collate_numpy_array_fn
    return collate_numpy_scalar_fn if element.dtype.kind in _NUMBERS else None


def _function_for(element: Any, collate_fn_map: CollateMap | None) -> Callable[..., Any] | None:
    if collate_fn_map is None:
        return None
    exact = collate_fn_map.get(type(element))
    if exact is not None:
        return exact
    if collate_fn_map is default_collate_fn_map and (found := _numpy_function(element)):
        return found
    for kind, function in collate_fn_map.items():
        if isinstance(element, kind):
            return function
    return None


def collate(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Join samples by `collate_fn_map`; go into mappings and sequences, which keep their type.

    Plain tuples become lists. The first sample says which keys a mapping and how many entries a
    sequence has: KeyError and RuntimeError if another sample differs. TypeError for other types.
    """
    element = batch[0]
    function = _function_for(element, collate_fn_map)
    if function is not None:
        return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(element, Mapping):
        return _mapping(batch, collate_fn_map)
    if isinstance(element, tuple) and hasattr(element, "_fields"):  # a named tuple
        columns = zip(*batch, strict=True)
        return type(element)(*(collate(c, collate_fn_map=collate_fn_map) for c in columns))
    if isinstance(element, Sequence):
        return _sequence(batch, collate_fn_map)
    raise TypeError(default_collate_err_msg_format.format(type(element)))


def _mapping(batch: Any, collate_fn_map: CollateMap | None) -> Any:
    first = batch[0]
    joined = {
        key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map)
        for key in first
    }
    return _like_mapping(first, joined)


def _like_mapping(first: Any, joined: dict[Any, Any]) -> Any:
    """`joined` as a mapping of the first one's type, or a dict if that cannot be made."""
    try:
        if isinstance(first, MutableMapping):
            made = copy.copy(first)  # keeps what the type holds besides its entries
            made.update(joined)
            return made
        return type(first)(joined)
    except TypeError:
        return joined


def _sequence(batch: Any, collate_fn_map: CollateMap | None) -> Any:
    first = batch[0]
    lengths = [len(sample) for sample in batch]
    if any(length != lengths[0] for length in lengths):
        raise RuntimeError(
            f"each element in list of batch should be of equal size, got lengths {lengths}"
        )
    columns = zip(*batch, strict=True)
    joined = [collate(column, collate_fn_map=collate_fn_map) for column in columns]
    return joined if isinstance(first, tuple) else _like_sequence(first, joined)


def _like_sequence(first: Any, joined: list[Any]) -> Any:
    """`joined` as a sequence of the first one's type, or a list if that cannot be made."""
    try:
        if isinstance(first, MutableSequence):
            made = copy.copy(first)
            for i, value in enumerate(joined):
                made[i] = value
            return made
        return type(first)(joined)
    except TypeError:
        return joined


def default_collate(batch: Any) -> Any:
    """Join a list of samples into a batch.

    Tensors and arrays are stacked, numbers become tensors (floats float64, ints int64), texts stay
    a list; mappings, sequences and named tuples are joined entry by entry.

    Args:
        batch: a non-empty list of samples of one form.

    >>> default_collate([(1, "a"), (2, "b")])
    [tensor([1, 2]), ('a', 'b')]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def default_convert(data: Any) -> Any:
    """`data` with numpy's arrays and numbers as tensors; for loaders that do not batch.

    Args:
        data: a sample: arrays, numbers, tensors, texts, or mappings and sequences of them.

    >>> default_convert([1, 'a'])
    [1, 'a']
    """
    if isinstance(data, (Tensor, str, bytes)):
        return data
    if _is_numpy(data):
        return taeda.as_tensor(data) if data.dtype.kind in _NUMBERS else data
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(entry) for entry in data]
    if isinstance(data, Sequence):
        return _like_sequence(data, [default_convert(entry) for entry in data])
    return data
