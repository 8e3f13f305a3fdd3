"""Which backward belongs to a wrapped module, and which tensors show it."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

from taeda import Tensor, nn

__all__ = ["Output", "Walk", "tensors_in", "watch_gradients", "watch_outputs"]

LEAVES = (str, bytes, int, float, complex, type(None), type, ModuleType, nn.Module)
MOST = 10_000  # objects that a search looks at


@dataclass
class Walk:
    """A backward of this thread, with those that run inside it."""

    thread: int = field(default_factory=threading.get_ident)
    averages: bool = False  # it came from outputs of a forward that synchronises
    local: bool = False  # it came from outputs of one under no_sync
    limited: bool = False  # it leads to given inputs only
    arrived: list[int] = field(default_factory=list)  # parameters, by their gradients


class Output:
    """A node that computed an output. It lives as long as the node: a backward may still come by."""

    __slots__ = ("__weakref__", "averages", "passed")

    def __init__(self, averages: bool) -> None:
        self.averages = averages
        self.passed = False  # a backward came by


def watch_outputs(outputs: Any, averages: bool, tell: Any) -> Sequence[Output]:
    """Have `tell` called when a backward comes by an output. It must be a bound method, and keeps
    nothing alive.
    """
    owner, function = weakref.ref(tell.__self__), tell.__func__  # quicker than a WeakMethod
    nodes = {id(t.grad_fn): t.grad_fn for t in tensors_in(outputs) if t.grad_fn is not None}
    made = []
    for node in nodes.values():
        made.append(Output(averages))
        node.register_prehook(_hook_of(owner, function, made[-1]))
    return made


def _hook_of(
    owner: weakref.ref[Any], function: Callable[..., None], value: Any
) -> Callable[[Any], None]:
    def on_backward(_: Any) -> None:
        alive = owner()
        if alive is not None:
            function(alive, value)

    return on_backward


def watch_gradients(params: Sequence[Tensor], tell: Any) -> list[Any]:
    """Have `tell(number)` called when a parameter has got its gradient: a bound method, as above.
    Returns handles.
    """
    owner, function = weakref.ref(tell.__self__), tell.__func__
    return [
        param.register_post_accumulate_grad_hook(_hook_of(owner, function, number))
        for number, param in enumerate(params)
    ]


def tensors_in(value: Any) -> list[Tensor]:
    """The tensors in collections, objects and closures. Where these lead to very many objects, or
    hide what they hold (iterators), some are missing.
    """
    if isinstance(value, Tensor):
        return [value]
    found: list[Tensor] = []
    seen: dict[int, Any] = {}  # an id is the object's own only while it lives
    todo = [value]
    while todo and len(seen) < MOST:
        one = todo.pop()
        if id(one) in seen or isinstance(one, LEAVES):
            continue
        seen[id(one)] = one
        if isinstance(one, Tensor):
            found.append(one)
        else:
            todo += _held_by(one)
    return found


def _held_by(one: Any) -> list[Any]:
    if isinstance(one, (list, tuple, set, frozenset, deque)):
        held = list(one)
    elif isinstance(one, dict):
        held = list(one.values())
    elif isinstance(one, FunctionType):
        return [cell.cell_contents for cell in one.__closure__ or () if cell != CellType()]
    elif isinstance(one, MethodType):
        return [one.__self__]
    elif isinstance(one, partial):
        return [one.func, *one.args, *one.keywords.values()]
    else:
        held = []
    slots = (name for kind in type(one).__mro__ for name in _slots_of(kind))
    held += [getattr(one, name) for name in slots if hasattr(one, name)]
    return held + list(getattr(one, "__dict__", {}).values())


def _slots_of(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)
