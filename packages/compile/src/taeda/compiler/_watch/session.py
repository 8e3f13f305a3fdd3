"""The state of one recorded run, and how a recording ends."""

from __future__ import annotations

import dis
import functools
import gc
import sys
import types
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from taeda._core_api import warn
from taeda._core_api.runtime import living_objects

from .._errors import PASSING, Refused, Stop
from .._graph.recorder import Recorder
from .._kinds import is_known_code
from .._signals import from_handler, is_handler
from . import collector
from .custom import ProgramRecorder
from .guards import Guards, tensors_are_plain

__all__ = ["Run"]


def _is_ours(module: str) -> bool:
    return module == "taeda" or module.startswith("taeda.")


_KERNELS = ("taeda.cuda._programs", "program")  # by name: no device is asked for here
_WARNS = warn.__code__  # the library's; a program's own warnings are code that nobody sees


def _addresses() -> set[int]:
    """Where objects of the youngest generation lie. In one call of C throughout: no other thread
    meets a reference to a tuple that it is making, which it could not fill then.
    """
    return set(map(id, chain.from_iterable(map(gc.get_objects, (0,)))))


class Run(ABC):
    """One recorded run: its guards, its graph so far, and whether it goes on."""

    def __init__(self, *, strict: bool) -> None:
        self.guards = Guards()
        self.reason = ""
        self.where = ""
        self.entered: Any = None  # code that calls the outermost function
        self.outer: tuple[Any, int] = (None, 0)  # code of the outermost function, its line
        self.active = True
        self.strict = strict
        self.recorder: Recorder = ProgramRecorder(self)
        self.recorder.line = self._line
        self.recorder.is_caught = self._is_caught
        self.recorder.strictly = self._strictly
        self.touches_gradients = False  # whether .grad of anything may be read or written
        self.walks_back = False  # whether it called backward
        self.grown: list[Any] = []  # results that take part in a graph for backward
        self.joints: Any = None  # how they were differentiated, one group after another
        self.chained = True  # results that are computed from each other have nodes of their own
        self.consumed: set[int] = set()  # nodes that a backward went through
        # containers among the arguments, whose contents the key of the call says
        self.given: dict[int, Any] = {}
        self.called: list[tuple[int, Any]] = []  # modules, and in how many others each was called
        self._depth = 0
        self._old: dict[int, Any] = {}
        self.unseen: set[int] = set()  # old objects that came by a way which nobody saw
        self._new: set[int] = set()
        # what the run had made when a function began that runs again in backward
        self.around: frozenset[int] = frozenset()
        self._over = False
        self._young: frozenset[int] = frozenset()  # their addresses
        self._tuples: set[int] = set()  # addresses of tuples that were there before the run
        self._around: list[Any] = []  # young objects that were there before the run
        self._codes: set[types.CodeType] = set()
        self._known: dict[int, tuple[types.CodeType, Any]] = {}  # may run; with their globals
        self._catching: dict[str, set[tuple[int, int]]] = {}  # lines of files: see `catching_lines`
        self._copies: dict[types.FunctionType, types.FunctionType] = {}
        self._trees: set[int] = set()
        self._walked: set[int] = set()
        self._walking: set[int] = set()
        self._walking_all: set[int] = set()
        self._classes: set[type] = set()
        self._numbers: dict[int, Any] = {}  # that each call gives anew: where from, and the float
        self._scalars: dict[Any, Any] = {}  # as tensors
        self.read_places: set[Any] = set()  # of arguments that do more than be computed with
        self.rates: list[tuple[dict[str, Any], int]] = []
        self.slice = slice

    # ---- what the run makes ----

    def behind_kernel(self) -> None:
        """A kernel of somebody else ran: what is read from here on counts as read anew."""
        self.guards.behind_kernel()
        self._trees.clear()
        self._walked.clear()
        self._classes.clear()

    def begin(self) -> None:
        """The run begins. The collector is off, so what it makes stays in the youngest generation,
        where nothing else is but what is there now. Tuples are not held, as another thread may be
        making them: a tuple that lies where one was counts as old.
        """
        self._around, tuples = living_objects(gc.get_objects, 0)
        self._young, self._tuples = frozenset(map(id, self._around)), set(tuples)
        self.guards.tensors()
        if not tensors_are_plain():
            self.stop("somebody replaced an operator of tensors", quiet=True)

    def end(self) -> None:
        """The run is over, and the collector is still off: what is new by now stays known as such."""
        self.is_new([])  # asks for all of them
        self._over = True

    def fresh(self, value: Any) -> Any:
        """The value, which the run has just made."""
        self._new.add(id(value))
        self._tuples.discard(id(value))
        return value

    def is_new(self, value: Any) -> bool:
        """Whether the run made it, as far as that can be proved. An object that lives from before
        the run on keeps its address, so addresses that were new once never mean an old one.
        """
        if type(value) is tuple and id(value) in self._tuples:
            return False
        if id(value) in self._new:
            return True
        if gc.is_tracked(value) and not self._over:
            self._new.update(_addresses() - self._young)
        return id(value) in self._new

    @contextmanager
    def again(self) -> Iterator[None]:
        """What runs here runs once more in backward, which is to find all as it is now."""
        with self.aside():
            stores = any(map(_stores_around, self._codes))
        if stores:
            self.stop("a checkpoint may change variables of the function around it")
        self.is_new([])  # asks for all of them
        before, self.around = self.around, frozenset(self._new)
        try:
            yield
        finally:
            self.around = before

    # ---- the end of a recording ----

    def stop(self, reason: str, *, passing: bool = False, quiet: bool = False) -> None:
        """There will be no graph, because of this; `quiet` where an exception has no way to the program."""
        if not self.active:
            return
        self.active = self.recorder.active = False
        collector.release(id(self))
        self.reason, self.where = (PASSING if passing else "") + reason, self._line()
        self.outer = self._outermost()
        if self.strict and not passing and not quiet:
            raise Stop(
                f"fullgraph=True, but there is no graph of all: {reason}{self.where and f' ({self.where})'}"
            )

    @contextmanager
    def _strictly(self) -> Iterator[None]:
        """What runs here runs on the side: it ends before it does what no graph does."""
        before, self.strict = self.strict, True
        try:
            yield
        except Stop as why:
            if before:
                raise
            raise Refused(str(why)) from why
        finally:
            self.strict = before

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What runs here is not of the program: nobody sees it."""
        sys.setprofile(None)
        self.recorder.active = False
        try:
            yield
        finally:
            self.recorder.active = self.active
            sys.setprofile(self.profile)

    @contextmanager
    def as_it_is(self) -> Iterator[None]:
        """What runs here is of the program, and nobody sees how it is done."""
        with self.aside():
            yield

    def caught(self) -> None:
        """The program handles an error: after an interrupt nobody knows what was recorded."""
        error = sys.exc_info()[1]
        sys.setprofile(None)  # what looks for handlers is no code of the program
        if error is not None and (not isinstance(error, Exception) or from_handler(error)):
            self.stop("it goes on after an interrupt", passing=True)
        if self.active:
            sys.setprofile(self.profile)

    def forget(self) -> None:
        """Let go of what the run saw. Copies of functions know their run, and it knows them:
        tensors would wait for the next collection of cycles.
        """
        self.active = False
        self.recorder = Recorder(_nobody)
        self.recorder.active = False
        self.given, self._old, self.called = {}, {}, []
        self.grown, self.joints = [], None
        self._around = []
        self._numbers, self._scalars = {}, {}
        self.guards, self.rates = Guards(), []

    def _line(self) -> str:
        """The innermost line of the user's that runs; the library's, if all code is its own."""
        found, frame = "", sys._getframe(1)
        while frame is not None:
            if frame.f_code in self._codes:
                if not _is_ours(frame.f_globals.get("__name__", "")):
                    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
                found = found or f"{frame.f_code.co_filename}:{frame.f_lineno}"
            frame = frame.f_back  # type: ignore[assignment]  # None ends it
        return found

    def _outermost(self) -> tuple[Any, int]:
        """The outermost copy that runs, and its line."""
        found: tuple[Any, int] = (None, 0)
        frame: Any = sys._getframe(1)
        while frame is not None:
            if frame.f_code in self._codes:
                found = frame.f_code, frame.f_lineno
            frame = frame.f_back
        return found

    def _is_caught(self) -> bool:
        """Whether an error from here comes to code of the program that may go on."""
        frame: Any = sys._getframe(1)
        while frame is not None:
            if frame.f_code in self._codes:
                ranges = self._catching.get(frame.f_code.co_filename, ())
                for first, last in ranges:  # no generator, whose end may lose an interrupt
                    if first <= frame.f_lineno <= last:
                        return True
            frame = frame.f_back
        return False

    def profile(self, frame: Any, event: str, argument: Any) -> None:
        """Hook of sys.setprofile: code that runs although nobody observes it."""
        if event != "call" or not self.active:
            return
        code, space = frame.f_code, frame.f_globals
        known = self._known.get(id(code))  # codes are slow to hash
        if known is not None and known[1] is space:
            return
        if code in self._codes:
            self._known[id(code)] = code, space
            return
        if code is _WARNS:
            self.stop("it warns, and what comes of that is up to each call", passing=True)
            return
        module = space.get("__name__", "")
        if is_known_code(code, module):
            self._known[id(code)] = code, space
        elif not _makes_a_kernel(frame):
            reason = f"{module}.{code.co_qualname} runs, and what it reads is not seen"
            self.stop(reason, passing=_is_import(frame) or _is_by_chance(code))

    @abstractmethod
    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """function(*args, **kwargs)"""


@functools.lru_cache(maxsize=1024)
def _stores_around(code: types.CodeType) -> bool:
    """Whether it stores to a variable of a function around it."""
    return any(
        step.opname in ("STORE_DEREF", "DELETE_DEREF") and step.argval in code.co_freevars
        for step in dis.get_instructions(code)
    )


def _nobody(reason: str) -> None:
    """Nobody asks for the reason."""


def _is_by_chance(code: types.CodeType) -> bool:
    """Whether Python calls it when it likes: a signal's handler, or the end of an object."""
    return code.co_name == "__del__" or is_handler(code)


def _makes_a_kernel(frame: Any) -> bool:
    """Whether it looks up or compiles a kernel of a device, at its first launch: no program can tell."""
    while frame is not None:
        if (frame.f_globals.get("__name__"), frame.f_code.co_name) == _KERNELS:
            return True
        frame = frame.f_back
    return False


def _is_import(frame: Any) -> bool:
    """Whether the code runs because a module is loaded, which happens once."""
    while frame is not None:
        if (
            frame.f_code.co_name == "<module>"
            and frame.f_back is not None
            and "importlib" in frame.f_back.f_code.co_filename
        ):
            return True
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            return True
        frame = frame.f_back
    return False
