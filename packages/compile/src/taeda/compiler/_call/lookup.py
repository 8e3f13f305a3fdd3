"""The way of one call of a compiled function.

call ─▶ a trace whose key and guards fit ─▶ trusted: run it
                                          └▶ new: rehearse it on copies, run eagerly, compare
                                             every bit; equal: trusted
     └▶ none ─▶ `_call/compiled.py` records this call
"""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from taeda import Tensor, nn
from taeda._core_api import programs as _core
from taeda._core_api import warn
from taeda._core_api.calls import AUTOCAST
from taeda._core_api.forks import taken_for_forks

from .._arguments import flatten, flatten_loosely
from .._errors import Stop
from .._logs import log_of
from .._replay.memo import is_kept
from .._replay.trace import Trace, missed
from .._signals import let_through
from .._stance import stance
from .._watch.observer import here
from . import trial
from .again import Again
from .audit import Effects, first_audit, fits_in_memory, is_due, may_wait, next_audit
from .environment import environment
from .proof import Differs, compared
from .split import Split
from .trial import Scatter, verdict
from .units import Units, run_inside

__all__ = ["Lookup", "limits", "log"]

log = log_of("dynamo")
ATTEMPTS = 3
AROUND = (
    "a mode or transform (vmap, a mode of functions) is active around a call, which runs as Python"
)
PATIENCE = 64  # after so many calls without a graph in a row, one in eight is asked what it is like
GIVES_UP = 512  # after so many, and never a graph, none is asked


class _Limits:
    """How many graphs one function gets."""

    graphs = 8
    suppress_errors = False  # a backend of the user that fails leaves the program as it is


limits = _Limits()


