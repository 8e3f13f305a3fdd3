"""Tuples, lists and dicts of values, walked, taken apart and put together; classes that users
registered with them.
"""

from __future__ import annotations

from taeda._layers.trees import leaves, tensors_in
from taeda.utils._pytree import TreeSpec, tree_flatten

__all__ = ["TreeSpec", "leaves", "tensors_in", "tree_flatten"]
