"""What kernels of operators that were defined at run time did in a rehearsal, for the program's own run.

Nobody knows whether such a kernel counts, prints or draws, so one call of the program is to call it
once. A rehearsal calls it, on copies of what it writes; the program that runs after it is given what
came of the same call:

    same operator, arguments equal in every bit    the results, the writes, the error of the rehearsal
    anything else                                  the kernel runs, and the graph is none of the program
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs as _core

from .._arguments import tensors_in
from .._graph.bits import contents, same
from .._graph.recorder import mutated_places
from .._graph.shown import shown
from .rehearsal import twin

__all__ = ["Memo", "is_replayed", "taken", "taking"]

Run = Callable[[], Any]


class _Here(threading.local):
    offered: Memo | None = None  # of the proof that runs in this thread
    taking: Memo | None = None  # while the program of a graph runs on copies
    giving: Memo | None = None  # while the program itself runs


_here = _Here()


@dataclass
class _Call:
    op: str
    before: Any  # contents of the arguments
    written: list[tuple[int, Any]]  # arguments that it wrote, and what they are afterwards
    strays: bool  # it wrote to others as well
    results: list[Any]  # None: an argument that it wrote
    drawn: list[tuple[Any, Tensor, Tensor]]  # generators, with their states before and after
    raised: Exception | None


def taken(op: str, args: Callable[[], tuple[Any, ...]], run: Run) -> Any:
    """The results of a call in the program of a graph, one after the other."""
    memo = _here.taking
    if memo is None:
        return run()
    _here.taking = None  # what the kernel calls is its own affair
    try:
        return memo.take(op, args(), run)
    finally:
        _here.taking = memo


def is_replayed() -> bool:
    """Whether this thread runs a program that is given results of a rehearsal."""
    return _here.giving is not None


@contextmanager
def taking(*, traced: bool = False) -> Iterator[None]:
    """Calls that are made here are kept for the proof that is at work, if one is. `traced`: they
    come from code that calls operators one by one.
    """
    memo = _here.offered
    if memo is None:
        yield
        return
    if traced:
        with _entered(_Taker(memo)):
            yield
        return
    _here.taking, _here.offered = memo, None
    try:
        yield
    finally:
        _here.taking, _here.offered = None, memo


@contextmanager
def _entered(tracer: Any) -> Iterator[None]:
    with shown():
        _core.tracers.push(tracer)
        try:
            yield
        finally:
            _core.tracers.remove(tracer)


class Memo:
    """The calls of one rehearsal, in order."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._at = 0
        self._differs = False

    @contextmanager
    def offered(self) -> Iterator[None]:
        """A rehearsal that runs here keeps its calls."""
        before, _here.offered = _here.offered, self
        try:
            yield
        finally:
            _here.offered = before

    @contextmanager
    def given(self) -> Iterator[None]:
        """The program that runs here is given what they did."""
        before, _here.giving = _here.giving, self
        try:
            with _entered(_Giver(self)):
                yield
        finally:
            _here.giving = before

    @property
    def reason(self) -> str:
        """Why the program is not that of the graph; "" if all calls were the same."""
        if self._differs or self._at != len(self._calls):
            return "its graph calls operators that were defined at run time in another way"
        return ""

    def take(self, op: str, args: tuple[Any, ...], run: Run) -> Any:
        """Make a call, and keep what came of it."""
        places = mutated_places(op)
        read = _read(args, places)
        before, others = contents(args), contents(read)
        states = [(g, g.get_state()) for g in _generators(args)]
        made, raised = None, None
        try:
            made = run()
        except Exception as error:
            raised = error
            raise
        finally:
            self._calls.append(
                _Call(
                    op,
                    before,
                    [(k, contents(args[k])) for k in places],
                    not same(others, contents(read)),
                    [] if raised is not None else _kept(op, made),
                    [(g, state, g.get_state()) for g, state in states],
                    raised,
                )
            )
        return made

    def give(self, op: str, args: tuple[Any, ...], run: Run) -> Any:
        """What the same call gave before; another one is made."""
        call = self._calls[self._at] if self._at < len(self._calls) else None
        alike = call is not None and call.op == op and same(call.before, contents(args))
        if self._differs or call is None or not alike or call.strays:
            self._differs = True
            return run()
        self._at += 1
        for generator, before, after in call.drawn:
            if not before.equal(after) and generator.get_state().equal(before):
                generator.set_state(after)
        for k, content in call.written:
            _write(args[k], content)
        if call.raised is not None:
            raise call.raised
        return _as_made(op, args, call.results)


class _Taker:
    """The tracer of a rehearsal."""

    def __init__(self, memo: Memo) -> None:
        self._memo = memo

    def call(self, op: str, args: tuple[Any, ...], run: Run) -> Any:
        """One kernel call."""
        return self._memo.take(op, args, run) if "::" in op else run()


class _Giver:
    """The tracer of the program."""

    def __init__(self, memo: Memo) -> None:
        self._memo = memo

    def call(self, op: str, args: tuple[Any, ...], run: Run) -> Any:
        """One kernel call."""
        return self._memo.give(op, args, run) if "::" in op else run()


def _generators(args: tuple[Any, ...]) -> list[Any]:
    """Those that a kernel may draw from: what it is given, and the default ones of its devices."""
    devices = {t.device.index for t in tensors_in(args) if t.is_cuda}
    found = [taeda.default_generator, *(a for a in args if isinstance(a, taeda.Generator))]
    found += [taeda.cuda.default_generators[index] for index in devices]
    return list({id(g): g for g in found}.values())


def _read(args: tuple[Any, ...], places: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(a for k, a in enumerate(args) if k not in places)


def _kept(op: str, made: Any) -> list[Any]:
    """Copies of results. What a C++ derivative recorded is named by a number, which is a tensor that
    ends the record when it goes: that one is kept itself.
    """
    records = _core.is_defined(f"{op}__record")
    results = list(made) if isinstance(made, tuple | list) else [made]
    return [
        (r if records and r.dtype == taeda.int64 else twin(r)) if isinstance(r, Tensor) else None
        for r in results
    ]


def _write(target: Any, content: Any) -> None:
    if isinstance(target, Tensor):
        if not target.is_meta:
            target.detach().copy_(content[1])
    elif isinstance(target, tuple | list):
        for one, entry in zip(target, content, strict=True):
            _write(one, entry)


def _as_made(op: str, args: tuple[Any, ...], results: list[Any]) -> Any:
    """The results as a kernel would have given them."""
    schema = _core.schema_of(op)
    if len(schema.returns) == 1 and schema.returns[0].is_list:
        return tuple(results)
    places = {a.alias: k for k, a in enumerate(schema.arguments) if a.alias}
    made = [
        args[places[said.alias]] if said.mutated else result
        for said, result in zip(schema.returns, results, strict=False)
    ]
    return None if not made else made[0] if len(made) == 1 else tuple(made)
