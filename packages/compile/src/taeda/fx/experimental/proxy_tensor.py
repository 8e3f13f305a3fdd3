"""make_fx: the operators that a call ran, as a graph, through transforms and backward as well.

>>> import taeda
>>> from taeda.func import grad
>>> gm = make_fx(grad(lambda x: x.sin().sum()))(taeda.ones(2))
>>> "aten.cos.default" in [str(n.target) for n in gm.graph.nodes]
True
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from taeda.compiler._graph.capture import Call, Capture, captured, parameters_of
from taeda.fx.graph_module import GraphModule
from taeda.fx.interpreter import Interpreter

from ._distinct import distinct
from ._fakes import FakeCapture, NoValue, fakes_of

__all__ = [
    "get_proxy_mode", "handle_sym_dispatch", "make_fx", "maybe_disable_thunkify",
    "maybe_enable_thunkify",
]  # fmt: skip

_here = threading.local()


def make_fx(
    f: Callable[..., Any],
    decomposition_table: Mapping[Any, Callable[..., Any]] | None = None,
    tracing_mode: str = "real",
) -> Callable[..., GraphModule]:
    """A function that calls `f` with its arguments and returns the operators that ran, as a
    `GraphModule` over `taeda.ops.aten`.

    Tensors among the arguments, at any depth of tuples, lists and dicts, are inputs, and one that is
    given twice is two: `f` gets a copy in its second place. Other tensors
    that `f` reads are attributes of the module: `_param_constant0`, `_tensor_constant0`. Numbers
    stay in the graph as they were. In place of an operator of `decomposition_table`, its function
    is traced. The call really happens, with all that it does.

    With `tracing_mode="fake"` no kernel runs: `f` gets tensors without values in place of its
    arguments, and shapes follow from shapes. The generator, and tensors that `f` writes, stay as
    they were; Python's own effects happen. Memory is reserved for results, but not touched.

    With "symbolic" the sizes of tensors, other than 0 and 1, are symbols, equal ones the same: the
    graph reads them by `sym_size` nodes and runs for others. `f` is called several times, on fakes
    of other sizes too. What it asks about sizes is a guard in `shape_env` of the module; where the
    operators differ at other sizes, or a number has no formula, a size is guarded to be what it is.
    A call of the module with sizes that break a guard is a RuntimeError, which names the guard.

    RuntimeError if `f` reads the value of a tensor, which a graph could not compute again
    (`GuardOnDataDependentSymNode` in "symbolic"), or runs an operator that was defined at run time.
    ValueError for another mode.

    >>> import taeda
    >>> print(make_fx(lambda x, y: (x + y).relu())(taeda.ones(2), taeda.ones(2)).code.strip())
    def forward(self, x, y):
        add = taeda.ops.aten.add.Tensor(x, y);  x = y = None
        relu = taeda.ops.aten.relu.default(add);  add = None
        return relu
    >>> flat = make_fx(lambda x: x.view(x.shape[0] * x.shape[1]), tracing_mode="symbolic")
    >>> flat(taeda.ones(3, 4))(taeda.ones(5, 2)).shape
    taeda.Size([10])
    """
    if tracing_mode not in _MODES:
        raise ValueError(
            f"make_fx: tracing_mode is 'real', 'fake' or 'symbolic', got {tracing_mode!r}"
        )
    table = dict(decomposition_table or {})

    def traced(*args: Any) -> GraphModule:
        args = distinct(args)
        made = _MODES[tracing_mode](f, args, parameters_of(f, len(args)))
        while any(n.op == "call_function" and n.target in table for n in made.graph.nodes):
            names = [str(n.target) for n in made.graph.find_nodes(op="placeholder")]
            made = _MODES[tracing_mode](_Decomposed(made, table).run, args, names)
        return made

    return traced


def get_proxy_mode() -> Any:
    """The trace that `make_fx` makes in this thread right now, or None.

    >>> get_proxy_mode() is None
    True
    >>> seen = []
    >>> gm = make_fx(lambda x: seen.append(get_proxy_mode()) or x + 1)(taeda.ones(2))
    >>> seen[0] is None
    False
    """
    return getattr(_here, "trace", None)


@contextmanager
def maybe_disable_thunkify() -> Iterator[None]:
    """In this block every formula in sizes that the program computes is a node of the graph, used or
    not. Without a trace for any size (`make_fx` with "symbolic") it changes nothing.

    >>> import taeda
    >>> def rows(x):
    ...     unused = x.shape[0] * 2
    ...     return x + 1
    >>> gm = make_fx(maybe_disable_thunkify()(rows), tracing_mode="symbolic")(taeda.ones(3, 4))
    >>> [node.name for node in gm.graph.nodes]
    ['x', 'sym_size_int', 'add', 'mul', 'output']
    """
    with _writing(True):
        yield


@contextmanager
def maybe_enable_thunkify() -> Iterator[None]:
    """In this block formulas in sizes become nodes where the graph uses them, and only there: as
    always, but for blocks of `maybe_disable_thunkify`.

    >>> def rows(x):
    ...     unused = x.shape[0] * 2
    ...     return x + 1
    >>> gm = make_fx(maybe_enable_thunkify()(rows), tracing_mode="symbolic")(taeda.ones(3, 4))
    >>> [node.name for node in gm.graph.nodes]
    ['x', 'add', 'output']
    """
    with _writing(False):
        yield


@contextmanager
def _writing(everything: bool) -> Iterator[None]:
    env = getattr(getattr(get_proxy_mode(), "mode", None), "env", None)
    if env is None:
        yield
        return
    before, env.writes_all = env.writes_all, everything
    try:
        yield
    finally:
        env.writes_all = before


def handle_sym_dispatch(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`func(*args, **kwargs)` for sizes, and what it computes is in the graph of the trace that
    runs. RuntimeError if none does.

    >>> import operator
    >>> def grown(x):
    ...     return x.new_ones(handle_sym_dispatch(operator.mul, (x.shape[0], 2), {}))
    >>> gm = make_fx(grown, tracing_mode="symbolic")(taeda.ones(3))
    >>> gm(taeda.ones(5)).shape
    taeda.Size([10])
    """
    if get_proxy_mode() is None:
        raise RuntimeError("handle_sym_dispatch: make_fx traces nothing in this thread right now")
    with maybe_disable_thunkify():
        return func(*args, **kwargs)


