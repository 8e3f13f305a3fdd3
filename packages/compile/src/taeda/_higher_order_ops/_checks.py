"""What every one of these operators asks of its functions, of what they are given and of what they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs as _core
from taeda._core_api.trees import TreeSpec, tree_flatten

__all__ = ["alike", "function", "pure", "sliced", "slices", "stacked", "tensors"]


def function(operator: str, name: str, value: Any) -> None:
    """RuntimeError unless it can be called."""
    if not callable(value):
        raise RuntimeError(f"{operator}: {name} must be a function, got {type(value).__name__}")


def tensors(operator: str, name: str, tree: Any) -> tuple[list[Tensor], TreeSpec]:
    """The leaves of a tree of tensors, and its structure.
    RuntimeError for none at all, or for leaves of another kind.
    """
    leaves, spec = tree_flatten(tree)
    if not leaves:
        raise RuntimeError(f"{operator}: {name} holds no tensor")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{operator}: {name} must hold tensors, got {type(leaf).__name__}")
    return leaves, spec


def sliced(operator: str, xs: Any, dim: int) -> None:
    """RuntimeError if `xs` holds no tensors, or they differ in size along `dim`, or the size is 0;
    IndexError if a tensor lacks the dimension.
    """
    leaves, _ = tensors(operator, "xs", xs)
    for leaf in leaves:
        if not -leaf.dim() <= dim < leaf.dim():
            raise IndexError(
                f"{operator}: there is no dimension {dim} in a tensor of shape {list(leaf.shape)}"
            )
    size = leaves[0].shape[dim]
    if size == 0 or any(leaf.shape[dim] != size for leaf in leaves[1:]):
        found = ", ".join(str(list(leaf.shape)) for leaf in leaves)
        raise RuntimeError(
            f"{operator}: xs must have one size, above 0, in dimension {dim}; got shapes {found}"
        )


def slices(
    operator: str, xs: Any, dim: int, *, reverse: bool = False
) -> tuple[list[list[Tensor]], TreeSpec]:
    """The leaves of `xs` at every place along `dim`, in the order of the steps, and the structure of `xs`."""
    leaves, spec = tensors(operator, "xs", xs)
    places = range(leaves[0].shape[dim])
    order = reversed(places) if reverse else places
    return [[leaf.select(dim, place) for leaf in leaves] for place in order], spec


def alike(operator: str, what: str, given: Any, made: Any) -> None:
    """RuntimeError unless `made` has the structure of `given`, and each tensor its shape, dtype and
    device.
    """
    before, spec = tree_flatten(given)
    after, found = tree_flatten(made)
    if spec != found:
        raise RuntimeError(f"{operator}: {what} must keep its structure {spec}, got {found}")
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if _kind(old) != _kind(new):
            raise RuntimeError(
                f"{operator}: entry {number} of {what} must stay {_said(old)}, got {_said(new)}"
            )


def stacked(operator: str, made: list[Any], dim: int = 0, *, reverse: bool = False) -> Any:
    """A tree whose leaves are those of all steps, stacked.
    RuntimeError unless all steps gave the same kinds of tensors.
    """
    for one in made:
        alike(operator, "the output of a step", made[0], one)
    first, spec = tree_flatten(made[0])
    columns: list[list[Any]] = [[] for _ in first]
    for one in reversed(made) if reverse else made:
        for column, leaf in zip(columns, tree_flatten(one)[0], strict=True):
            if not isinstance(leaf, Tensor):
                raise RuntimeError(
                    f"{operator}: the function must give tensors, got {type(leaf).__name__}"
                )
            column.append(leaf)
    return spec.unflatten([taeda.stack(column, dim) for column in columns])


@contextmanager
def pure(operator: str, name: str, given: Any) -> Iterator[Callable[[Any], None]]:
    """Around a call of a user's function with `given`: RuntimeError if the call writes to it.

    The function that it yields takes what the call gave: RuntimeError if that shares memory with
    what was given. Under a mode or transform tensors tell nothing of their memory, so neither is
    asked.
    """
    leaves = [] if _core.get_layers() else [v for v in tree_flatten(given)[0] if _has_memory(v)]
    versions = [_version(leaf) for leaf in leaves]

    def check(made: Any) -> None:
        shared = {_core.storage_key(leaf) for leaf in leaves}
        for value in tree_flatten(made)[0]:
            if leaves and _has_memory(value) and _core.storage_key(value) in shared:
                raise RuntimeError(
                    f"{operator}: {name} gives one of its inputs, or a view of it: return a clone"
                )

    yield check
    if [_version(leaf) for leaf in leaves] != versions:
        raise RuntimeError(f"{operator}: {name} writes to its inputs: change a clone")


def _has_memory(value: Any) -> bool:
    return isinstance(value, Tensor) and value.numel() > 0 and value.device.type != "meta"


def _version(tensor: Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version


def _kind(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.shape, value.dtype, value.device
    return type(value)


def _said(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a {value.dtype} tensor of shape {list(value.shape)} on {value.device}"
    return f"of type {type(value).__name__}"
