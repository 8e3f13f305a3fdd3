"""What autograd adds to Tensor: backward, retain_grad and hooks."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda.utils.hooks import RemovableHandle

from ._backward import backward as _backward

__all__ = ["backward", "register_hook", "register_post_accumulate_grad_hook", "retain_grad"]


def backward(
    self: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of this tensor with respect to the graph's leaves into their `.grad`."""
    _backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def retain_grad(self: Tensor) -> None:
    """Fill `.grad` of this non-leaf in backward; nothing to do for leaves."""
    if not self.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if self.is_leaf or self.retains_grad:
        return
    node, number = _core.gradient_edge(self)
    node._hooks.setdefault("retain", {})[number] = weakref.ref(self)
    self._set_retains_grad(True)


def _add(
    node: Any, kind: str, hook: Callable[..., Any], number: int | None = None
) -> RemovableHandle:
    hooks = node._hooks.setdefault(kind, {} if number is not None else OrderedDict())
    if number is not None:
        hooks = hooks.setdefault(number, OrderedDict())
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def register_hook(self: Tensor, hook: Callable[[Tensor], Any]) -> RemovableHandle:
    """Call `hook(gradient)` when this tensor's gradient is computed; it may return a replacement."""
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    node, number = _core.gradient_edge(self)
    if node is None:  # a view of a leaf that came to require grad later: no gradient comes by here
        return RemovableHandle(OrderedDict())
    if self.is_leaf:
        self._hooks = node  # keeps the hook as long as the leaf
    return _add(node, "tensor", hook, number)


def register_post_accumulate_grad_hook(
    self: Tensor, hook: Callable[[Tensor], None]
) -> RemovableHandle:
    """Call `hook(leaf)` after `.grad` of this leaf was written."""
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not self.is_leaf:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    node, _ = _core.gradient_edge(self)
    self._hooks = node
    return _add(node, "post_accumulate", hook)
