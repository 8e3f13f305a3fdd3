"""Tuples, lists and dicts of values, taken apart and put together; classes that users registered
with them.
"""

from __future__ import annotations

from taeda.utils._pytree import TreeSpec, tree_flatten

__all__ = ["TreeSpec", "tree_flatten"]
