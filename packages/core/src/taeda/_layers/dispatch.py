"""What the gate of every operation calls when something wants to see the call.

    gate (C) ── dispatch_override ──▶ function modes, innermost first
                                      transforms
                                      __torch_function__ of the arguments, subclasses first
             ── call_autocast ──────▶ `_autocast`, for listed operations
             ── call_dispatched ────▶ dispatch modes, innermost first, below the derivative
                                      __torch_dispatch__ of the arguments, subclasses first
             ── call_traced ────────▶ tracers, just above the kernel

`_layers` keeps what is active. Each handler runs with its own layer hidden, so that a call it makes
arrives at the next one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any

from taeda import Tensor
from taeda._native import core as _core

from . import (
    DISPATCH_MODE,
    FUNCTION_MODE,
    OVERRIDE,
    TRANSFORM,
    DisableTorchFunctionSubclass,
    dispatch_modes,
    function_modes,
    hidden,
    is_active,
    is_hidden,
    no_grad,
    tracers,
)
from .foreign import is_theirs_here, refuse

__all__ = [
    "attributes_of",
    "call_dispatched",
    "call_outwards",
    "call_override",
    "call_traced",
    "default_torch_function",
    "disabled_torch_function",
    "dispatch_override",
    "has_overrides",
    "note_made",
    "note_untraced",
    "overriding",
    "register_layer",
    "tails",
    "take_attributes",
]

Function = Callable[..., Any]
Layer = Callable[[Function, tuple[Any, ...], dict[str, Any]], Any]

_layers: dict[int, Layer] = {}
#: public functions of Python that return what one operation gives, by their code; see `doors.tail`
tails: dict[CodeType, Function] = {}


# ---- which arguments have a say ----


def disabled_torch_function(
    func: Function, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: Any = None
) -> Any:
    """As `__torch_function__` of a subclass: calls give plain tensors, nothing is overridden."""
    # PyTorch's own operators ask ours when it is on their right
    refuse(func, _scan(args, kwargs or {}))
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


def _has_say(kind: type) -> bool:
    """Whether objects of this type take part; exact tensors and parameters do not."""
    if kind is Tensor:
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
    if is_active(FUNCTION_MODE):
        return True
    if is_hidden(OVERRIDE):
        return False
    return any(_has_say(type(argument)) for argument in arguments)


def _scan(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """The arguments, and what lists, tuples and slices among them hold."""
    for value in (*args, *kwargs.values()):
        for entry in value if isinstance(value, (list, tuple)) else (value,):
            if type(entry) is slice:
                yield from (entry.start, entry.stop, entry.step)
            else:
                yield entry


# ---- the gate's calls ----


def dispatch_override(func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of an operation while a layer is active or an argument overrides it."""
    if _core.get_layers() & ~_core.get_excluded() & (FUNCTION_MODE | TRANSFORM) == TRANSFORM:
        with _core.Switches(hide=TRANSFORM):
            return _layers[TRANSFORM](func, args, kwargs)
    caller = _tail_above(sys._getframe(1))
    if caller is not None:
        from .doors import _offer, is_for_others  # late: they need this module

        if is_for_others(relevant := tuple(_scan(args, kwargs))):
            return _offer(tails[caller.f_code], caller, relevant)
    return call_override(func, None, args, kwargs, _scan(args, kwargs))


def _tail_above(frame: FrameType | None) -> FrameType | None:
    """The outermost of the public functions that return the result of this call as theirs."""
    found = None
    while frame is not None and frame.f_code in tails:
        found, frame = frame, frame.f_back
    return found


class Unanswered(TypeError):
    """Everybody who was offered a call declined it."""


