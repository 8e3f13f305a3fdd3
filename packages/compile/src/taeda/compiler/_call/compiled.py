"""A call for which there is no graph: it runs eagerly and is observed, and becomes a new one.

call ─▶ observed ─▶ a trace, which the next call proves
                 └▶ a reason to stay eager ─▶ the function in two parts, of which the first has graphs
                                           └▶ the modules that it called, each with graphs of its own
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable
from typing import Any

from taeda import Tensor, nn

from .._arguments import containers, flatten_loosely, objects
from .._errors import PASSING, NoTrace, Stop
from .._logs import tell_of
from .._replay.trace import Trace
from .._signals import from_handler
from .._watch.observer import Observer
from . import trial
from .as_written import AsWritten
from .lookup import ATTEMPTS, Lookup, limits
from .split import split_at
from .trial import Turns, is_graphs_turn
from .units import Child, Units, plain
from .watched import observed

__all__ = ["Compiled", "Unit"]


class Compiled(Lookup):
    """State behind one compiled callable."""

    def _record(self, key: Any, tensors: list[Tensor], args: Any, kwargs: Any) -> Any:
        if sys.getprofile() is not None or not _can_key(args, kwargs):
            return self.function(*args, **kwargs)
        observer = Observer(strict=self.fullgraph)
        observer.chained = self.chained
        try:
            return self._record_by(observer, key, tensors, args, kwargs)
        finally:
            observer.forget()

    def _record_by(
        self, observer: Observer, key: Any, tensors: list[Tensor], args: Any, kwargs: Any
    ) -> Any:
        for number, tensor in enumerate(tensors):
            observer.recorder.add_input("argument", number, tensor)
        for value in (*args, *kwargs.values()):
            for container in containers(value):
                observer.given[id(container)] = container
            for thing in objects(value):
                observer.mark(thing)
        given: tuple[Any, Any] = (args, kwargs)
        if self.gives_numbers:
            given = observer.give(self.function, args, kwargs)
        try:
            result = observed(observer, self.function, *given)
        except Exception as error:
            if not from_handler(error):  # one that raises by itself is not watched for ever
                self._attempts[key] = self._attempts.get(key, 0) + 1
            raise
        if not observer.active:
            if self.fullgraph and not observer.reason.startswith(PASSING):
                raise Stop(
                    f"fullgraph=True, but there is no graph of all: {observer.reason}"
                    + (f" ({observer.where})" if observer.where else "")
                )
            self._failed(key, observer.reason, observer.where)
            self._leave_to_units(observer, key)
            return result
        try:
            trace = self._traced(observer, result, args, kwargs)
            key, tensors = self._loosened(observer, trace, key, tensors, args, kwargs)
        except NoTrace as why:
            if self.fullgraph:
                raise Stop(f"fullgraph=True, but there is no graph of all: {why}") from None
            self._failed(key, str(why), "")
            self._leave_to_units(observer, key)
            return result
        try:
            self._add(trace, key)
            return self._accept(trace, key, tensors, result)
        except BaseException:
            self._abandon(trace, key)
            raise

    def _loosened(
        self, observer: Observer, trace: Trace, key: Any, tensors: Any, args: Any, kwargs: Any
    ) -> tuple[Any, Any]:
        """(key, tensors) of the graph: with any floats where each run is given them anew."""
        places = observer.loose_places()
        found = flatten_loosely(args, kwargs, places) if places else None
        if found is None:
            return key, tensors
        trace.scalars.places = places
        with self._lock:
            self._loose = tuple(dict.fromkeys((places, *self._loose)))
        return (key[0], places, found[0]), found[1]

    def _add(self, trace: Trace, key: Any) -> None:
        with self._lock:
            tell_of(self.name, trace, self._changing(key) if self.traces else "")
            self.traces.setdefault(key, []).append(trace)
            self._count += 1
            self._scatter.start_over()
            if self._count >= limits.graphs:
                self._say(
                    f"{self.name} was captured {self._count} times and stays eager for other "
                    f"calls: {self._changing(key)}"
                )

    def _traced(self, observer: Observer, result: Any, args: Any, kwargs: Any) -> Trace:
        return Trace(observer, result, args, kwargs, fuse=self.chooses)

    def _leave_to_units(self, observer: Observer, key: Any) -> None:
        """The modules that this call called by itself get graphs of their own, as it will never have one."""
        if not self.chooses or self.traces or self._attempts.get(key, 0) < ATTEMPTS:
            return
        own = int(isinstance(self.function, nn.Module | AsWritten))
        called = list({id(m): m for depth, m in observer.called if depth == own}.values())
        split = split_at(self.function, observer.outer, _Head)
        with self._lock:
            if split is not None and self.units is None:
                split.modules, self.split = called, split
            else:
                self._add_units(called)

    def _add_units(self, called: list[nn.Module]) -> None:
        if called and self.units is None:
            self.units = self._new_units()
        if self.units is not None:
            self.units.add(called)

    def _new_units(self) -> Units:
        return Units(self.function, Unit)

    def _accept(self, trace: Trace, key: Any, tensors: list[Tensor], result: Any) -> Any:
        """What the recorded call returns."""
        return result

    def _abandon(self, trace: Trace, key: Any) -> None:
        """Something, an interrupt perhaps, kept `_accept` from its end."""

    def _changing(self, key: Any) -> str:
        words = [t.failing() for traces in self.traces.values() for t in traces]
        found = next((w for w in words if w), "")
        return f"{found} changes" if found else "its arguments change"

    def _failed(self, key: Any, reason: str, where: str) -> None:
        passing = reason.startswith(PASSING)
        reason = reason.removeprefix(PASSING)
        with self._lock:
            self._attempts[key] = self._attempts.get(key, 0) + (1 if passing else ATTEMPTS)
            said = reason + (f" ({where})" if where else "")
            if said not in self.reasons:
                self.reasons.append(said)
            if self._attempts[key] >= ATTEMPTS:
                self._say(f"{self.name} stays eager: {said}")
                self._count += not self.traces


class _Head(Compiled):
    """State behind the first part of a function."""

    def _traced(self, observer: Observer, result: Any, args: Any, kwargs: Any) -> Trace:
        trace = super()._traced(observer, result, args, kwargs)
        if len(trace.plan.steps) < 2:
            raise NoTrace("one operation is no faster as a graph")
        return trace

    def _leave_to_units(self, observer: Observer, key: Any) -> None:
        """The function itself does, if this has no graph."""
        self._settle()


class Unit(Compiled):
    """State behind a child module of a function that has no whole graph."""

    def __init__(self, child: Child, units: Units) -> None:
        super().__init__(child)
        self._module, self._family = child.module, weakref.ref(units)
        self._calls = 0
        self._scatter.stop()  # `_in_turns` decides
        self._turns = Turns()
        self.trial: Callable[..., Any] | None = self._in_turns  # what calls go through at first

    def _traced(self, observer: Observer, result: Any, args: Any, kwargs: Any) -> Trace:
        trace = super()._traced(observer, result, args, kwargs)
        if len(trace.plan.steps) < 2:
            raise NoTrace("one operation is no faster as a graph")
        return trace

    def _try(self, trace: Trace, tensors: Any, args: Any, kwargs: Any) -> Any:
        return self._by_program(trace, tensors, args, kwargs)

    def _in_turns(self, args: Any, kwargs: Any) -> Any:
        """A call by the unit or by the module; both are timed with all that it takes to come there,
        and the faster one stays.
        """
        number, self._calls = self._calls, self._calls + 1
        if trial.TRIAL and number > trial.TRIAL[-1]:
            self._decide()  # the last one raised: so a checkpoint ends what it computes again
        if number not in trial.TRIAL:
            return self(args, kwargs)
        by_unit = is_graphs_turn(number)
        call = self if by_unit else functools.partial(plain, self._module)
        made = self._turns.timed(by_unit, call, args, kwargs)
        if number == trial.TRIAL[-1]:
            self._decide()
        return made

    def _decide(self) -> None:
        self.trial = None
        if not any(t.trusted for found in self.traces.values() for t in found):
            self.off = True  # under hooks of saved tensors, as in a checkpoint, there is none
            return
        module, unit = self._turns.fastest()
        if unit + trial.WAY > 0.97 * module:
            self.off = True
            self.reasons.append(
                f"its graph takes {unit * 1e6:.1f} us, the module itself {module * 1e6:.1f} us"
            )

    def _leave_to_units(self, observer: Observer, key: Any) -> None:
        units = self._family()
        if units is None or self.traces or self._attempts.get(key, 0) < ATTEMPTS:
            return
        self.off = True
        units.add(list({id(m): m for depth, m in observer.called if depth == 1}.values()))


def _can_key(args: Any, kwargs: Any) -> bool:
    """Whether the key of the call says all of its arguments; tensors of subclasses are objects like
    others, with more to them.
    """
    return not any(isinstance(o, Tensor) for v in (*args, *kwargs.values()) for o in objects(v))
