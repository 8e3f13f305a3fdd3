"""Tensors in tuples, lists, dicts and what `utils._pytree` knows: taken apart into leaves, and put
together again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.trees import SUPPORTED_NODES

__all__ = ["filled", "leaves", "mapped", "require_tensors", "same_form"]


Whole = Callable[[Any], bool]


def _nothing(tree: Any) -> bool:
    return False


def _items(tree: Any, whole: Whole = _nothing) -> list[Any] | None:
    if whole(tree):
        return None
    known = SUPPORTED_NODES.get(type(tree))
    if known is not None:
        return list(known.flatten_fn(tree)[0])
    if isinstance(tree, (tuple, list)):  # named tuples, and classes derived from these
        return list(tree)
    return list(tree.values()) if isinstance(tree, dict) else None


def leaves(tree: Any, whole: Whole = _nothing) -> list[Any]:
    """What is in `tree`, in order; what `whole` says True of is one."""
    items = _items(tree, whole)
    return [tree] if items is None else [leaf for item in items for leaf in leaves(item, whole)]


def filled(tree: Any, values: Iterator[Any], whole: Whole = _nothing) -> Any:
    """A tree of the same form with the next of `values` for each leaf."""
    items = _items(tree, whole)
    if items is None:
        return next(values)
    made = [filled(item, values, whole) for item in items]
    known = SUPPORTED_NODES.get(type(tree))
    if known is not None:
        return known.unflatten_fn(made, known.flatten_fn(tree)[1])
    if isinstance(tree, dict):
        return type(tree)(zip(tree, made, strict=True))
    if hasattr(tree, "_fields"):
        return type(tree)(*made)
    return type(tree)(made)


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """A tree of the same form with `function(leaf)` for each leaf."""
    return filled(tree, iter([function(leaf) for leaf in leaves(tree)]))


def _form(tree: Any) -> Any:
    items = _items(tree)
    if items is None:
        return "*"
    known = SUPPORTED_NODES.get(type(tree))
    keys = tuple(tree) if isinstance(tree, dict) else known and known.flatten_fn(tree)[1]
    return type(tree).__name__, keys, tuple(map(_form, items))


def same_form(tree: Any, other: Any) -> bool:
    """Whether both have the same containers, keys and lengths."""
    made: bool = _form(tree) == _form(other)
    return made


def require_tensors(tree: Any, where: str) -> list[Tensor]:
    """The leaves; RuntimeError if one is no tensor."""
    found = leaves(tree)
    for leaf in found:
        if not taeda.is_tensor(leaf):
            raise RuntimeError(f"{where} only tensors, got unsupported type {type(leaf)}")
    return found
