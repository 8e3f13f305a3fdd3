"""Running a function on the side: it computes, and nothing of what it does lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs as _core
from taeda.autograd.batching import levels

from .._arguments import tensors_in
from .._errors import Refused

__all__ = ["Speculation", "alone", "speculating", "without_maps"]

_MUTATES = _core.row_flags["MUTATES"]
_flags = {text: flags for text, _, _, _, _, flags in _core.op_rows()}


@contextmanager
def alone(*tracers: Any) -> Iterator[None]:
    """Only these tracers are at work, the last one innermost."""
    before = [_core.tracers.pop() for _ in range(len(_core.tracers.entered))]
    for tracer in tracers:
        _core.tracers.push(tracer)
    try:
        yield
    finally:
        for tracer in tracers:
            _core.tracers.remove(tracer)
        for tracer in reversed(before):
            _core.tracers.push(tracer)


@contextmanager
def without_maps() -> Iterator[None]:
    """No vmap is at work: tensors are those of all samples here."""
    around = levels()
    before = list(around)
    around.clear()
    try:
        yield
    finally:
        around[:] = before


@contextmanager
def speculating() -> Iterator[Speculation]:
    """What runs here writes to no tensor that was there before, reads no value, and leaves
    generators as they were."""
    found = Speculation()
    try:
        with alone(found):
            yield found
        if found.reason:
            raise Refused(found.reason)
    finally:
        for generator, state in found.states.values():
            generator.set_state(state)


class Speculation:
    """A tracer that refuses what would last, before it happens."""

    def __init__(self) -> None:
        self.states: dict[int, tuple[Any, Tensor]] = {}  # of generators that were drawn from
        self.reason = ""
        self._own: set[int] = set()  # memory that was made here
        self._kept: list[Tensor] = []

    @property
    def draws(self) -> bool:
        """Whether random numbers were drawn."""
        return bool(self.states)

    def owns(self, key: int) -> bool:
        """Whether memory was made here."""
        return key in self._own

    def call(self, op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        """For a tracer that sits outside of this one."""
        return self.call_into(op, args, run, None)

    def call_into(
        self, op: str, args: tuple[Any, ...], run: Callable[[], Any], targets: Any
    ) -> Any:
        """One kernel call, of which the tracers around hear nothing."""
        if op not in _flags:
            raise Refused(f"{op} was defined at run time")
        given = list(tensors_in(args))
        if self.reason:
            raise Refused(self.reason)
        written = targets or (_mutated(op, args) if _flags[op] & _MUTATES else ())
        if any(_core.storage_key(t) not in self._own for t in written):
            raise Refused(f"{op} writes to a tensor that was there before: change a clone of it")
        for value in args:
            if isinstance(value, taeda.Generator) and id(value) not in self.states:
                self.states[id(value)] = (value, value.get_state())
        made = _core.call_backend(op, args)
        shared = {_core.storage_key(t) for t in given}
        for tensor in tensors_in(made):
            if _core.storage_key(tensor) not in shared:
                self.note_made(tensor)
        return made

    def note_made(self, tensor: Tensor) -> None:
        """A tensor was made here."""
        self._own.add(_core.storage_key(tensor))
        self._kept.append(tensor)  # nobody else gets its memory

    def note_untraced(self, what: str) -> None:
        """Something that is no operation touched a tensor."""
        self.reason = self.reason or what  # core takes no error from here

    # ---- such calls inside ----

    def branches(self, pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> Any:
        """Both branches, as either may run later."""
        made = true_fn(*operands)
        false_fn(*operands)
        return made

    def loop(self, cond_fn: Any, body_fn: Any, carried: Any) -> Any:
        """One step, whether or not there will be one; None if the loop goes by numbers of
        Python."""
        return tuple(body_fn(*carried)) if isinstance(cond_fn(*carried), Tensor) else None


def _mutated(op: str, args: tuple[Any, ...]) -> list[Tensor]:
    """What a row writes by itself."""
    arguments = _core.schema_of(op).arguments
    pairs = zip(arguments, args, strict=True)
    return [t for argument, value in pairs if argument.mutated for t in tensors_in(value)]
