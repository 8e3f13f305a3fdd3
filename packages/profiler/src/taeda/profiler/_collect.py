"""What one thread runs while it is watched: operations by the tracer above the kernels, ranges that
the program names.

Without a collector nothing here runs: operations test a flag that is there for other uses, and
`record_function` looks at one variable of its thread.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator
from typing import Any, Self

import taeda
from taeda import Tensor
from taeda._core_api import warn
from taeda._core_api.programs import noted_calls, tracers
from taeda._core_api.runtime import memory_stats

from ._blocks import deliver, listen, stop_listening
from ._callers import place_of
from ._recording import Calls, Range, Recording
from ._settings import Settings
from ._tensors import bytes_of, moves_nothing, tensors_of
from ._texts import operation
from ._timeline import BlockLog

__all__ = [
    "Collector",
    "is_recording",
    "record_function",
    "stop_recording",
]

_here = threading.local()  # .collector: the one of this thread, if any
_GATE = os.path.join(os.path.dirname(taeda.__file__), "_layers") + os.sep
_OWN = (os.path.dirname(__file__) + os.sep, _GATE)


class Collector:
    """Lists what its thread runs between `start` and `stop`. Times are nanoseconds of `clock`."""

    def __init__(self, settings: Settings, clock: Callable[[], int] = time.perf_counter_ns) -> None:
        self.settings, self.clock = settings, clock
        #: nothing is asked of a call but its name and its times: C notes them, alone
        self.plain = type(self).call is Collector.call and clock is time.perf_counter_ns
        self.plain = self.plain and not (
            settings.shapes or settings.memory or settings.stack or settings.flops
        )
        self.ranges: list[Range] = []
        self._calls: list[Calls] = []
        self.open: list[Range] = []
        self._hooks: list[Any] = []
        self._cost: Callable[[str, tuple[Any, ...], Any], int] | None = None
        if settings.flops:
            from taeda.utils.flop_counter import flops_of  # looks every formula's operator up

            self._cost = flops_of
        self.blocks = BlockLog() if settings.memory else None
        self.watching = False
        self.thread = threading.get_ident()

    def start(self) -> None:
        """RuntimeError if this thread is being watched already."""
        if getattr(_here, "collector", None) is not None:
            raise RuntimeError(
                "profile: this thread is being profiled already; profiles do not nest"
            )
        _here.collector = self
        if self.blocks is not None:
            listen(self.blocks)
        self.watch(True)
        self._hooks = list(_outside_hooks(self))

    def stop(self) -> None:
        """Whatever is still open ends now."""
        self.watch(False)
        self._fetch()
        _here.collector = None
        while self.open:
            self.leave(self.open[-1])
        for handle in self._hooks:
            handle.remove()
        if self.blocks is not None:
            self.blocks.gradients()
            stop_listening(self.blocks)

    def watch(self, on: bool) -> None:
        """See operations, or see none until told otherwise; named ranges are always noted."""
        if on and not self.watching:
            if self.plain:
                tracers.noter = self
            tracers.push(self)
        elif self.watching and not on:
            tracers.remove(self)
            tracers.noter = None
        self.watching = on

    def _fetch(self) -> None:
        """Keep what C noted since the last call."""
        lost, names, rows = noted_calls()
        if names:
            self._calls.append((names, rows))
        if lost:
            warn(f"profile: no memory for {lost:,} calls, which it does not show")

    def recording(self) -> Recording:
        """What was noted until `stop`."""
        return Recording(self.ranges, self._calls, self.thread)

    @contextlib.contextmanager
    def aside(self, name: str) -> Iterator[None]:
        """A piece that runs as a whole, such as a compiled graph: its operations are not seen."""
        entered, watching = self.enter(name), self.watching
        self.watch(False)
        try:
            yield
        finally:
            if watching and getattr(_here, "collector", None) is self:
                self.watch(True)
            self.leave(entered)

    def forget(self) -> None:
        """Drop what has ended: those were steps to warm up."""
        self.ranges, self._calls = list(self.open), []
        noted_calls()
        if self.blocks is not None:
            deliver()
            self.blocks.forget()

    # ---- ranges ----

    def enter(self, name: str, overload: str = "", kind: str = "user_annotation") -> Range:
        parent = self.open[-1] if self.open else None
        entered = Range(name, overload, kind, parent)
        if parent is not None:
            if parent.children is None:
                parent.children = []
            parent.children.append(entered)
        self.ranges.append(entered)
        self.open.append(entered)
        if self.settings.stack:
            entered.stack = list(_frames())
        if self.settings.memory:
            entered.memory = -memory_stats()["allocated"]
        entered.start = self.clock()
        return entered

    def leave(self, entered: Range) -> None:
        """End a range, and those within it that nobody ended."""
        end = self.clock()
        while entered in self.open:
            last = self.open.pop()
            last.end = end
            if self.settings.memory:
                last.memory += memory_stats()["allocated"]
            if last is entered:
                return

    # ---- the tracer's part ----

    def call(self, op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        """Run one kernel and note it."""
        name, _, overload = op.partition(".")
        graph = False
        if self.blocks is not None:
            deliver()
            self.blocks.place = place_of()
            graph = taeda.is_grad_enabled() and any(one.requires_grad for one in tensors_of(args))
        entered = self.enter(operation(op), overload, "cpu_op")
        try:
            made = run()
        finally:
            self.leave(entered)
        if self.settings.shapes:
            entered.shapes = [_shape(value) for value in args]
        if self._cost is not None:
            entered.flops = self._cost(name, args, made)
            if not moves_nothing(op, args, made):
                entered.moved = bytes_of((*tensors_of(args), *tensors_of(made)))
        if self.blocks is not None:
            deliver()
            self.blocks.operation(args, made, graph, entered.end)
        return made


def _shape(value: Any) -> list[Any]:
    if isinstance(value, Tensor):
        return list(value.shape)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], Tensor):
        return [list(item.shape) for item in value]
    return []


def _frames() -> Iterator[str]:
    """The program's places, innermost first."""
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_OWN):
            yield f"{code.co_filename}({frame.f_lineno}): {code.co_name}"
        frame = frame.f_back  # type: ignore[assignment]  # None ends the loop