class _Decomposed(Interpreter):
    """Runs functions in place of some operators."""

    def __init__(self, module: GraphModule, table: dict[Any, Callable[..., Any]]) -> None:
        super().__init__(module)
        self.table = table

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        return super().call_function(self.table.get(target, target), args, kwargs)


@contextmanager
def _around(trace: Capture, mode: AbstractContextManager[Any] | None) -> Iterator[None]:
    with _as_trace(trace), mode or nullcontext():
        yield


@contextmanager
def _as_trace(trace: Capture) -> Iterator[None]:
    """`trace` is what `get_proxy_mode` gives."""
    before = get_proxy_mode()
    _here.trace = trace
    try:
        yield
    finally:
        _here.trace = before


def _trace(f: Callable[..., Any], args: tuple[Any, ...], names: list[str]) -> GraphModule:
    return _module(_call(Capture(), f, args, names))


def _trace_fakes(f: Callable[..., Any], args: tuple[Any, ...], names: list[str]) -> GraphModule:
    return _module(_call(FakeCapture(), f, fakes_of(args), names))


def _call(
    trace: Capture,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    names: list[str],
    mode: AbstractContextManager[Any] | None = None,
) -> Call:
    try:
        made: Call | str = captured(trace, f, args, names, around=_around(trace, mode))
    except NoValue as why:
        made = str(why)
    except MemoryError:
        raise
    except Exception:
        if not (isinstance(trace, FakeCapture) and trace.reason):
            raise
        made = trace.reason  # the program found a value that nobody wrote
    finally:
        if isinstance(trace, FakeCapture):
            trace.put_back()
    if isinstance(made, str):
        raise RuntimeError(f"make_fx: there is no graph of this call: {made}")
    return made


def _module(made: Call) -> GraphModule:
    return GraphModule(made.constants, made.graph)


def _trace_symbols(f: Callable[..., Any], args: tuple[Any, ...], names: list[str]) -> GraphModule:
    from ._many_sizes import traced_for_any_size

    return traced_for_any_size(_call, f, args, names)


_MODES: dict[str, Callable[..., GraphModule]] = {
    "real": _trace,
    "fake": _trace_fakes,
    "symbolic": _trace_symbols,
}
