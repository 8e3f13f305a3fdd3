"""What the gate of every operation calls when something wants to see the call.

    gate (C) ── dispatch_override ──▶ function modes, innermost first
                                      layers: transforms, then autocast
                                      __torch_function__ of the arguments, subclasses first
             ── call_traced ────────▶ dispatch modes, innermost first, below the derivative
                                      tracers, just above the kernel

The gate tests two words of flags, `layers` (what is active in this thread) and `excluded` (what is
hidden while it runs); this module keeps them. Each handler runs with its own layer hidden, so that
a call it makes arrives at the next one.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

from taeda import Tensor
from taeda._native import core as _core

__all__ = [
    "AUTOCAST",
    "DISPATCH_MODE",
    "FUNCTION_MODE",
    "OVERRIDE",
    "TRACE",
    "TRANSFORM",
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "call_override",
    "call_traced",
    "default_torch_function",
    "disabled_torch_function",
    "dispatch_override",
    "has_overrides",
    "overriding",
    "pop_dispatch_mode",
    "pop_function_mode",
    "pop_tracer",
    "push_dispatch_mode",
    "push_function_mode",
    "push_tracer",
    "register_layer",
]

# the flags of py.h
FUNCTION_MODE, TRANSFORM, AUTOCAST, DISPATCH_MODE, TRACE, OVERRIDE = 1, 2, 4, 8, 16, 32

Function = Callable[..., Any]
Layer = Callable[[Function, tuple[Any, ...], dict[str, Any]], Any]


class _Here(threading.local):
    """The stacks of one thread."""

    def __init__(self) -> None:
        self.modes: list[Any] = []
        self.dispatchers: list[Any] = []
        self.tracers: list[Any] = []


_here = _Here()
_layers: dict[int, Layer] = {}


def _active(bit: int) -> bool:
    return bool(_core.get_layers() & ~_core.get_excluded() & bit)


@contextlib.contextmanager
def _without(bit: int) -> Iterator[None]:
    before = _core.set_excluded_flag(bit, True)
    try:
        yield
    finally:
        _core.set_excluded_flag(bit, before)


# ---- which arguments have a say ----


def disabled_torch_function(
    func: Function, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: Any = None
) -> Any:
    """As `__torch_function__` of a subclass: calls give plain tensors, nothing is overridden."""
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


def _has_say(kind: type) -> bool:
    """Whether objects of this type take part; exact tensors and parameters do not."""
    if kind is Tensor or getattr(kind, "_taeda_no_override", False):
        return False
    method = getattr(kind, "__torch_function__", None)
    return method is not None and method is not disabled_torch_function


def overriding(arguments: Iterable[Any]) -> list[Any]:
    """The first argument of each type with a `__torch_function__`, in the order they are asked.

    Left to right, but a subclass before its superclasses.
    """
    found: list[Any] = []
    for argument in arguments:
        kind = type(argument)
        if not _has_say(kind) or any(type(other) is kind for other in found):
            continue
        bases = (i for i, other in enumerate(found) if issubclass(kind, type(other)))
        found.insert(next(bases, len(found)), argument)
    return found


def has_overrides(arguments: Iterable[Any]) -> bool:
    """Whether a call with these arguments is for somebody else: a mode, or one of their types."""
    if _here.modes and _active(FUNCTION_MODE):
        return True
    if _core.get_excluded() & OVERRIDE:
        return False
    return any(_has_say(type(argument)) for argument in arguments)


def _scan(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """The arguments, and what lists and tuples among them hold."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, (list, tuple)):
            yield from value
        else:
            yield value


# ---- the gate's calls ----


