"""The graph itself: nodes, edges, hooks on saved tensors, hooks over several tensors."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from taeda import Tensor, empty_like
from taeda._core_api import runtime as _core
from taeda.utils.hooks import RemovableHandle

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
    "get_gradient_edge", "increment_version",
    "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip

Node = _core.Node


def _node_hook(kind: str) -> Callable[..., RemovableHandle]:
    def register(self: Any, fn: Callable[..., Any]) -> RemovableHandle:
        hooks = self._hooks.setdefault(kind, OrderedDict())
        handle = RemovableHandle(hooks)
        hooks[handle.id] = fn
        return handle

    return register


Node.register_hook = _node_hook("post")  # hook(gradients of its inputs, gradients that came)
Node.register_prehook = _node_hook("pre")  # hook(gradients that came)


class GradientEdge(NamedTuple):
    """Where the gradient of a tensor flows: an output of a node. Usable as `inputs` of grad and backward.

    >>> x = taeda.ones(2, requires_grad=True)
    >>> edge = taeda.autograd.graph.get_gradient_edge(x * 2)
    >>> edge.node.name(), edge.output_nr
    ('MulBackward0', 0)
    """

    node: Any
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of a tensor; RuntimeError if it requires no grad.

    >>> x = taeda.ones(2, requires_grad=True)
    >>> y = x * 2
    >>> edge = taeda.autograd.graph.get_gradient_edge(y)
    >>> taeda.autograd.grad(edge, x, taeda.ones(2))
    (tensor([2., 2.]),)
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    return GradientEdge(*_core.gradient_edge(tensor))


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Count a write that went around the operations, so that stale saved tensors are noticed.

    >>> x = taeda.ones(2)
    >>> taeda.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        t._bump_version()


class saved_tensors_hooks:
    """Context: `pack(tensor)` decides what is kept for backward, `unpack(packed)` gives the tensor back.

    Thread-local; of nested pairs the innermost holds. `pack` is given the very tensor, a parameter as one,
    a result with its `grad_fn`; what it computes is not recorded. To hand a result back in a container keeps
    the graph until the garbage collector finds it: give `tensor.detach()`.

    >>> kept = []
    >>> x = taeda.tensor([3.0], requires_grad=True)
    >>> hooks = (lambda t: kept.append(t) or 0, lambda _: kept[0])
    >>> with taeda.autograd.graph.saved_tensors_hooks(*hooks):
    ...     y = x.square().sum()
    >>> y.backward()
    >>> len(kept), x.grad
    (1, tensor([6.]))
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        message = getattr(_disabled, "message", None)
        if message:
            raise RuntimeError(message)
        self.before = _core._set_saved_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *unused: object) -> None:
        _core._set_saved_hooks(*self.before)


_disabled = threading.local()


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Context: entering saved_tensors_hooks raises RuntimeError with this message.

    >>> with taeda.autograd.graph.disable_saved_tensors_hooks("not in this block"):
    ...     try:
    ...         taeda.autograd.graph.save_on_cpu().__enter__()
    ...     except RuntimeError as error:
    ...         print(error)
    not in this block
    """
    before = getattr(_disabled, "message", None)
    _disabled.message = error_message
    try:
        yield
    finally:
        _disabled.message = before


class _AllowMutationOnSavedContext:
    """Copies of what was saved inside the context, by number."""

    def __init__(self) -> None:
        self._copies: dict[int, Tensor] = {}
        self._count = 0

    def clear(self) -> None:
        """Let the copies go; what needs them can no longer be differentiated."""
        self._copies.clear()

    def _pack(self, tensor: Tensor) -> int:
        self._count += 1
        self._copies[self._count] = tensor.detach().clone()
        return self._count

    def _unpack(self, number: int) -> Tensor:
        if number not in self._copies:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in "
                "which the graph was "
                "originally recorded: run backward inside it"
            )
        return self._copies[number]


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """Context: what is saved for backward may be written afterwards. Forward and backward both run inside.

    Each tensor is copied when it is saved, so memory grows by what the graph keeps. Contexts do not
    nest: RuntimeError.

    >>> with allow_mutation_on_saved_tensors():
    ...     x = taeda.ones(2, requires_grad=True)
    ...     y = x.clone()
    ...     loss = (y * y).sum()
    ...     _ = y.sin_()
    ...     loss.backward()
    >>> x.grad
    tensor([2., 2.])
    """
    if getattr(_mutation, "allowed", False):
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = _AllowMutationOnSavedContext()
    _mutation.allowed = True
    try:
        with saved_tensors_hooks(context._pack, context._unpack):
            yield context
    finally:
        context.clear()
        _mutation.allowed = False


_mutation = threading.local()


class save_on_cpu(saved_tensors_hooks):
    """Context: what is saved for backward waits in memory of the cpu, page-locked with `pin_memory`.

    From page-locked memory it comes back without a wait. RuntimeError for `pin_memory` without an
    accelerator.

    >>> x = taeda.ones(2, requires_grad=True)
    >>> with taeda.autograd.graph.save_on_cpu():
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    tensor([2., 2.])
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(t: Tensor) -> tuple[Any, Tensor]:
            if not pin_memory:
                return t.device, t.cpu()
            return t.device, empty_like(t, device="cpu", pin_memory=True).copy_(t)

        def unpack(packed: tuple[Any, Tensor]) -> Tensor:
            device, kept = packed
            return kept.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all"
) -> RemovableHandle:
    """Call `fn` once per backward: with all gradients when the last came ("all"), or with the first ("any").

    A backward waits for those tensors that it comes by; the entries of the others are None.

    >>> x = taeda.ones(1, requires_grad=True)
    >>> a, b = x * 2, x * 3
    >>> handle = register_multi_grad_hook([a, b], print)
    >>> a.backward()
    [tensor([1.]), None]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    state = _MultiHook(list(tensors), fn, mode)
    handles = [t.register_hook(state.hook_for(i)) for i, t in enumerate(tensors) if t.requires_grad]
    return _ManyHandles(handles)


class _MultiHook:
    """The gradients that came so far, for each backward that runs: threads may run several."""

    def __init__(self, tensors: list[Tensor], fn: Callable[..., None], mode: str) -> None:
        self.fn, self.mode = fn, mode
        self.nodes = [_core.gradient_edge(t)[0] if t.requires_grad else None for t in tensors]
        self.running: dict[int, tuple[list[Any], int]] = {}

    def hook_for(self, number: int) -> Callable[[Tensor], None]:
        def hook(gradient: Tensor) -> None:
            walk, _ = _core.backward_task()
            first = walk not in self.running
            if first:
                self._begin(walk)
            gradients, missing = self.running[walk]
            gradients[number] = gradient
            self.running[walk] = gradients, missing - 1
            if self.mode == "any" and first:
                self.fn(gradient)
            if self.mode == "all" and missing == 1:
                self.fn(gradients)

        return hook

    def _begin(self, walk: int) -> None:
        count = 0
        if self.mode == "all":
            count = sum(node is not None and _core.takes_part(node) for node in self.nodes)
        self.running[walk] = [None] * len(self.nodes), count
        _core.queue_callback(lambda: self.running.pop(walk))


class _ManyHandles(RemovableHandle):
    def __init__(self, handles: list[RemovableHandle]) -> None:
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def __getstate__(self) -> Any:
        return self.handles

    def __setstate__(self, state: Any) -> None:
        self.handles = state