class Lookup(ABC):
    """The graphs of one callable, and which of them a call goes by."""

    chained = True  # results that are computed from each other have nodes of their own
    gives_numbers = True  # floats that are only computed with may differ from call to call

    def __init__(
        self, function: Callable[..., Any], *, fullgraph: bool = False, chooses: bool = True
    ) -> None:
        self.function, self.fullgraph = function, fullgraph
        self.chooses = chooses  # between graph and program, by time
        self.gate: list[bool] = []  # not empty: calls go to the function at once
        self.at_gate: Callable[[bool], None] | None = None  # is told when that changes
        self.traces: dict[Any, list[Trace]] = {}
        # places of floats that graphs are given anew, of some graphs
        self._loose: tuple[tuple[Any, ...], ...] = ()
        self.reasons: list[str] = []
        self._attempts: dict[Any, int] = {}
        self._count = 0
        self._row = 0  # calls one after the other for which there was no graph
        self._scatter = Scatter()
        self._called = False  # before or while "eager_then_compile" holds
        self.units: Units | None = None  # child modules that have graphs, where the whole has none
        self.split: Split | None = None  # two parts, of which the first has graphs
        self._lock = taken_for_forks(threading.RLock())
        self.name = getattr(function, "__qualname__", type(function).__qualname__)

    def reset(self) -> None:
        """Forget all traces."""
        with self._lock:
            self.traces, self._attempts, self._count, self.reasons = {}, {}, 0, []
            self.off, self._row = False, 0
            self._scatter.start_over()
            self.split, self._loose = None, ()
            if self.units is not None:
                self.units.clear()
                self.units = None

    def states(self) -> list[Lookup]:
        """This one, and that of the first part of the function where it has two."""
        return [self] if self.split is None else [self, self.split.head]

    @property
    def off(self) -> bool:
        """Whether calls go to the function at once."""
        return bool(self.gate)

    @off.setter
    def off(self, value: bool) -> None:
        changes = bool(self.gate) != value
        self.gate[:] = [True] * value
        if changes and self.at_gate is not None:
            self.at_gate(value)

    @property
    def stays_eager(self) -> bool:
        """Whether no call will be captured any more."""
        return self._count >= limits.graphs

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        layers = _core.get_layers()
        if layers and layers != AUTOCAST:
            return self._layered(args, kwargs)
        if _core.has_saved_hooks() or (not stance.plain and self._stays()):
            return self.function(*args, **kwargs)  # hooks see what the program itself saves
        if self._scatter.is_due() and self.chooses and not self.fullgraph:
            return self._judge(args, kwargs)
        return self._by_graph(args, kwargs)

    def _by_graph(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call by the graph that fits it; without one it is recorded, or runs as it is written."""
        if self._row > PATIENCE and stance.plain:
            self._row += 1
            if self._row % 8:
                return self._as_program(args, kwargs)
            self._give_way()
        try:
            shape, tensors = flatten(args, kwargs)
            key = (environment(), shape)
            known = self.traces.get(key)
        except TypeError:  # an argument without a hash: a key of a dict, say
            return self.function(*args, **kwargs)
        made = missed if known is None else self._by_known(known, key, tensors, args, kwargs)
        if made is missed and self._loose:
            made = self._by_loose(key[0], args, kwargs)
        if made is not missed:
            return made
        if not stance.plain and self._is_closed():
            return self.function(*args, **kwargs)
        if self.split is not None:
            self._scatter.misses += 1
            return self._as_program(args, kwargs)
        if self._count < limits.graphs and self._attempts.get(key, 0) < ATTEMPTS:
            self._row = 0
            return self._record(key, tensors, args, kwargs)
        self._row += self._row <= PATIENCE
        if self._row == PATIENCE:
            self._let_go()
            self._give_way()
        self._scatter.misses += 1
        self._settle()
        return self._as_program(args, kwargs)

    def _by_known(self, known: list[Trace], key: Any, tensors: Any, args: Any, kwargs: Any) -> Any:
        """The call by the first of these graphs that fits; `missed` if none does."""
        for trace in known:
            if trace.holds() and trace.takes(tensors):
                if trace.runs < 0:
                    self._scatter.misses += 1
                    return self._as_program(args, kwargs)
                made = self._run(trace, key, tensors, args, kwargs)
                if made is not missed:
                    self._row = 0
                    if trace.trusted and trace is not known[0]:
                        self._scatter.misses += 1
                        self._move_to_front(key, trace)
                    return made
        return missed

    def _by_loose(self, environment: Any, args: Any, kwargs: Any) -> Any:
        """The same by graphs that are given some floats of the call anew."""
        for places in self._loose:
            found = flatten_loosely(args, kwargs, places)
            if found is not None:
                key = environment, places, found[0]
                made = self._by_known(self.traces.get(key, []), key, found[1], args, kwargs)
                if made is not missed:
                    return made
        return missed

    def _as_program(self, args: Any, kwargs: Any) -> Any:
        """The call as it is written, with its units at work, or in two parts."""
        split = self.split
        if split is not None and stance.plain:
            if split.head.off:
                self._give_up(split)
            elif split.takes(args, kwargs):
                return split(args)
        if self.units is None or not stance.plain:
            return self.function(*args, **kwargs)
        return run_inside(self.function, args, kwargs)

    def _give_up(self, split: Split) -> None:
        """The first part has no graph: the function is one again, and its modules may have some."""
        with self._lock:
            if self.split is split:
                self.split = None
                self._add_units(split.modules)
        self._settle()

    # ---- set_stance ----

    def _stays(self) -> bool:
        """Whether this call runs the program itself, whatever is known."""
        if stance.name == "eager_then_compile" and not self._called:
            self._called = True
            return True
        return stance.name == "force_eager"

    def _is_closed(self) -> bool:
        """Whether no call may be recorded now."""
        if stance.name == "fail_on_recompile":
            raise RuntimeError(
                f'{self.name} has no graph for this call, and set_stance("fail_on_recompile") '
                "forbids another one"
            )
        return stance.name == "eager_on_recompile"

    def _let_go(self) -> None:
        """Forget graphs of tensors that something else replaced: nothing but they may hold these."""
        with self._lock:
            for key, found in self.traces.items():
                self.traces[key] = [t for t in found if t.has_its_tensors()]

    def _give_way(self) -> None:
        """Where calls for which there is no graph follow each other, and there will be no graph for
        them, they need not come here.
        """
        if self.fullgraph or not self.chooses or self.split is not None or self._has_units():
            return
        if self._count >= limits.graphs:
            self.reasons.append(f"its {limits.graphs} graphs are for none of its calls")
            self._say(f"{self.name} stays eager: {self.reasons[-1]}")
            self.off = True
        elif self._row >= GIVES_UP and not any(self.traces.values()):
            self.off = True

    def _has_units(self) -> bool:
        return self.units is not None and bool(self.units.alive)

    def _move_to_front(self, key: Any, trace: Trace) -> None:
        """The graph that fits now is asked first next time; others walk through a list of their own."""
        with self._lock:
            found = self.traces.get(key, [])
            if trace in found:
                self.traces[key] = [trace, *(t for t in found if t is not trace)]

    def _layered(self, args: Any, kwargs: Any) -> Any:
        """A call inside of a recorded one, or under a mode or transform."""
        if is_kept():
            return self.function(*args, **kwargs)  # a part of a program that is compared
        observer = here.get()
        if observer is not None and observer.active:
            return observer.call(self.function, *args, **kwargs)
        if (watchers := _profiles()) is not None:
            with contextlib.ExitStack() as stack:
                for watcher in watchers:
                    stack.enter_context(watcher.aside(f"CompiledFunction: {self.name}"))
                return self(args, kwargs)
        if self.fullgraph:
            raise Stop(
                "fullgraph=True, but a mode or transform is active around the call, so it stays eager"
            )
        if AROUND not in self.reasons:
            self.reasons.append(AROUND)
            self._say(f"{self.name} stays eager for this call: {AROUND}")
        return self.function(*args, **kwargs)

    def _run(self, trace: Trace, key: Any, tensors: Any, args: Any, kwargs: Any) -> Any:
        trace.runs += 1
        if not trace.trusted:
            return self._prove(trace, key, tensors, args, kwargs)
        timed = trace.runs in trial.TRIAL and self.chooses
        if trace.runs >= trace.audit_at and not (timed and may_wait()):
            return self._audit(trace, key, tensors, args, kwargs)
        if timed:
            return self._try(trace, tensors, args, kwargs)
        return self._by_program(trace, tensors, args, kwargs)

    def _by_program(self, trace: Trace, tensors: Any, args: Any, kwargs: Any) -> Any:
        """The result of the graph. Where an operation raises before anything was changed, the
        program itself says what comes of it.
        """
        states = [(generator, generator.get_state()) for generator in trace.plan.rewinds]
        again = Again(self.function, args, kwargs, trace, states) if trace.backward else None
        failed = False
        try:
            made = trace.run(tensors, again)
        except MemoryError:
            raise
        except Exception as error:
            let_through(error)
            if not trace.is_untouched():
                raise
            made, failed = missed, True
        if made is missed:
            for generator, state in states:
                generator.set_state(state)
        return self.function(*args, **kwargs) if failed else made

    def _settle(self) -> None:
        """Nothing is captured any more: if no graph is used either, calls need not come here."""
        used = self.split is not None
        used = used or any(trace.runs >= 0 for traces in self.traces.values() for trace in traces)
        used = used or self._has_units()
        if not used and (self._count >= limits.graphs or self.traces or self.units is not None):
            self.off = not self.fullgraph

    # ---- there is none ----

    @abstractmethod
    def _record(self, key: Any, tensors: list[Tensor], args: Any, kwargs: Any) -> Any:
        """The result of a call for which there is no graph; it may become one."""

    @abstractmethod
    def _add_units(self, called: list[nn.Module]) -> None:
        """These modules get graphs of their own."""

    def _say(self, text: str) -> None:
        log_of("graph_breaks").info(text)

    # ---- is it worth it? ----

    def _try(self, trace: Trace, tensors: Any, args: Any, kwargs: Any) -> Any:
        """Calls in turns, the graph and the program; the faster one stays."""
        by_graph = trace.runs % 2 == 0
        start = time.perf_counter()
        if by_graph:
            flatten(args, kwargs)
            environment()
            trace.holds()
            made = self._by_program(trace, tensors, args, kwargs)
        else:
            made = self.function(*args, **kwargs)
        if made is not missed:
            trace.seconds[by_graph].append(time.perf_counter() - start)
        if trace.runs == trial.TRIAL[-1] and all(trace.seconds) and (why := verdict(trace)):
            self.reasons.append(why)
            log_of("inductor").info("%s stays eager: %s", self.name, why)
            self._settle()
        return made

    def _judge(self, args: Any, kwargs: Any) -> Any:
        """Calls in turns, by all graphs and by the program: the way to the right graph of many
        takes time, too.
        """
        by_graphs = functools.partial(self._by_graph, args, kwargs)
        program = functools.partial(self.function, *args, **kwargs)
        made, why = self._scatter.turn(by_graphs, program)
        if why:
            self.reasons.append(why)
            self._say(f"{self.name} stays eager: {why}")
            self.off = True
        return made

    # ---- the first run of a trace ----

    def _distrust(self, trace: Trace, key: Any, reason: str) -> None:
        with self._lock:
            self.traces[key] = [t for t in self.traces.get(key, ()) if t is not trace]
            self._attempts[key] = ATTEMPTS
            self.reasons.append(reason)
            if trace.scalars.places:  # once more, with each float for itself
                self.gives_numbers, self._loose = False, ()

    def _rehearse(self, trace: Trace, tensors: list[Tensor]) -> Any:
        return trace.rehearse(tensors)

    def _prove(self, trace: Trace, key: Any, tensors: list[Tensor], args: Any, kwargs: Any) -> Any:
        """Run the program on copies and the function itself, and compare."""
        try:
            result, reason, _ = compared(
                self.function, trace, tensors, args, kwargs, self._rehearse
            )
        except Differs as error:
            self._distrust(trace, key, error.said)
            raise error.raised from None
        if result is missed:
            return missed
        if reason:
            self._distrust(trace, key, reason)
            log.warning("%s stays eager: %s", self.name, reason)
        else:
            trace.trusted, trace.audit_at = True, first_audit()
            trace.in_use_since = time.perf_counter()
        return result

    # ---- audits ----

    def _audit(self, trace: Trace, key: Any, tensors: Any, args: Any, kwargs: Any) -> Any:
        """The call by the program, with which its graph is compared once more."""
        start = time.perf_counter()
        if not is_due(trace, start):
            trace.audit_at = trace.runs + trace.runs // 2
            return self._by_program(trace, tensors, args, kwargs)
        trace.audit_at = next_audit(trace.runs)
        if not fits_in_memory(trace, tensors):
            return self._by_program(trace, tensors, args, kwargs)
        effects = Effects(trace.objects_read)
        sparing = functools.partial(Trace.rehearse, sparing=True)
        try:
            result, reason, place = compared(self.function, trace, tensors, args, kwargs, sparing)
        except Differs as error:
            self._fail_audit(trace, key, error.said, trace.line_of(0))
            raise error.raised from None
        if result is not missed and not reason and (changed := effects.changed()):
            reason, place = f"the program changes a {changed}, which its graph does not", 0
        trace.audits.append(time.perf_counter() - start)
        if reason:
            self._fail_audit(trace, key, reason, trace.line_of(max(place, 0)))
        return result

    def _fail_audit(self, trace: Trace, key: Any, reason: str, line: str) -> None:
        self._distrust(trace, key, f"{reason} ({line})" if line else reason)
        said = (
            f"{self.name} is not compiled any more: in an audit {reason}{line and f' ({line})'}. "
            "Something that the program reads or writes was not seen. Please report it"
        )
        with self._lock:
            self.traces, self._count = {}, max(self._count, limits.graphs)
        if self.fullgraph:
            raise Stop(f"fullgraph=True, but there is no graph of all: {said}")
        self._settle()
        self.off = True
        warn(said)


def _profiles() -> list[Any] | None:
    """The tracers of this thread, if nothing else is around the call and each steps aside for a whole
    graph: a profile changes no program.
    """
    entered = list(_core.tracers.entered)
    if _core.get_layers() != _core.TRACE or not entered:
        return None
    return entered if all(hasattr(one, "aside") for one in entered) else None
