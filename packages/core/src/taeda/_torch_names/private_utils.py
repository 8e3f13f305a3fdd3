"""What libraries take from `torch._utils`: lists of tensors as one, devices, parameters of old files."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

import taeda
from taeda import Tensor
from taeda._warnings import warn

__all__ = [
    "FP32_PRECISION", "PRESERVED", "called_now", "classproperty", "device_index", "device_module",
    "device_type", "element_size", "flatten", "no_device", "progress", "reorder", "take", "unflatten",
    "warn_once",
]  # fmt: skip


FP32_PRECISION = "none"  # products of float32 are computed in float32
PRESERVED = "_user_preserved_attributes"  # the key in a graph module's `meta`

_said: set[str] = set()


def called_now(function: Callable[[], Any], **kwargs: Any) -> None:
    """What waits for the first use of a device elsewhere: done now, for here nothing waits."""
    function()


def no_device() -> bool:
    """Is there no CUDA device?"""
    import taeda

    return not taeda.cuda.is_available()


def progress(*args: Any, **kwargs: Any) -> Any:
    """A progress bar of tqdm; ImportError that says so where it is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("a progress bar wants tqdm: pip install tqdm") from None
    return tqdm(*args, **kwargs)


def warn_once(msg: str, stacklevel: int = 1) -> None:
    """A warning, the first time that it is said in this process."""
    if msg not in _said:
        _said.add(msg)
        warn(msg)


def element_size(dtype: Any) -> int:
    """Bytes of one element."""
    return dtype.itemsize


def device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int | None:
    """The ordinal of a device: -1 for the cpu, if allowed; ValueError where there is none to tell."""
    if isinstance(device, int):
        return device
    named = None if device is None else taeda.device(device)
    if named is not None and named.type == "cpu" and allow_cpu:
        return -1
    if named is not None and named.index is not None:
        return named.index
    if optional:
        return None
    raise ValueError(f"Expected a device with an index, got {device!r}")


def device_type() -> str | None:
    """The kind of the accelerator, "cuda" or another; None where there is none."""
    found = taeda.accelerator.current_accelerator()
    return None if found is None or not taeda.accelerator.is_available() else found.type


def device_module(kind: str) -> ModuleType:
    """`taeda.cuda` for "cuda". RuntimeError for a kind without a module."""
    try:
        return importlib.import_module(f"taeda.{kind}")
    except ModuleNotFoundError:
        raise RuntimeError(
            f"Device '{kind}' does not have a corresponding module registered as 'taeda.{kind}'."
        ) from None


def flatten(tensors: Sequence[Tensor]) -> Tensor:
    """All elements in one dimension, tensor by tensor. A single tensor lends its memory if it can.

    ValueError for an empty list: it has no dtype.
    """
    if len(tensors) == 1:
        return tensors[0].contiguous().view(-1)
    return taeda.cat([t.contiguous().view(-1) for t in tensors])


def unflatten(flat: Tensor, tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """The elements of `flat` in the shapes of `tensors`; what has elements is a view."""
    parts, start = [], 0
    for like in tensors:
        size = like.numel()
        parts.append(flat.narrow(0, start, size).view(like.shape))
        start += size
    return tuple(parts)


def take(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Lists of tensors of one kind, each closed before it grows beyond `size_limit` bytes."""
    open_lists: dict[str, tuple[list[Tensor], int]] = {}
    for tensor in tensors:
        size = tensor.numel() * tensor.element_size()
        kind = tensor.type()
        listed, held = open_lists.get(kind, ([], 0))
        if listed and held + size > size_limit:
            yield listed
            listed, held = [], 0
        open_lists[kind] = ([*listed, tensor], held + size)
    for listed, _ in open_lists.values():
        yield listed


def reorder(tensors: Iterable[Tensor], ordered_tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """The tensors in the order of others, kind by kind, as `take` has parted them."""
    waiting: dict[str, list[Tensor]] = {}
    for tensor in tensors:
        waiting.setdefault(tensor.type(), []).append(tensor)
    turns = {kind: iter(listed) for kind, listed in waiting.items()}
    return tuple(next(turns[tensor.type()]) for tensor in ordered_tensors)


class classproperty:
    """A property of a class."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self.function(type(instance) if owner is None else owner)
