"""Backends: their names, and functions of users as such.

A function as backend is called as `backend(graph_module, example_inputs)`, once for each graph, and
returns what runs in its place.

    first call    the program runs and is recorded; its graph is compared with it; the backend compiles
    second call   the graph is compared with the program once more, on other data
    third on      what the backend returned, alone

The comparison is between the program and its graph. What the backend makes of the graph is the
backend's affair: the first and the second call return its result as well, unless the program writes
to its inputs, draws numbers or leaves gradients behind, so that both cannot run in one call. Then
those two calls return the program's own.

Where an operation raises, what was changed before it is what the program changes before it: all of
the call is undone, and the program runs. What the backend raises by itself comes out of the call.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable
from typing import Any

from taeda import Tensor, nn

from .._arguments import tensors_in
from .._call.alike import same, walks_alike
from .._call.compiled import Compiled
from .._call.lookup import limits, log
from .._errors import NotLowered, NoTrace, Stop
from .._graph.lower import Lowered, lowered
from .._graph.steps import Graph
from .._replay.trace import Trace, missed
from .._replay.undo import Undo
from .._signals import let_through

__all__ = ["BackendCompilerFailed", "Delegated", "InvalidBackend", "list_backends", "lookup",
    "register_backend"]  # fmt: skip

BUILT_IN = ("taeda", "inductor", "eager", "aot_eager")
_registered: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {}


class InvalidBackend(RuntimeError):
    """No backend has this name."""


class BackendCompilerFailed(RuntimeError):
    """A function as backend raised, or returned nothing that can be called; `inner_exception` is
    what it raised.
    """

    def __init__(self, backend_name: str, inner_exception: BaseException) -> None:
        self.backend_name, self.inner_exception = backend_name, inner_exception
        kind = type(inner_exception).__name__
        super().__init__(f"backend={backend_name!r} raised:\n{kind}: {inner_exception}")

    def __reduce__(self) -> Any:
        return type(self), (self.backend_name, self.inner_exception)


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """The names that `compile` takes as backend, without those registered under one of these tags.

    Args:
        exclude_tags: tags, as a sequence of strings; None leaves out nothing.

    >>> "inductor" in taeda.compiler.list_backends()
    True
    """
    hidden = set(exclude_tags or ())
    return [*BUILT_IN, *(n for n, (_, tags) in _registered.items() if not hidden & set(tags))]


def register_backend(
    compiler_fn: Callable[..., Any] | None = None, name: str | None = None, tags: Any = ()
) -> Any:
    """Let `compile(backend=name)` mean this function; without it a decorator.
    The name is that of the function if none is given.

    ValueError for a name that another function has, or that is built in.

    Args:
        compiler_fn: a function of a graph module and its example inputs (None).
        name: what `compile(backend=)` calls it (None: the name of the function).
        tags: strings by which `list_backends` may leave it out (()).

    >>> import taeda
    >>> def counting(gm, example_inputs):
    ...     return gm.forward
    >>> register_backend(counting) is counting
    True
    >>> taeda.compile(lambda x: x + 1, backend="counting")(taeda.zeros(1))
    tensor([1.])
    """
    if compiler_fn is None:
        return functools.partial(register_backend, name=name, tags=tags)
    if not callable(compiler_fn):
        raise TypeError(f"register_backend: wanted a function, got {type(compiler_fn).__name__}")
    chosen = name or getattr(compiler_fn, "__name__", "")
    if not chosen:
        raise ValueError("register_backend: this object has no __name__, so pass name=")
    known = _registered.get(chosen)
    if chosen in BUILT_IN or (known is not None and known[0] is not compiler_fn):
        raise ValueError(f"register_backend: there is a backend {chosen!r} already")
    _registered[chosen] = (compiler_fn, tuple(tags))
    return compiler_fn


def lookup(backend: Any) -> Any:
    """The function behind a backend, or the name of a built-in one. InvalidBackend if there is none."""
    if callable(backend):
        return backend
    if backend in BUILT_IN:
        return backend
    if isinstance(backend, str) and backend in _registered:
        return _registered[backend][0]
    raise InvalidBackend(
        f"Invalid backend: {backend!r}, see `taeda.compiler.list_backends()` for available "
        f"backends: {', '.join(list_backends(()))}"
    )


class Delegated(Compiled):
    """A function whose graphs a backend of the user runs."""

    gives_numbers = False  # its inputs are the tensors of the program
    chained = False  # autograd goes through what the backend returned

    def __init__(
        self, function: Any, backend: Callable[..., Any], *, fullgraph: bool, passed: dict[str, Any]
    ) -> None:
        super().__init__(function, fullgraph=fullgraph, chooses=False)
        self.backend, self.passed = backend, passed

    # ---- the graph ----

    def _traced(self, observer: Any, result: Any, args: Any, kwargs: Any) -> Trace:
        names = _tensor_names(self.function, args, kwargs, observer)
        lower = functools.partial(_lowered_or_not, names=names)
        made = Trace(observer, result, args, kwargs, fuse=False, lower=lower)
        if any(step.caught for step in made.plan.steps):
            raise NoTrace("it may catch the error of an operation, which a backend cannot know")
        if made.plan.calls_custom and made.plan.assigns and made.plan.risked is not None:
            raise NoTrace(
                "an operation may raise behind an operator that was defined at run time, which is not "
                "called again, and a backend's function assigns gradients at its end"
            )
        return made

    def _accept(self, trace: Trace, key: Any, tensors: list[Tensor], result: Any) -> Any:
        made: Lowered = trace.plan.lowered
        again = _runs_twice(trace)
        try:
            if again and not self._agrees(trace, key, tensors, trace.inputs(tensors), result):
                return result
            trace.call = self._by_backend(made)
        except BackendCompilerFailed as error:
            if not limits.suppress_errors:
                raise
            self._distrust(trace, key, str(error))
            log.warning("%s stays eager: %s", self.name, error)
            return result
        return self._by_call(trace, tensors) if again else result

    def _abandon(self, trace: Trace, key: Any) -> None:
        if trace.call is None:
            self._drop(trace, key)

    def _by_backend(self, made: Lowered) -> Callable[..., Any]:
        name = getattr(self.backend, "__name__", type(self.backend).__name__)
        if not any(node.op.startswith("call") for node in made.module.graph.nodes):
            return made.module  # nothing to compile
        inputs, made.examples = made.examples, []
        try:
            # the second call is compared with the graph as it is
            given = copy.deepcopy(made.module)
            found = self.backend(given, inputs, **self.passed)
            if not callable(found):
                raise TypeError(
                    f"a backend returns a function of the inputs, got {type(found).__name__}"
                )
        except MemoryError:
            raise
        except Exception as error:
            let_through(error)
            raise BackendCompilerFailed(name, error) from error
        return found

    # ---- calls ----

    def _by_call(self, trace: Trace, tensors: list[Tensor]) -> Any:
        """The result of what the backend returned."""
        inputs = trace.inputs(tensors)
        if inputs is None or not trace.fits(inputs):
            return missed
        given = [inputs[n] for n in trace.plan.lowered.inputs]
        made = trace.call(*given)
        trace.check_behind()
        if not isinstance(made, tuple | list) or len(made) != trace.count:
            found = f"{len(made)}" if isinstance(made, tuple | list) else type(made).__name__
            raise RuntimeError(
                f"the function that the backend returned gives a tuple of {trace.count} results, "
                f"as the graph does; got {found}"
            )
        return trace.finish(inputs, tuple(made))

    def _by_call_or_program(self, trace: Trace, tensors: Any, args: Any, kwargs: Any) -> Any:
        """The same; where the graph itself raises, the program says what comes of it."""
        undo = trace.undo(tensors)
        if undo is None:
            return self._by_call(trace, tensors)
        try:
            return self._by_call(trace, tensors)
        except MemoryError:
            raise
        except Exception as error:
            let_through(error)
            undo.put_back()
            if not self._raises(trace, tensors, undo):
                raise
        return self.function(*args, **kwargs)

    def _raises(self, trace: Trace, tensors: list[Tensor], undo: Undo) -> bool:
        """Whether the graph, run on copies, raises as well."""
        try:
            self._rehearse(trace, tensors)
        except Exception as error:  # noqa: BLE001 - whatever it is, the program has it too
            let_through(error)
            return True
        finally:
            undo.put_back()  # it draws as the program does
        return False

    def _run(self, trace: Trace, key: Any, tensors: Any, args: Any, kwargs: Any) -> Any:
        if trace.call is None:
            return missed  # the backend is at work, in another thread
        if trace.trusted:
            return self._by_call_or_program(trace, tensors, args, kwargs)
        if not _runs_twice(trace):
            return self._prove(trace, key, tensors, args, kwargs)
        inputs = trace.inputs(tensors)
        if inputs is None or not trace.fits(inputs):
            return missed
        result = self.function(*args, **kwargs)
        if not self._agrees(trace, key, tensors, inputs, result):
            return result
        trace.trusted = True
        return self._by_call(trace, tensors)

    def _agrees(
        self, trace: Trace, key: Any, tensors: list[Tensor], inputs: Any, result: Any
    ) -> bool:
        """Whether the graph, run under autograd, gives what the program gave; else it is not used."""
        try:
            found = self._rehearse(trace, tensors)
        except Exception as error:  # noqa: BLE001 - whatever it is: the graph is not the program
            let_through(error)
            self._distrust(trace, key, f"its graph cannot run by itself: {error}")
        else:
            if found is not missed and (
                same(found[0], result)
                and inputs is not None
                and (found[3] is None or walks_alike(trace, inputs, result, found[3]))
            ):
                return True
            self._distrust(trace, key, "its graph gives other results or gradients than it")
        if self.fullgraph:
            raise Stop(f"fullgraph=True, but there is no graph of all: {self.reasons[-1]}")
        return False

    def _rehearse(self, trace: Trace, tensors: list[Tensor]) -> Any:
        return trace.rehearse_by(trace.plan.lowered, tensors)

    def _drop(self, trace: Trace, key: Any) -> None:
        with self._lock:
            known = self.traces.get(key, [])
            self.traces[key] = [t for t in known if t is not trace]
            self._count -= len(known) - len(self.traces[key])


def _runs_twice(trace: Trace) -> bool:
    """Whether the program and its graph can both run in one call."""
    return bool(trace.plan.repeats) and not trace.leaves_gradients


def _lowered_or_not(graph: Graph, outputs: list[int], *, names: dict[int, str]) -> Lowered:
    try:
        return lowered(graph, outputs, names)
    except NotLowered as why:
        raise NoTrace(str(why)) from None


# ---- names of inputs ----


def _tensor_names(function: Any, args: Any, kwargs: Any, observer: Any) -> dict[int, str]:
    """Names of tensors by id: arguments by parameter, those of modules by their place."""
    found: dict[int, str] = {}
    for name, value in [*zip(_parameters(function, len(args)), args, strict=True), *kwargs.items()]:
        tensors = list(tensors_in(value))
        for number, tensor in enumerate(tensors):
            alone = isinstance(value, Tensor)
            found.setdefault(id(tensor), name if alone else f"{name}_{number}")
    for module in list(observer.guards.modules.values()):
        members = [*module.named_parameters(), *module.named_buffers()]
        for name, tensor in members:
            found.setdefault(id(tensor), "self_" + name.replace(".", "_"))
    return found


def _parameters(function: Any, count: int) -> list[str]:
    if isinstance(function, nn.Module):
        function = function.forward
    try:
        names = [
            p.name
            for p in inspect.signature(function).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):  # a function in C without a signature
        names = []
    return (names + [f"arg{n}" for n in range(len(names), count)])[:count]
