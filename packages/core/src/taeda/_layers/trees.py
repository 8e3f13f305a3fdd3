"""What lies in the arguments and results of a call, through lists, tuples and dicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from taeda._native import core as _core

__all__ = ["leaves", "tensors_in"]

Tensor = _core.Tensor


def leaves(tree: Any) -> Iterator[Any]:
    """What is in lists, tuples and the values of dicts, at any depth, in order."""
    if isinstance(tree, (list, tuple)):
        for entry in tree:
            yield from leaves(entry)
    elif isinstance(tree, dict):
        for entry in tree.values():
            yield from leaves(entry)
    else:
        yield tree


def tensors_in(tree: Any) -> Iterator[Tensor]:
    """The tensors among the leaves of a tree, in order, each as often as it is there."""
    return (leaf for leaf in leaves(tree) if isinstance(leaf, Tensor))