def _outside_hooks(collector: Collector) -> Iterator[Any]:
    """Hooks that name the steps of optimizers, and calls of modules if asked; of packages that are
    installed: a program may import them after the profile has begun.
    """
    if importlib.util.find_spec("taeda.optim") is not None:
        from taeda.optim import optimizer  # upward: it is installed

        yield from _pair(
            collector,
            lambda stepped: f"Optimizer.step#{type(stepped).__name__}.step",
            optimizer.register_optimizer_step_pre_hook,
            optimizer.register_optimizer_step_post_hook,
        )
    if collector.settings.modules and importlib.util.find_spec("taeda.nn") is not None:
        from taeda.nn.modules import module as modules  # upward: it is installed

        def after(hook: Callable[..., None]) -> Any:
            return modules.register_module_forward_hook(hook, always_call=True)

        yield from _pair(
            collector,
            lambda called: f"nn.Module: {type(called).__name__}",
            modules.register_module_forward_pre_hook,
            after,
            _within,
        )


def _within(called: Any, around: Any) -> str:
    """The name of a module in the innermost one that is being called, if it is a child of it."""
    if around is None:
        return ""
    return next((name for name, child in around.named_modules() if child is called), "")


def _pair(
    collector: Collector,
    name: Callable[[Any], str],
    before: Any,
    after: Any,
    text: Callable[[Any, Any], str] | None = None,
) -> Iterator[Any]:
    """Two hooks that open and close a range around calls of an object, in the collector's thread.
    `text` is what stands beside the name, asked once for each pair of an object and that around it.
    """
    entered: list[Range] = []
    around: list[Any] = []
    texts: dict[tuple[int, int], tuple[weakref.ref[Any], str]] = {}

    def opens(called: Any, *rest: Any) -> None:
        if getattr(_here, "collector", None) is collector:
            made = collector.enter(name(called), kind="python_function")
            entered.append(made)
            if text is not None:
                above = around[-1] if around else None
                key = id(called), id(above)
                known = texts.get(key)
                if known is None or known[0]() is not called:
                    known = texts[key] = weakref.ref(called), text(called, above)
                made.text = known[1]
            around.append(called)

    def closes(called: Any, *rest: Any) -> None:
        if getattr(_here, "collector", None) is collector and entered:
            collector.leave(entered.pop())
            around.pop()
            if collector.blocks is not None and hasattr(called, "param_groups"):
                deliver()
                collector.blocks.optimizer(called)

    yield before(opens)
    yield after(closes)


def is_recording() -> bool:
    """Whether this thread is profiled."""
    return getattr(_here, "collector", None) is not None


def stop_recording() -> None:
    """End the profile of this thread, if there is one; what it recorded stays unread."""
    if (collector := getattr(_here, "collector", None)) is not None:
        collector.stop()


class record_function(ContextDecorator):
    """Names a piece of program in the profile of this thread, as a context or a decorator; does
    nothing while there is none.

    Args:
        name: of the piece.
        args: text that stands beside the name in the trace; None (the default) for none.

    >>> with record_function("load"):
    ...     pass
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        if not isinstance(name, str):
            raise TypeError(f"record_function takes a name, not {type(name).__name__}")
        self.name, self.args = name, args
        self._entered: list[tuple[Collector, Range]] = []

    def __enter__(self) -> Self:
        collector = getattr(_here, "collector", None)
        if collector is not None:
            entered = collector.enter(self.name)
            entered.text = self.args or ""
            self._entered.append((collector, entered))
        return self

    def __exit__(self, *raised: object) -> None:
        if self._entered:
            collector, entered = self._entered.pop()
            if getattr(_here, "collector", None) is collector:
                collector.leave(entered)
