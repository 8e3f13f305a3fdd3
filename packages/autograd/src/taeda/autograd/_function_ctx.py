"""What `forward` and `backward` of one call of a custom Function share."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api.calls import call_user

__all__ = ["BackwardCFunction", "FunctionCtx"]


class FunctionCtx:
    """What `forward` and `backward` of one call share.

    >>> class Cube(taeda.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x**2 * grad if ctx.needs_input_grad[0] else None
    >>> x = taeda.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
    """

    def __init__(self) -> None:
        self.needs_input_grad: tuple[bool, ...] = ()
        self._to_save: tuple[Any, ...] | None = None
        self._dirty: tuple[Tensor, ...] = ()
        self._fixed: tuple[Tensor, ...] = ()
        self._for_forward: tuple[Any, ...] | None = None
        self._materialize = True
        self._saved: list[Any] = []
        self._freed = False
        self._node: Any = None
        self._outputs: list[Any] = []
        self._function: Any = None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs for backward, checked against later in-place writes."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    "save_for_backward can only save variables, but argument is of type "
                    f"{type(tensor).__name__}"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for `jvp`, which finds them in `saved_tensors`."""
        self._for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """State that inputs were written in place; they must be returned."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """State that outputs carry no gradient."""
        self._fixed = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing gradients arrive as zeros (True) or None."""
        self._materialize = bool(value)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors of save_for_backward; in `jvp` those of save_for_forward, if that was called."""
        if self._for_forward is not None:
            return self._for_forward
        if self._freed:
            raise RuntimeError(
                "Trying to backward through the graph a second time (or directly access saved "
                "tensors after they have "
                "already been freed). Saved intermediate values of the graph are freed when you "
                "call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the "
                "graph a second time."
            )
        if self._node is None:
            return self._to_save or ()
        node = self._node()
        if node is None:
            raise RuntimeError(
                f"{self._name()}: the graph that kept the saved tensors is gone: hold on to a result of the "
                "call, or to its grad_fn"
            )
        return tuple(None if s is None else _core.unpack_saved(node, s) for s in self._saved)

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        """The tensors of save_for_backward as SavedTensor, on each of which a program may set hooks."""
        node = None if self._node is None else self._node()
        return () if node is None else _core.raw_saved(node, self._saved)

    # ---- what the engine calls ----

    def _name(self) -> str:
        assert self._function is not None
        return f"{self._function.__name__}Backward"

    def _release(self) -> None:
        if self._saved:
            self._freed = True
        self._saved.clear()  # this very list, which a SavedTensor looks into

    def _run_backward(self, *gradients: Any) -> tuple[Any, ...]:
        assert self._function is not None
        if self._materialize:
            gradients = tuple(self._zeros(i) if g is None else g for i, g in enumerate(gradients))
        function = self._function
        backward = function.backward if function._own("backward") else function.vjp
        made = call_user(function, backward, self, *gradients)
        return _check_returned(self, made if isinstance(made, tuple) else (made,))

    def _zeros(self, number: int) -> Any:
        facts = self._outputs[number]
        return None if facts is None else taeda.zeros(facts[0], dtype=facts[1], device=facts[2])


def _check_returned(ctx: FunctionCtx, made: tuple[Any, ...]) -> tuple[Any, ...]:
    count = len(ctx.needs_input_grad)
    extra = made[count:]
    if len(made) < count or any(e is not None for e in extra):
        raise RuntimeError(
            f"function {ctx._name()} returned an incorrect number of gradients (expected {count}, "
            f"got {len(made)})"
        )
    for number, gradient in enumerate(made[:count]):
        if gradient is not None and not isinstance(gradient, Tensor):
            raise RuntimeError(
                f"function {ctx._name()} returned a {type(gradient).__name__} as gradient "
                f"{number}: expected Tensor or None"
            )
    return made[:count]


class BackwardCFunction(FunctionCtx):
    """What a custom function's node in the graph is asked: the context of its call, and its
    backward by hand.

    >>> class Twice(taeda.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return 2 * grad
    >>> y = Twice.apply(taeda.ones(1, requires_grad=True))
    >>> y.grad_fn.apply(taeda.ones(1))
    tensor([2.])
    """

    def apply(self, *gradients: Any) -> Any:
        """The gradients of the inputs from those of the outputs.
        RuntimeError if the class has both backward and vjp.
        """
        function = self._function
        if function is not None and function._own("backward") and function._own("vjp"):
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        made = self._run_backward(*gradients)
        return made[0] if len(made) == 1 else made

    def apply_jvp(self, *tangents: Any) -> Any:
        """The tangents of the outputs from those of the inputs."""
        assert self._function is not None
        return self._function.jvp(self, *tangents)
