"""Arguments and results of what is traced: which there may be, what tells them apart, copies of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.compiler._arguments import flatten
from taeda.compiler._replay.rehearsal import twin

__all__ = ["copies_of", "kept", "kind_of", "results_only", "shapes_of", "tensors_only"]


def kind_of(args: tuple[Any, ...]) -> Any:
    """What arguments a graph serves: their structure, and dtype, shape, strides and device of each tensor."""
    key, tensors = flatten(args, {})
    return key, tuple((t.dtype, t.shape, t.stride(), t.device) for t in tensors)


def tensors_only(value: Any) -> None:
    """RuntimeError for an argument that is no tensor, and no list, dict or tuple of them."""
    if isinstance(value, list | tuple):
        for entry in value:
            tensors_only(entry)
    elif type(value) is dict:
        for entry in value.values():
            tensors_only(entry)
    elif type(value) not in (Tensor, nn.Parameter, nn.Buffer):
        raise RuntimeError(
            f"Type '{type(value).__name__}' cannot be traced. Only Tensors and (possibly nested) "
            "Lists, Dicts, and Tuples of "
            "Tensors can be traced; what else the function needs may stand in a lambda around it"
        )


def shapes_of(value: Any) -> Any:
    """Structure, shapes and dtypes alone: what tensors of a transform tell of themselves."""
    if isinstance(value, Tensor):
        return value.dtype, tuple(value.shape)
    if isinstance(value, dict):
        return dict, *((key, shapes_of(entry)) for key, entry in value.items())
    return type(value), *map(shapes_of, value)


def results_only(value: Any, strict: bool) -> None:
    """RuntimeError for a result that no graph gives; `strict` refuses lists and dicts, too."""
    if isinstance(value, Tensor):
        return
    if not isinstance(value, list | tuple | dict):
        raise RuntimeError(
            "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from "
            f"traced functions; got {type(value).__name__}"
        )
    if strict and isinstance(value, list | dict):
        raise RuntimeError(
            f"jit.trace: a {type(value).__name__} is returned, whose entries may depend on the "
            "inputs, while the graph has "
            "those of this call. Return a tuple, or say strict=False"
        )
    for entry in value.values() if isinstance(value, dict) else value:
        results_only(entry, strict)


def copies_of(value: Any, made: dict[int, Tensor]) -> Any:
    """The same structure with tensors of the same layout, each once."""
    if isinstance(value, Tensor):
        if id(value) not in made:
            made[id(value)] = twin(value)
        return made[id(value)]
    if isinstance(value, dict):
        return {key: copies_of(entry, made) for key, entry in value.items()}
    entries = [copies_of(entry, made) for entry in value]
    if hasattr(value, "_fields"):
        return type(value)(*entries)
    return entries if isinstance(value, list) else tuple(entries)


@contextmanager
def kept(written: list[Tensor]) -> Iterator[None]:
    """What is run here leaves these tensors and the generator as they were."""
    before = [(t, t._version, t.detach().clone()) for t in written]
    state = taeda.get_rng_state()
    try:
        yield
    finally:
        taeda.set_rng_state(state)
        with taeda.no_grad():
            for tensor, version, values in before:
                if tensor._version != version:
                    tensor.copy_(values)
