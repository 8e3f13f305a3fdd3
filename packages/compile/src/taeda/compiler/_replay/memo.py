"""What kernels of operators that were defined at run time did in the program, for a graph that is proved.

Nobody knows whether such a kernel counts, prints, draws or writes to what the program reads, so one
call of the program is to call it once, in its place. In a call that proves a graph the program runs
first, as ever; the graph runs on copies from before, and is given what came of the same calls:

    same operator, arguments equal in every bit    the results, the writes, the error of the program's call
    anything else                                  no kernel runs, and the graph is none of the program
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs as _core
from taeda._core_api.runtime import Switches

from .._arguments import tensors_in
from .._graph.bits import contents, same
from .._graph.recorder import mutated_places, read_by
from .._signals import let_through
from .rehearsal import twin

__all__ = ["Memo", "Unlike", "given", "is_kept", "taken"]

Run = Callable[[], Any]


class _Here(threading.local):
    offered: Memo | None = None  # of the proof that runs in this thread
    giving: Memo | None = None  # while the program of a graph runs on copies
    keeping: Memo | None = None  # while the program itself runs


_here = _Here()


class Unlike(Exception):
    """A graph calls an operator that was defined at run time in another way than its program."""

    def __init__(self) -> None:
        super().__init__("its graph calls operators that were defined at run time in another way")


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
    memo = _here.giving
    return run() if memo is None else memo.give(op, args()).results


def is_kept() -> bool:
    """Whether this thread runs a program, the calls of which are kept for its graph."""
    return _here.keeping is not None


@contextmanager
def given(*, traced: bool = False) -> Iterator[None]:
    """A graph that runs here on copies is given what its program's calls gave, if a proof is at work
    that keeps them: the program runs first. `traced`: the calls come from code that calls operators
    one by one.
    """
    memo = _here.offered
    if memo is None:
        yield
        return
    _here.offered = None
    try:
        memo.keep()
        if traced:
            with _entered(_Giver(memo)):
                yield
        else:
            _here.giving = memo
            yield
        memo.end()
    finally:
        _here.giving, _here.offered = None, memo


@contextmanager
def _entered(tracer: Any) -> Iterator[None]:
    with Switches(show=_core.TRACE):  # in a kernel, too, which hides what it calls
        _core.tracers.push(tracer)
        try:
            yield
        finally:
            _core.tracers.remove(tracer)


class Memo:
    """The calls of one run of a program, in order.

    Args:
        program: the call
        generators: those that its graph draws from
    """

    def __init__(self, program: Run, generators: Iterable[Any]) -> None:
        self._program = program
        self._before = [(g, g.get_state()) for g in generators]
        self._after: list[tuple[Any, Tensor]] = []
        self._calls: list[_Call] = []
        self._at = 0
        self.ran = False
        self.result: Any = None
        self.raised: Exception | None = None

    @contextmanager
    def offered(self) -> Iterator[None]:
        """A graph that is rehearsed here lets the program run as soon as there are copies."""
        before, _here.offered = _here.offered, self
        try:
            yield
        finally:
            _here.offered = before
            for generator, state in self._after:
                generator.set_state(state)

    def keep(self) -> None:
        """Let the program run, and rewind the generators for its graph."""
        self.ran = True
        before, _here.keeping = _here.keeping, self
        try:
            with _entered(_Keeper(self)):
                self.result = self._program()
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - the graph is to raise as well
            let_through(error)
            self.raised = error
        finally:
            _here.keeping = before
        self._after = [(g, g.get_state()) for g, _ in self._before]
        for generator, state in self._before:
            generator.set_state(state)

    def end(self) -> None:
        """All of the calls were made."""
        if self._at != len(self._calls):
            raise Unlike

    def take(self, op: str, args: tuple[Any, ...], run: Run) -> Any:
        """Make a call of the program, and keep what came of it."""
        keeping, _here.keeping = _here.keeping, None  # what the kernel calls is its own affair
        places, read = mutated_places(op), read_by(op, args)
        before, others = contents(args), contents(read)
        states = [(g, g.get_state()) for g in _generators(args)]
        made, raised = None, None
        try:
            made = run()
        except Exception as error:
            raised = error
            raise
        finally:
            _here.keeping = keeping
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

    def give(self, op: str, args: tuple[Any, ...]) -> _Call:
        """The same call of the program; its writes and its error are made here again."""
        call = self._calls[self._at] if self._at < len(self._calls) else None
        if call is None or call.op != op or call.strays or not same(call.before, contents(args)):
            raise Unlike
        self._at += 1
        for generator, before, after in call.drawn:
            if not before.equal(after) and generator.get_state().equal(before):
                generator.set_state(after)
        for k, content in call.written:
            _write(args[k], content)
        if call.raised is not None:
            raise call.raised
        return call


class _Keeper:
    """The tracer of the program."""

    def __init__(self, memo: Memo) -> None:
        self._memo = memo

    def call(self, op: str, args: tuple[Any, ...], run: Run) -> Any:
        """One kernel call."""
        return self._memo.take(op, args, run) if "::" in op else run()


class _Giver:
    """The tracer of its graph."""

    def __init__(self, memo: Memo) -> None:
        self._memo = memo

    def call(self, op: str, args: tuple[Any, ...], run: Run) -> Any:
        """One kernel call."""
        return _as_made(op, args, self._memo.give(op, args).results) if "::" in op else run()


def _generators(args: tuple[Any, ...]) -> list[Any]:
    """Those that a kernel may draw from: what it is given, and the default ones of its devices."""
    devices = {t.device.index for t in tensors_in(args) if t.is_cuda}
    found = [taeda.default_generator, *(a for a in args if isinstance(a, taeda.Generator))]
    found += [taeda.cuda.default_generators[index] for index in devices]
    return list({id(g): g for g in found}.values())


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
