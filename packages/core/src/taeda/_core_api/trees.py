"""Tuples, lists and dicts of values, walked, taken apart and put together; classes that users
registered with them; the way to a value in one of them.
"""

from __future__ import annotations

from taeda._layers.trees import leaves, tensors_in
from taeda.utils._pytree import (
    SUPPORTED_NODES,
    KeyPath,
    LeafSpec,
    MappingKey,
    SequenceKey,
    TreeSpec,
    class_serialized_as,
    key_get,
    keystr,
    register_dataclass,
    serialized_name,
    tree_flatten,
    tree_flatten_with_path,
    tree_map,
    tree_unflatten,
)

__all__ = [
    "SUPPORTED_NODES", "KeyPath", "LeafSpec", "MappingKey", "SequenceKey", "TreeSpec",
    "class_serialized_as", "key_get", "keystr", "leaves", "register_dataclass", "serialized_name",
    "tensors_in", "tree_flatten", "tree_flatten_with_path", "tree_map", "tree_unflatten",
]  # fmt: skip
