"""The variant that runs backward inside backward: nothing is recorded at first, the second run is
differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api import warn
from taeda.autograd import Function, backward

from ._surroundings import Surroundings

__all__ = ["CheckpointFunction", "check_backward_validity", "detach_variable"]


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same values outside of the graph; tensors that required grad do so again, as leaves.

    Args:
        inputs: tuple of tensors and other values.

    >>> (x,) = detach_variable((taeda.ones(1, requires_grad=True) * 2,))
    >>> x.is_leaf, x.requires_grad
    (True, True)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}"
        )
    return tuple(
        x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs
    )


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if none of the inputs requires grad: then the reentrant variant gives no gradients at all.

    Args:
        inputs: arguments of any type.

    >>> check_backward_validity([taeda.ones(1, requires_grad=True), "other values"])
    """
    if not any(x.requires_grad for x in inputs if isinstance(x, Tensor)):
        warn("None of the inputs have requires_grad=True. Gradients will be None")


class CheckpointFunction(Function):
    """`apply(function, preserve_rng_state, *args)`: what `checkpoint(use_reentrant=True)` records.

    Args:
        *args, **kwargs: none: making an instance raises RuntimeError.

    >>> x = taeda.tensor([3.0], requires_grad=True)
    >>> CheckpointFunction.apply(lambda x: x * x, True, x).backward()
    >>> x.grad.item()
    6.0
    """

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.function, ctx.surroundings = function, Surroundings(preserve)
        ctx.rest = [None if isinstance(a, Tensor) else a for a in args]
        ctx.at = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.at))
        with taeda.no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        task = _core.backward_task()
        if task is None or task[1]:
            raise RuntimeError(
                "When use_reentrant=True, checkpoint is incompatible with .grad() or passing an "
                "`inputs` parameter to "
                ".backward(). To resolve this error, use checkpoint(..., use_reentrant=False)."
            )
        inputs = list(ctx.rest)
        for i, tensor in zip(ctx.at, ctx.saved_tensors, strict=True):
            inputs[i] = tensor
        detached = detach_variable(tuple(inputs))
        with ctx.surroundings.restored():
            outputs = ctx.function(*detached)
        _differentiate(outputs, gradients)
        return None, None, *(x.grad if isinstance(x, Tensor) else None for x in detached)


def _differentiate(outputs: Any, gradients: tuple[Any, ...]) -> None:
    outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
    pairs = [
        (out, gradient)
        for out, gradient in zip(outputs, gradients, strict=True)
        if isinstance(out, Tensor) and out.requires_grad
    ]
    if not pairs:
        raise RuntimeError(
            "none of output has requires_grad=True, this checkpoint() is not necessary"
        )
    backward([out for out, _ in pairs], [gradient for _, gradient in pairs])
