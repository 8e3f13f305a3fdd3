"""What is active in this thread and sees calls, and what is hidden while it runs.

The gate tests two words of flags, `layers` (active) and `excluded` (hidden); this module keeps
them. A handler runs with its own layer hidden, so that a call it makes arrives at the next one.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import threading
from collections.abc import Iterator
from typing import Any, ClassVar, Self

from taeda._native import core as _core

__all__ = [
    "AUTOCAST",
    "DISPATCH_MODE",
    "DUAL",
    "FUNCTION_MODE",
    "OVERRIDE",
    "TRACE",
    "TRANSFORM",
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "Mode",
    "Stack",
    "dispatch_modes",
    "exact",
    "function_modes",
    "hidden",
    "is_active",
    "is_hidden",
    "is_recorded",
    "no_grad",
    "tracers",
    "watched",
]

#: empty until a function mode is entered for the first time in this process; the doors of public
#: functions test it, for it costs less than a question to the flags of the thread
watched: list[bool] = []
#: types that never have a say in a call: a door needs to look no further at them
exact: set[type] = {
    _core.Tensor, _core.dtype, _core.device, _core.memory_format, type(None), bool, int, float, complex,
    str,
}  # fmt: skip

FUNCTION_MODE, TRANSFORM, AUTOCAST = (
    _core.layers[name] for name in ("FUNCTION_MODE", "TRANSFORM", "AUTOCAST")
)
DISPATCH_MODE, TRACE = _core.layers["DISPATCH_MODE"], _core.layers["TRACE"]
OVERRIDE, DUAL = _core.layers["OVERRIDE"], _core.layers["DUAL"]
#: what becomes of names of dimensions
NAMES = _core.layers["NAMES"]


def is_active(bit: int) -> bool:
    """Whether the gate of this thread stops for the layer."""
    return bool(_core.get_layers() & ~_core.get_excluded() & bit)


def is_hidden(bit: int) -> bool:
    """Whether the layer is kept from the calls that are made now."""
    return bool(_core.get_excluded() & bit)


class no_grad(_core.Switches):
    """Grad mode off for a with block; the public one lives in taeda.autograd, above core."""

    def __new__(cls) -> Self:
        return super().__new__(cls, False)


class hidden(_core.Switches):
    """Keeps layers from the calls of a `with` block."""

    def __new__(cls, *bits: int) -> Self:
        return super().__new__(cls, hide=functools.reduce(operator.or_, bits, 0))


class DisableTorchFunctionSubclass(hidden):
    """In its `with` block subclasses are plain tensors; modes still see the calls."""

    def __new__(cls) -> Self:
        return super().__new__(cls, OVERRIDE)


class DisableTorchFunction(hidden):
    """In its `with` block neither subclasses nor modes see the calls."""

    def __new__(cls) -> Self:
        return super().__new__(cls, OVERRIDE, FUNCTION_MODE)


class Stack(threading.local):
    """What this thread has entered and not left, outermost first. Its layer is active while there is any.

    A handler of a signal may raise at every call. So what ends in any case is done by stores, which
    nothing interrupts, and the one call that sets the flag.
    """

    def __init__(self, bit: int) -> None:
        self.bit = bit
        self.entered: list[Any] = []

    def push(self, handler: Any) -> None:
        """From now on `handler` sees the calls first."""
        depth = len(self.entered)
        if self.bit == FUNCTION_MODE and not watched:
            watched.append(True)
        try:
            self.restore(depth, handler)
        except BaseException:
            self.restore(depth)
            raise

    def pop(self) -> Any:
        """Take the innermost off, and return it."""
        handler = self.entered[-1]
        self.restore(-1)
        return handler

    def restore(self, depth: int, *handlers: Any) -> None:
        """Be what the stack was at this depth, with `handlers` on top, whatever came in between."""
        entered = self.entered
        entered[depth:] = handlers
        _core.set_layer_flag(self.bit, True if entered else False)  # noqa: SIM210 - bool() is a call

    def remove(self, handler: Any) -> None:
        """Take one off wherever it stands."""
        self.restore(0, *(h for h in self.entered if h is not handler))

    @contextlib.contextmanager
    def innermost(self) -> Iterator[Any]:
        """The innermost, off the stack while it decides: what it calls goes to the next outwards."""
        handler = self.pop()
        try:
            yield handler
        finally:
            self.push(handler)


class Tracers(Stack):
    """Those that see kernels run. While `noter` is alone, C notes the calls for it
    (`noted_calls`), and does not call it.
    """

    def __init__(self, bit: int) -> None:
        super().__init__(bit)
        self.noter: Any = None

    def restore(self, depth: int, *handlers: Any) -> None:
        """As that of every stack: stores, and one call."""
        entered = self.entered
        entered[depth:] = handlers
        _core.set_tracing(
            (2 if entered[-1] is self.noter and not entered[1:] else 1) if entered else 0
        )


function_modes, dispatch_modes = Stack(FUNCTION_MODE), Stack(DISPATCH_MODE)
tracers = Tracers(TRACE)


def is_recorded() -> bool:
    """Whether a tracer makes a program of the operations here, which runs again with other values.
    Who can do without a look at a value takes that way then.
    """
    return any(getattr(tracer, "records_programs", False) for tracer in tracers.entered)


class Mode:
    """On the stack of its kind during its `with` block."""

    _stack: ClassVar[Stack]
    #: whether public functions that are written in Python pass, so that all operations inside are seen
    _operations_only: ClassVar[bool] = False

    def __enter__(self) -> Self:
        self._stack.push(self)
        return self

    def __exit__(self, *raised: object) -> None:
        self._stack.pop()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Self:
        """A new mode, to be entered by `with`."""
        return cls(*args, **kwargs)
