"""Backward hooks of a module: two borders in the graph, one around its inputs and one around its outputs.

A border is an identity over all tensors of one side at once, so that what passes it in the backward
pass are the gradients of the whole side, whatever the module did in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import warn
from taeda.autograd import Function

__all__ = ["BackwardHooks"]

Hook = Callable[..., Any]


class _Border(Function):
    """The same tensors, with one node behind all of them."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        return grads


class _Side:
    """Where the tensors are among the arguments or results of a call."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.size = len(values)
        self.places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]

    def wrap(self, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
        """`values` behind a border, and the node of the border; no node if no gradient will flow."""
        tensors = [values[i] for i in self.places]
        if not (taeda.is_grad_enabled() and any(t.requires_grad for t in tensors)):
            return values, None
        replaced = list(values)
        node = None
        for place, tensor in zip(self.places, _Border.apply(*tensors), strict=True):
            replaced[place] = tensor
            node = node or tensor.grad_fn
        if type(values) is not tuple:  # a named tuple
            return type(values)(*replaced), node
        return tuple(replaced), node

    def spread(self, grads: Sequence[Any]) -> tuple[Any, ...]:
        """Gradients of the tensors, with None for every other value."""
        full: list[Any] = [None] * self.size
        for place, grad in zip(self.places, grads, strict=False):
            full[place] = grad
        return tuple(full)

    def gather(self, full: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(full[i] for i in self.places)

    def checked(self, grads: Any, what: str) -> tuple[Any, ...]:
        """What a hook returned: as many gradients as the side has values."""
        grads = grads if isinstance(grads, tuple) else (grads,)
        if len(grads) != self.size:
            raise RuntimeError(
                f"Backward {what} returned an invalid number of grad values, got {len(grads)}, "
                f"but expected {self.size}"
            )
        return grads


class BackwardHooks:
    """The backward hooks of one call of a module."""

    def __init__(self, module: Any, hooks: list[Hook], pre_hooks: list[Hook]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs: tuple[Any, ...] | None = None
        self.inputs_have_node = False

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, marked so that the hooks run when all their gradients are known."""
        self.inputs = _Side(args)
        args, node = self.inputs.wrap(args)
        if node is not None:
            self.inputs_have_node = True
            node.register_hook(self._at_inputs)
        return args

    def leave(self, result: Any) -> Any:
        """The result, marked so that the pre hooks run when all its gradients are known."""
        results = result if isinstance(result, tuple) else (result,)
        self.outputs = _Side(results)
        results, node = self.outputs.wrap(results)
        if node is not None:
            node.register_prehook(self._at_outputs)
        return results if isinstance(result, tuple) else results[0]

    def _at_outputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...] | None:
        self.grad_outputs = self.outputs.spread(grads)
        changed = False
        for hook in self.pre_hooks:
            replaced = hook(self.module, self.grad_outputs)
            if replaced is not None:
                self.grad_outputs = self.outputs.checked(replaced, "pre hook")
                changed = True
        gathered = self.outputs.gather(self.grad_outputs) if changed else None
        if not self.inputs_have_node:
            self._without_inputs()
        return gathered

    def _without_inputs(self) -> None:
        """No input wants a gradient, so that nothing else would ever run the hooks."""
        if self.hooks:
            warn(
                "Full backward hook is firing when gradients are computed with respect to module "
                "outputs since no inputs require gradients.",
            )
        for hook in self.hooks:
            replaced = hook(self.module, self.inputs.spread(()), self.grad_outputs)
            kept = replaced if isinstance(replaced, (tuple, list)) else (replaced,)
            if any(grad is not None for grad in kept):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )
        self.grad_outputs = None

    def _at_inputs(self, grads: tuple[Any, ...], _: Any) -> tuple[Any, ...] | None:
        if self.grad_outputs is None:  # backward began inside the module
            return None
        grad_inputs = self.inputs.spread(grads)
        changed = False
        for hook in self.hooks:
            replaced = hook(self.module, grad_inputs, self.grad_outputs)
            if replaced is not None:
                grad_inputs = self.inputs.checked(replaced, "hook")
                changed = True
        self.grad_outputs = None
        return self.inputs.gather(grad_inputs) if changed else None