def call_override(
    func: Function,
    types: Sequence[type] | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    relevant_args: Iterable[Any],
    *,
    below: tuple[Function, tuple[Any, ...]] | None = None,
) -> Any:
    """Offer a call to the modes, the layers and the types of `relevant_args`, in this order.

    The first that does not return NotImplemented decides. Raises TypeError, which lists those
    asked, if all decline. `below` is the call that the layers get, if another.
    """
    asked = [] if is_hidden(OVERRIDE) else overriding(relevant_args)
    refuse(func, asked)
    kinds = tuple(types) if types is not None else tuple(type(a) for a in asked)
    mode = None
    if is_active(FUNCTION_MODE):
        with function_modes.innermost() as mode:
            result = mode.__torch_function__(func, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    if is_active(TRANSFORM):
        with hidden(TRANSFORM):
            return _layers[TRANSFORM](*(below or (func, args)), kwargs)
    for argument in asked:
        result = argument.__torch_function__(func, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    if not asked and mode is None:
        with hidden(OVERRIDE):  # nobody is left to ask, so the gate need not come here again
            return func(*args, **kwargs)
    raise Unanswered(_nobody(func, kinds, mode))


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


# ---- what Tensor itself does for its subclasses ----


def default_torch_function(
    cls: type, func: Function, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: Any = None
) -> Any:
    """`Tensor.__torch_function__`: run `func`, and make the results objects of `cls`.

    Declines if one of `types` is no superclass of `cls`: unrelated subclasses do not mix.
    """
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    if is_theirs_here():
        refuse(func, _scan(args, kwargs or {}))
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
    from ..overrides import get_default_nowrap_functions  # late: it asks this module

    # what a pickle is made of holds the plain tensor below, not an object of `cls` again
    plain = func in get_default_nowrap_functions() or func is Tensor.__reduce_ex__
    return result if plain else _as(cls, result)


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


# ---- below the derivative: tracers, just above the kernel ----


def call_traced(op: str, args: tuple[Any, ...], targets: tuple[Any, ...] | None = None) -> Any:
    """A kernel call while a tracer is active: the innermost one decides when it runs.

    `targets` is what the results are written into afterwards, if the call is an in-place or an out=
    form; a tracer with `call_into` is told.
    """
    depth = len(tracers.entered) - 1
    if depth < 0:  # an interrupt came between the stack and its flag
        tracers.restore(0)
        return _core.call_backend(op, args)
    tracer = tracers.entered[depth]
    try:
        tracers.restore(depth)
        into = getattr(tracer, "call_into", None)
        if into is not None:
            return into(op, args, lambda: _below(op, args, targets), targets)
        return tracer.call(op, args, lambda: _below(op, args, targets))
    finally:
        tracers.restore(depth, tracer)


def _below(op: str, args: tuple[Any, ...], targets: tuple[Any, ...] | None) -> Any:
    return call_traced(op, args, targets) if tracers.entered else _core.call_backend(op, args)


def call_outwards(op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
    """A kernel call that a tracer makes by itself, for those around it; `run` computes it below all
    of them.
    """
    if not tracers.entered:
        return run()
    depth = len(tracers.entered) - 1
    tracer = tracers.entered[depth]
    try:
        tracers.restore(depth)
        into = getattr(tracer, "call_into", None)
        if into is not None:
            return into(op, args, lambda: call_outwards(op, args, run), None)
        return tracer.call(op, args, lambda: call_outwards(op, args, run))
    finally:
        tracers.restore(depth, tracer)


def call_control(what: Any, functions: Any, tensors: Any, run: Callable[[], Any]) -> Any:
    """An operator that calls functions, while a tracer is active: `run` does it, below all tracers.

    A tracer with `control` is told which functions of which tensors; one without does not see it.
    """
    if not tracers.entered:
        return run()
    depth = len(tracers.entered) - 1
    tracer = tracers.entered[depth]
    try:
        tracers.restore(depth)
        into = getattr(tracer, "control", None)
        if into is None:
            return call_control(what, functions, tensors, run)
        return into(what, functions, tensors, lambda f, t: call_control(what, f, t, run))
    finally:
        tracers.restore(depth, tracer)


def note_untraced(what: str) -> None:
    """Something happened beside the operations that the innermost tracer sees, if it wants to know."""
    heard = getattr(tracers.entered[-1], "note_untraced", None) if tracers.entered else None
    if heard is not None:
        heard(what)


def note_made(tensor: Tensor) -> None:
    """A tensor was made of numbers of Python, which is no operation; the innermost tracer hears it,
    if it wants to know.
    """
    heard = getattr(tracers.entered[-1], "note_made", None) if tracers.entered else None
    if heard is not None:
        heard(tensor)


# ---- below the derivative: __torch_dispatch__ of modes and of subclasses ----


def call_dispatched(op: str, args: tuple[Any, ...], inplace: bool, out: Any) -> Any:
    """An operator of the table below autograd, while a dispatch mode is active or a type computes for itself.

    The innermost mode is asked, off the stack; without one the types of the arguments, a subclass before its
    superclasses, until one does not return NotImplemented. Nothing is recorded meanwhile.
    """
    from taeda._library.operators import dispatched  # late: its modules import this one

    func, positional, keywords = dispatched(op, args, inplace)
    if out is not None:
        keywords["out"] = out
    kinds = _dispatching_types((*args, out))
    with no_grad():
        if dispatch_modes.entered and is_active(DISPATCH_MODE):
            with dispatch_modes.innermost() as mode:
                result = _ask(mode, type(mode), op, func, kinds, positional, keywords)
            asked: tuple[type, ...] = (type(mode),)
        else:
            result, asked = NotImplemented, kinds
            for kind in kinds:
                result = _ask(kind, kind, op, func, kinds, positional, keywords)
                if result is not NotImplemented:
                    break
    if result is NotImplemented:
        names = ", ".join(f"{kind.__module__}.{kind.__qualname__}" for kind in asked)
        raise TypeError(
            f"no implementation found for '{func}': __torch_dispatch__ of {names} declined"
        )
    return result


def _ask(
    who: Any, kind: type, op: str, func: Any, kinds: tuple[type, ...], args: Any, kwargs: Any
) -> Any:
    from taeda._library.table import rule_of  # late: its modules import this one

    rule = (rule_of(op, "torch_dispatch") or {}).get(kind)
    if rule is not None:
        return rule(who, func, kinds, args, kwargs)
    return who.__torch_dispatch__(func, kinds, args, kwargs)


def _dispatching_types(args: tuple[Any, ...]) -> tuple[type, ...]:
    """Types of the tensors that dispatch, each once, left to right, but a subclass before its
    superclasses.
    """
    found: list[type] = []
    for argument in _scan(args, {}):
        if not isinstance(argument, Tensor) or not Tensor._dispatches(argument):
            continue
        kind = type(argument)
        if kind in found:
            continue
        bases = (i for i, other in enumerate(found) if issubclass(kind, other))
        found.insert(next(bases, len(found)), kind)
    return tuple(found)


def attributes_of(tensor: Tensor) -> dict[str, Any]:
    """What a tensor's object holds, by name, slots included."""
    slots = (name for kind in type(tensor).__mro__ for name in _slots(kind))
    found = {name: getattr(tensor, name) for name in slots if hasattr(tensor, name)}
    return {**found, **tensor.__dict__}


def take_attributes(to: Tensor, source: Tensor) -> None:
    """`to.data = source` of a type that dispatches: what its objects hold goes along."""
    for name, value in attributes_of(source).items():
        setattr(to, name, value)


def _slots(kind: type) -> list[str]:
    slots = vars(kind).get("__slots__", ())
    names = [slots] if isinstance(slots, str) else list(slots)
    return [
        f"_{kind.__name__.lstrip('_')}{n}" if n.startswith("__") and not n.endswith("__") else n
        for n in names
        if n not in ("__dict__", "__weakref__")
    ]