def dispatch_override(func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of an operation while a layer is active or an argument overrides it."""
    return call_override(func, None, args, kwargs, _scan(args, kwargs))


def call_override(
    func: Function,
    types: Sequence[type] | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    relevant_args: Iterable[Any],
) -> Any:
    """Offer a call to the modes, the layers and the types of `relevant_args`, in this order.

    The first that does not return NotImplemented decides. Raises TypeError, which lists those
    asked, if all decline.
    """
    asked = [] if _core.get_excluded() & OVERRIDE else overriding(relevant_args)
    kinds = tuple(types) if types is not None else tuple(type(a) for a in asked)
    mode = None
    if _here.modes and _active(FUNCTION_MODE):
        with _top_mode() as mode:
            result = mode.__torch_function__(func, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    for bit in (TRANSFORM, AUTOCAST):
        if _active(bit):
            with _without(bit):
                return _layers[bit](func, args, kwargs)
    for argument in asked:
        result = argument.__torch_function__(func, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    if not asked and mode is None:
        with _without(OVERRIDE):  # nobody is left to ask, so the gate need not come here again
            return func(*args, **kwargs)
    raise TypeError(_nobody(func, kinds, mode))


def _nobody(func: Function, kinds: tuple[type, ...], mode: Any) -> str:
    where = getattr(func, "__module__", None) or getattr(
        getattr(func, "__objclass__", None), "__qualname__", "taeda"
    )
    name = f"{where}.{getattr(func, '__name__', func)}"
    text = f"no implementation found for '{name}' on types that implement __torch_function__: "
    text += "[" + ", ".join(f"{k.__module__}.{k.__qualname__}" for k in kinds) + "]"
    if mode is not None:
        text += f" nor in mode {type(mode).__module__}.{type(mode).__qualname__}"
    return text


def register_layer(bit: int, layer: Layer) -> None:
    """Give a layer its handler: called with function, arguments and keywords, the layer hidden."""
    _layers[bit] = layer


# ---- function modes ----


def push_function_mode(mode: Any) -> None:
    """From now on this thread's calls go through `mode.__torch_function__` first."""
    _here.modes.append(mode)
    _core.set_layer_flag(FUNCTION_MODE, True)


def pop_function_mode() -> Any:
    """Take the innermost mode off, and return it."""
    mode = _here.modes.pop()
    _core.set_layer_flag(FUNCTION_MODE, bool(_here.modes))
    return mode


@contextlib.contextmanager
def _top_mode() -> Iterator[Any]:
    """The innermost mode, off the stack while its handler runs."""
    mode = pop_function_mode()
    try:
        yield mode
    finally:
        push_function_mode(mode)


def function_modes() -> tuple[Any, ...]:
    """The modes of this thread, outermost first."""
    return tuple(_here.modes)


# ---- what Tensor itself does for its subclasses ----


def default_torch_function(
    cls: type, func: Function, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: Any = None
) -> Any:
    """`Tensor.__torch_function__`: run `func`, and make the results objects of `cls`.

    Declines if one of `types` is no superclass of `cls`: unrelated subclasses do not mix.
    """
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
    from .overrides import get_default_nowrap_functions

    return result if func in get_default_nowrap_functions() else _as(cls, result)


def _as(cls: type, result: Any) -> Any:
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if type(result) in (list, tuple):
        return type(result)(_as(cls, entry) for entry in result)
    if isinstance(result, tuple) and hasattr(result, "n_fields"):  # a named result
        return type(result)([_as(cls, entry) for entry in result])
    return result


class _Excluding:
    """Hides layers from the calls of a `with` block."""

    _bits: tuple[int, ...] = ()

    def __enter__(self) -> None:
        self._before = [_core.set_excluded_flag(bit, True) for bit in self._bits]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for bit, before in zip(self._bits, self._before, strict=True):
            _core.set_excluded_flag(bit, before)


class DisableTorchFunctionSubclass(_Excluding):
    """In its `with` block subclasses are plain tensors; modes still see the calls."""

    _bits = (OVERRIDE,)


class DisableTorchFunction(_Excluding):
    """In its `with` block neither subclasses nor modes see the calls."""

    _bits = (OVERRIDE, FUNCTION_MODE)


# ---- tracers: above the kernel, below everything else ----


def push_tracer(tracer: Any) -> None:
    """`tracer.call(op, args, run)` sees each kernel call of this thread; `run()` makes it."""
    _here.tracers.append(tracer)
    _core.set_layer_flag(TRACE, True)


def pop_tracer() -> Any:
    """Take the innermost tracer off, and return it."""
    tracer = _here.tracers.pop()
    _core.set_layer_flag(TRACE, bool(_here.tracers))
    return tracer


def call_traced(op: str, args: tuple[Any, ...]) -> Any:
    """A kernel call while a dispatch mode or a tracer is active: the innermost one decides when it runs."""
    if _here.dispatchers:
        return _call_dispatch(op, args)
    tracer = pop_tracer()
    try:
        return tracer.call(op, args, lambda: _below(op, args))
    finally:
        push_tracer(tracer)


def _below(op: str, args: tuple[Any, ...]) -> Any:
    return call_traced(op, args) if _here.tracers else _core.call_backend(op, args)


# ---- dispatch modes: below the derivative, above the tracers ----


def push_dispatch_mode(mode: Any) -> None:
    """From now on `mode.__torch_dispatch__` sees the kernel calls of this thread first."""
    _here.dispatchers.append(mode)
    _core.set_layer_flag(DISPATCH_MODE, True)


def pop_dispatch_mode() -> Any:
    """Take the innermost dispatch mode off, and return it."""
    mode = _here.dispatchers.pop()
    _core.set_layer_flag(DISPATCH_MODE, bool(_here.dispatchers))
    return mode


def _call_dispatch(op: str, args: tuple[Any, ...]) -> Any:
    """The innermost mode answers, off the stack and outside the graph; what it calls goes to the next."""
    from taeda._library.operators import normalized, overload
    from taeda._library.table import rule_of

    func = overload(op)
    positional, keywords = normalized(func, args)
    mode = pop_dispatch_mode()
    before = _core._set_grad_enabled(False)
    try:
        rule = (rule_of(op, "torch_dispatch") or {}).get(type(mode))
        if rule is not None:
            result = rule(mode, func, (), positional, keywords)
        else:
            result = mode.__torch_dispatch__(func, (), positional, keywords)
    finally:
        _core._set_grad_enabled(before)
        push_dispatch_mode(mode)
    if result is NotImplemented:
        raise TypeError(
            f"no implementation found for '{func}': mode {type(mode).__qualname__} declined"
        )
    return result
