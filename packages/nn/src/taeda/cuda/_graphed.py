"""Functions and modules whose forward and backward passes are replayed graphs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.trees import tree_flatten, tree_unflatten
from taeda.cuda import (
    CUDAGraph,
    Stream,
    current_stream,
    graph,
    graph_pool_handle,
    stream,
    synchronize,
)

__all__ = ["make_graphed_callables"]


def make_graphed_callables(
    callables: Any,
    sample_args: Any,
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: Any = None,
) -> Any:
    """Functions or modules that replay graphs of their forward and backward passes.

    Samples have the shapes, dtypes and `requires_grad` of later calls. Modules are changed in place:
    their graphs are used in the mode (`train` or `eval`) that they have now.

    Args:
        callables: a function or module, or a tuple of them in the order of their calls.
        sample_args: a tuple of tensors, or one for each callable.
        num_warmup_iters: how often each is called before its capture, with its gradients (3).
        allow_unused_input: whether inputs that the result does not depend on get no gradient
            (False: they raise).
        pool: memory of `graph_pool_handle()` or of another graph's `pool()`; None is a new one.

    >>> if taeda.cuda.is_available():
    ...     x = taeda.ones(2, 4, device="cuda", requires_grad=True)
    ...     layer = taeda.cuda.make_graphed_callables(taeda.nn.Linear(4, 1).to("cuda"), (x,))
    ...     layer(x).sum().backward()  # both passes are replayed
    """
    several = isinstance(callables, tuple)
    functions = callables if several else (callables,)
    samples = sample_args if several else (sample_args,)
    if len(functions) != len(samples):
        raise ValueError(f"{len(functions)} callables, but {len(samples)} tuples of sample_args")
    flat: list[list[Tensor]] = []
    for function, arguments in zip(functions, samples, strict=True):
        _check(function, arguments)
        flat.append(list(tree_flatten(arguments)[0]))
    token = graph_pool_handle() if pool is None else pool
    for function, arguments in zip(functions, samples, strict=True):
        _warm(partial(_pass, function, arguments, allow_unused_input), num_warmup_iters)
    forwards = [_forward(f, a, token) for f, a in zip(functions, samples, strict=True)]
    made = [  # backward passes come in the opposite order
        _Graphed(functions[k], flat[k], *forwards[k], token, allow_unused_input)
        for k in reversed(range(len(functions)))
    ][::-1]
    results = tuple(_replacement(f, g) for f, g in zip(functions, made, strict=True))
    return results if several else results[0]


def _warm(call: Callable[[], Any], times: int) -> None:
    """On a stream of its own: kernels are compiled, plans are made."""
    side = Stream()
    side.wait_stream(current_stream())
    with stream(side):
        for _ in range(times):
            call()
    current_stream().wait_stream(side)
    synchronize()


def _check(function: Any, arguments: Any) -> None:
    leaves = tree_flatten(arguments)[0]
    if not all(isinstance(leaf, Tensor) and leaf.is_cuda for leaf in leaves):
        raise TypeError("make_graphed_callables: sample_args must be tensors on a CUDA device")
    if not isinstance(function, taeda.nn.Module):
        return
    if function._forward_hooks or function._forward_pre_hooks or function._backward_hooks:
        raise RuntimeError(
            "make_graphed_callables: the module has hooks, which a graph would run once: register them "
            "on what comes back"
        )
    if not all(b.requires_grad is False for b in function.buffers()):
        raise RuntimeError(
            "make_graphed_callables: a buffer of the module requires grad, and only parameters may"
        )


def _parameters(function: Any) -> list[Tensor]:
    return list(function.parameters()) if isinstance(function, taeda.nn.Module) else []


def _wants(function: Any, arguments: Any) -> list[Tensor]:
    return [t for t in (*tree_flatten(arguments)[0], *_parameters(function)) if t.requires_grad]


def _pass(function: Any, arguments: Any, unused: bool) -> None:
    outputs = [t for t in tree_flatten(function(*arguments))[0] if t.requires_grad]
    wanted = _wants(function, arguments)
    if outputs and wanted:
        grads = [taeda.empty_like(t) for t in outputs]
        taeda.autograd.grad(outputs, wanted, grads, allow_unused=unused)


def _forward(function: Any, arguments: Any, token: Any) -> tuple[CUDAGraph, list[Tensor], Any]:
    made = CUDAGraph()
    with graph(made, pool=token):
        outputs = function(*arguments)
    leaves, form = tree_flatten(outputs)
    return made, leaves, form


class _Graphed:
    """The graphs of one function, and the tensors that they read and write."""

    def __init__(
        self,
        function: Any,
        inputs: list[Tensor],
        forward: CUDAGraph,
        outputs: list[Tensor],
        form: Any,
        token: Any,
        unused: bool,
    ) -> None:
        self.inputs, self.parameters = inputs, _parameters(function)
        self.forward, self.outputs, self.form = forward, outputs, form
        self.backward: CUDAGraph | None = None
        self.grads = [taeda.empty_like(t) if t.requires_grad else None for t in outputs]
        wanted = [t for t in (*inputs, *self.parameters) if t.requires_grad]
        found: list[Tensor | None] = []
        roots = [t for t in outputs if t.requires_grad]
        if roots and wanted:
            self.backward = CUDAGraph()
            with graph(self.backward, pool=token):
                found = list(
                    taeda.autograd.grad(
                        roots,
                        wanted,
                        [g for g in self.grads if g is not None],
                        allow_unused=unused,
                    )
                )
        at = iter(found)
        self.found = [
            next(at, None) if t.requires_grad else None for t in (*inputs, *self.parameters)
        ]
        self.call = _function(self)

    def __call__(self, *arguments: Any) -> Any:
        leaves = tree_flatten(arguments)[0]
        if len(leaves) != len(self.inputs):
            raise ValueError(
                f"a graphed callable of {len(self.inputs)} tensors was given {len(leaves)}"
            )
        made = self.call.apply(*leaves, *self.parameters)
        return tree_unflatten(list(made), self.form)


def _function(of: _Graphed) -> Any:
    class Graphed(taeda.autograd.Function):
        @staticmethod
        def forward(context: Any, *inputs: Tensor) -> tuple[Tensor, ...]:
            for kept, given in zip(of.inputs, inputs, strict=False):
                if kept.shape != given.shape or kept.dtype != given.dtype:
                    raise RuntimeError(
                        f"a graphed callable takes a tensor of shape {list(kept.shape)} and "
                        f"{kept.dtype}, as it was captured; got {list(given.shape)} and {given.dtype}"
                    )
                if kept.data_ptr() != given.data_ptr():
                    kept.copy_(given)
            of.forward.replay()
            return tuple(t.detach() for t in of.outputs)

        @staticmethod
        def backward(context: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
            if of.backward is None:
                raise RuntimeError("a graphed callable without a backward pass")
            for kept, given in zip(of.grads, grads, strict=True):
                if kept is not None and kept.data_ptr() != given.data_ptr():
                    kept.copy_(given)
            of.backward.replay()
            return tuple(t if t is None else t.detach() for t in of.found)

    return Graphed


def _replacement(function: Any, graphed: Callable[..., Any]) -> Any:
    if not isinstance(function, taeda.nn.Module):
        return graphed
    eager, mode = function.forward, function.training

    def forward(*arguments: Any) -> Any:
        return graphed(*arguments) if function.training == mode else eager(*arguments)

    function.__dict__["forward"] = forward
    return function
