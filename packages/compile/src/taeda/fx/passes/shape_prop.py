"""The shape and type of every value of a graph, from one run of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import taeda
from taeda import Tensor

from .._map import map_aggregate
from ..interpreter import Interpreter
from ..node import Node

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What is known of a tensor without its numbers.
    `memory_format` is the first that the strides fit; None if none does.

    >>> from taeda.fx import symbolic_trace
    >>> gm = symbolic_trace(lambda x: x.T)
    >>> _ = ShapeProp(gm).propagate(taeda.ones(2, 3))
    >>> facts = gm.graph.output_node().args[0].meta["tensor_meta"]
    >>> facts.shape, facts.stride
    (taeda.Size([3, 2]), (1, 3))
    """

    shape: taeda.Size
    dtype: taeda.dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: taeda.memory_format | None


_FORMATS = (taeda.contiguous_format, taeda.channels_last, taeda.channels_last_3d)


def _format(x: Tensor) -> taeda.memory_format | None:
    return next((f for f in _FORMATS if x.is_contiguous(memory_format=f)), None)


def _facts(x: Tensor) -> TensorMetadata:
    return TensorMetadata(x.shape, x.dtype, x.requires_grad, x.stride(), _format(x))


class ShapeProp(Interpreter):
    """Runs the module, and notes in `meta` of each node the `type` of its value and, of tensors in
    it, the `tensor_meta`.

    Meta tensors as inputs do where the module's parameters are on the meta device, too: then
    nothing is computed.

    >>> from taeda.fx import symbolic_trace
    >>> gm = symbolic_trace(lambda x: (x @ x.T).sum(0))
    >>> _ = ShapeProp(gm).propagate(taeda.ones(2, 3))
    >>> [(n.name, tuple(n.meta["tensor_meta"].shape)) for n in gm.graph.nodes]
    [('x', (2, 3)), ('getattr_1', (3, 2)), ('matmul', (2, 2)), ('sum_1', (2,)), ('output', (2,))]
    """

    def run_node(self, n: Node) -> Any:
        """The node's value, whose facts are noted."""
        result = super().run_node(n)
        found = False

        def note(value: Any) -> Any:
            nonlocal found
            if isinstance(value, Tensor):
                found = True
                return _facts(value)
            return value

        facts = map_aggregate(result, note)
        n.meta.pop("tensor_meta", None)
        if found:
            n.meta["tensor_meta"] = facts
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run for these inputs; returns the result."""
        return super().run(*args)
