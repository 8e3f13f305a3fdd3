"""Results of a program: tensors, numbers that differ from call to call, and constants; trees of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from taeda import Size
from taeda._core_api.trees import LeafSpec, TreeSpec, tree_flatten
from taeda.fx.experimental._sizes_mode import Sizes
from taeda.fx.node import Node

from .graph_signature import (
    ArgumentSpec,
    ConstantArgument,
    SymBoolArgument,
    SymFloatArgument,
    SymIntArgument,
    TensorArgument,
)

__all__ = ["argument_of", "flat_results"]

_NUMBERS: dict[type, Any] = {bool: SymBoolArgument, int: SymIntArgument, float: SymFloatArgument}


def argument_of(value: Any) -> ArgumentSpec:
    """The kind of a value by the note on its node, which says what it gave in the trace; a value that
    no node gives is a constant.
    """
    if not isinstance(value, Node):
        return ConstantArgument("", value)
    kind: Any = _NUMBERS.get(type(value.meta.get("val")), TensorArgument)
    made: ArgumentSpec = kind(value.name)
    return made


def flat_results(value: Any) -> tuple[list[Any], TreeSpec]:
    """The leaves of what a program gives, and their tree; a shape is a `Size` of its sizes, although
    some of these are symbols in the trace.
    """
    leaves, spec = tree_flatten(value)
    if not any(isinstance(leaf, Sizes) for leaf in leaves):
        return leaves, spec
    opened = _opened(spec, iter(leaves))
    flat = [one for leaf in leaves for one in (leaf if isinstance(leaf, Sizes) else [leaf])]
    return flat, opened


def _opened(spec: TreeSpec, leaves: Iterator[Any]) -> TreeSpec:
    if not spec.is_leaf():
        return TreeSpec(spec.type, spec.context, [_opened(c, leaves) for c in spec.children()])
    leaf = next(leaves)
    return TreeSpec(Size, None, [LeafSpec() for _ in leaf]) if isinstance(leaf, Sizes) else spec
