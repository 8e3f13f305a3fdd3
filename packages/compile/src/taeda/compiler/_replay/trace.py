"""One captured program and its runs.

arguments ─▶ inputs (arguments, kept tensors, gradients) ─▶ core.Program ─▶ results, gradients to assign
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs as _core
from taeda._core_api.calls import cast_weight

from .._arguments import objects, tensors_in
from .._graph.steps import Graph
from .._kernels import any_pending
from .._watch.observer import Observer
from .joint import Backwards, dense, expanded
from .memo import given
from .pieces import Chain, stopped_at
from .plan import planned
from .rehearsal import tangent, twin, walked
from .undo import Undo

__all__ = ["Trace", "missed"]

PATIENCE = 10.0  # seconds that a trial waits for a compiler
missed: Any = object()  # what a trace returns that does not fit the call


class Trace:
    """A program for calls of one key, as long as its guards hold."""

    def __init__(
        self,
        observer: Observer,
        result: Any,
        args: Any,
        kwargs: Any,
        *,
        fuse: bool = True,
        lower: Callable[[Graph, list[int]], Any] | None = None,
    ) -> None:
        observer.rates_settled()
        # identity is only worth something while they live
        self.objects_read = list(observer._old.values())
        self.objects = [o for v in (*args, *kwargs.values()) for o in objects(v)]
        self.guard_count = len(observer.guards)
        self.descriptions = observer.guards.describe()
        self.holds, self.failing = observer.guards.compiled()
        self.has_its_tensors = observer.guards.of_tensors()
        self.plan = plan = planned(observer, result, fuse, lower)
        self._inputs, self.scalars, self.program = plan.inputs, plan.scalars, plan.program
        self._late = observer.guards.compiled_late()
        if isinstance(self.program, Chain) and self._late is not None:
            self.program.behind = functools.partial(_check_late, *self._late)
        self.backward, self._build = plan.backward, plan.build
        self.call: Any = None  # the function that a backend of the user returned
        # ---- what its runs change
        self.trusted = False
        self.audit_at = 0  # which run is proved again
        self.audits: list[float] = []  # the seconds that each took
        self.in_use_since = 0.0
        self.runs = 0  # below zero: the program itself is faster
        self.seconds: tuple[list[float], list[float]] = ([], [])  # of the program, of the graph
        self.lost = False  # once against the program
        self._waits_since: float | None = None

    # ---- run ----

    def takes(self, tensors: list[Tensor]) -> bool:
        """Whether these arguments are the kept tensors that they were, and no others."""
        kept = self._inputs.kept_id
        return (
            kept is None
            or [kept(id(t)) for t in tensors[: len(tensors) - len(self.scalars.places)]]
            == self._inputs.tied
        )

    def check_behind(self, op: str = "an operator that was defined at run time") -> None:
        """What the program reads behind a kernel of somebody else has to be as it was."""
        if self._late is not None:
            _check_late(*self._late, op)

    def is_untouched(self) -> bool:
        """After a run that raised: whether all is as it was, but for the state of generators."""
        return 0 <= stopped_at(self.program) < self.plan.first_write

    def inputs(self, tensors: list[Any], *, peek: bool = True) -> list[Tensor] | None:
        """The tensors that the program reads, in this call; None if a gradient is there or is not,
        against expectation. Unless it may only `peek`, numbers are drawn.
        """
        given_by = self._inputs
        found = given_by.kept.copy()
        given = set(map(id, tensors)) if given_by.reads_gradients else ()
        for number, kind, source in given_by.varying:
            if kind == "argument":
                found[number] = tensors[source]
            elif kind == "number":
                found[number] = source["lr"]
            elif kind == "cast":
                weight, dtype = source
                if not found[weight].requires_grad:
                    return None
                found[number] = cast_weight(found[weight], dtype)
            elif source.grad is None or id(source.grad) in given:
                return None
            else:
                found[number] = source.grad
        for numbers, there in given_by.gradients:
            if not _core.gradients_are(found, numbers, there):
                return None
        if given_by.has_scalars and not self.scalars.put(found, tensors, peek=peek):
            return None
        return found

    def waits_for_chains(self) -> bool:
        """Whether some of it is being compiled, so that its time would say little; not for ever."""
        now = time.monotonic()
        if self._waits_since is None:
            self._waits_since = now
        return now - self._waits_since < PATIENCE and any_pending(self.program)

    def run(self, tensors: list[Tensor], again: Callable[..., Any] | None = None) -> Any:
        """The result of the program; `missed` if an input is not what it was.
        `again` calls the program itself.
        """
        inputs = self.inputs(tensors, peek=False)
        if inputs is None:
            return missed
        made = self.program.run(tuple(inputs))
        if made is NotImplemented:
            return missed
        if self.backward is not None:
            made = self._grow(self.backward, inputs, made, again)
        return self._build(made)

    # ---- run by somebody else's function ----

    @property
    def has_casts(self) -> bool:
        """Whether a region of autocast around the call casts weights for it."""
        return bool(self._inputs.casts)

    @property
    def count(self) -> int:
        """How many outputs the graph has."""
        return len(self.plan.outputs)

    @property
    def leaves_gradients(self) -> bool:
        """Whether a run assigns gradients."""
        return bool(self.plan.effects)

    def fits(self, inputs: list[Any]) -> bool:
        """Whether these inputs are like those that were recorded."""
        return self.plan.form.run(tuple(inputs)) is not NotImplemented

    def finish(self, inputs: list[Any], made: tuple[Any, ...]) -> Any:
        """The result of outputs that somebody else computed under autograd; gradients are assigned."""
        for number, output in self.plan.effects:
            inputs[number].grad = None if output is None else made[output].detach()
        spent = self.plan.consumed_outputs
        return self._build(tuple(v.detach() if n in spent else v for n, v in enumerate(made)))

    def undo(self, tensors: list[Tensor]) -> Undo | None:
        """The way back from a run by somebody else that raises; None if none is needed, or if a kernel
        may have run that is not to run again.
        """
        if (
            self.plan.risked is None
            or self.plan.calls_custom
            or (inputs := self.inputs(tensors)) is None
        ):
            return None
        written = (inputs[n] for n in self.plan.risked)
        return Undo([t for t in written if isinstance(t, Tensor)], self.plan.rewinds)

    def rehearse_by(self, lowered: Any, tensors: list[Tensor]) -> Any:
        """As `rehearse`, by the module of the graph; gradients are those of autograd through it."""
        inputs = self.inputs(tensors)
        if inputs is None or not self.fits(inputs):
            return missed
        stand_ins = [twin(t) if isinstance(t, Tensor) else t for t in inputs]
        with given(traced=True):
            made = lowered.module(*[stand_ins[n] for n in lowered.inputs])
        grown = [made[n] for _, n in sorted(self.plan.grown_outputs.items())]
        own = {*self.plan.grown_outputs.values(), *self.plan.consumed_outputs}
        if any(v.requires_grad for n, v in enumerate(made) if n not in own):
            raise RuntimeError("autograd would record what the program hides from it")
        if self.backward is not None and not all(v.requires_grad for v in grown):
            raise RuntimeError(
                "an autograd.Function has the derivative, and the graph only its forward"
            )
        found = None
        if self.backward is not None:
            wanted = [stand_ins[n] for n in self.backward.inputs]
            every = (True,) * len(grown)
            (group,) = self.backward.groups
            ways = [walked(grown, wanted, make) for make in (dense, expanded)]
            found = [(group, every, False, *way) for way in ways]
        written = [
            (inputs[n], stand_ins[n].detach())
            for n in self.plan.writes
            if isinstance(inputs[n], Tensor)
        ]
        gradients = [(inputs[n], None if o is None else made[o]) for n, o in self.plan.effects]
        return self._build(made), written, gradients, found

    def _grow(self, backward: Backwards, inputs: list[Any], made: Any, again: Any) -> Any:
        count, n = self.count, len(backward.outputs)
        results = [t if t._base is None else t.detach() for t in made[count : count + n]]
        saved = list(made[count + n :])
        own = {id(old): new for old, new in zip(made[count:], results, strict=False)}
        saved = [own.get(id(value), value) for value in saved]
        more = None
        if self.plan.repeats_from_draws and again is not None:
            more = _More(
                self, again, [(inputs[w], d, inputs[n]) for n, (w, d) in self._inputs.casts]
            )
        backward.attach(inputs, results, saved, more)
        return [own.get(id(value), value) for value in made[:count]]

    def _grown_of(self, again: Callable[..., Any]) -> list[Tensor]:
        """The results that want gradients, of the program itself."""
        with taeda.enable_grad():
            return self.grown_in(again())

    def grown_in(self, result: Any) -> list[Tensor]:
        """Those among the tensors of a result of the program itself, in the order of the node's outputs."""
        found = list(tensors_in(result))
        return [found[place] for place in self.plan.grown_places]

    def changed(self, inputs: list[Any]) -> list[Tensor]:
        """The inputs that a run writes, and those whose gradient it assigns."""
        numbers = {*self.plan.writes, *(n for n, _ in self.plan.effects)}
        return [inputs[n] for n in sorted(numbers) if isinstance(inputs[n], Tensor)]

    def line_of(self, place: int) -> str:
        """The line of the program that made, or wrote last, an output."""
        slot = (
            self.plan.outputs[min(place, len(self.plan.outputs) - 1)] if self.plan.outputs else -1
        )
        lines = [s.line for s in self.plan.steps if slot in s.outs or slot in s.targets]
        return next((line for line in reversed(lines or self.plan.lines) if line), "")

    def rehearse(self, tensors: list[Tensor], *, sparing: bool = False) -> Any:
        """(results, contents of the inputs it wrote, gradients), with nothing changed; `missed` as
        above. `sparing` makes copies of no more than what is written, or gets a gradient.
        """
        inputs = self.inputs(tensors, peek=False)
        if inputs is None or not self.fits(inputs):
            return missed
        changed = {*self.plan.writes, *(n for n, _ in self.plan.effects)}
        copied = changed if sparing else set(range(len(inputs)))
        hooked = {n for n, t in enumerate(inputs) if _has_hooks(t)}
        if hooked.intersection(self.plan.writes):
            raise RuntimeError("it writes to a tensor that has hooks, which no copy has")
        copied -= hooked
        stand_ins = [
            twin(t) if n in copied and isinstance(t, Tensor) else t for n, t in enumerate(inputs)
        ]
        with given():
            made = self.program.run(tuple(stand_ins))
        if made is NotImplemented:
            raise RuntimeError("copies of its inputs are not like them")
        written = [(inputs[n], stand_ins[n]) for n in self.plan.writes]
        gradients = [(inputs[n], None if o is None else made[o]) for n, o in self.plan.effects]
        backward = self.backward
        if sparing and backward is not None and any(_has_hooks(inputs[n]) for n in backward.inputs):
            backward = None  # hooks would run once more
        found = None if backward is None else self._walk(backward, made)
        return self._build(made), written, gradients, found

    def _walk(self, backward: Backwards, made: Any) -> Any:
        """(group, results, whether sums are apart, their gradients, what comes for each input) by each
        backward program, from random numbers.
        """
        count, n = self.count, len(backward.outputs)
        results, saved = (
            made[count : count + n],
            list(made[count + n :]),
        )
        own = taeda.Generator().manual_seed(0)
        walks = []
        for group, kept in zip(backward.groups, backward.saved_by(saved), strict=True):
            for chosen, apart, make in group.makes:
                start = [r for r, one in zip(group.own(results), chosen, strict=True) if one]
                tangents = [tangent(r, own, make) for r in start]
                found = group.found(kept, chosen, tangents, apart)
                walks.append((group, chosen, apart, tangents, found))
        return walks


def _check_late(holds: Callable[[], bool], failing: Callable[[], str], op: str) -> None:
    if not holds():  # the kernel has run, so the program cannot begin again
        raise RuntimeError(
            f"{op} changed what a compiled program reads behind it ({failing()}), so its graph cannot "
            "go on. Leave the call out by taeda.compiler.disable, or let the operator take and return "
            "what it changes"
        )


def _has_hooks(tensor: Any) -> bool:
    return isinstance(tensor, Tensor) and tensor._hooks is not None


class _More:
    """The results that want gradients, of the program itself."""

    def __init__(self, trace: Trace, again: Any, casts: list[tuple[Tensor, Any, Tensor]]) -> None:
        self._trace, self._again, self._casts = trace, again, casts

    def holds(self) -> bool:
        return bool(self._again.holds())

    def __call__(self) -> list[Tensor]:
        return self._trace._grown_of(functools.partial(self._again, self._casts))
