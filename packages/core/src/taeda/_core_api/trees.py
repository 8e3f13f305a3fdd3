"""Tuples, lists and dicts of values, walked, taken apart and put together; classes that users
registered with them; the way to a value in one of them.
"""

from __future__ import annotations

from taeda._layers.trees import leaves, tensors_in
from taeda.utils._pytree import (
    SUPPORTED_NODES,
    KeyPath,
    MappingKey,
    SequenceKey,
    TreeSpec,
    key_get,
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_map,
    tree_unflatten,
)

__all__ = [
    "SUPPORTED_NODES", "KeyPath", "MappingKey", "SequenceKey", "TreeSpec", "key_get", "keystr", "leaves",
    "tensors_in", "tree_flatten", "tree_flatten_with_path", "tree_map", "tree_unflatten",
]  # fmt: skip
