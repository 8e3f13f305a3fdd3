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
from contextlib import contextmanager
from typing import Any

from taeda.compiler._capture import Capture, captured, parameters_of
from taeda.fx.graph_module import GraphModule
from taeda.fx.interpreter import Interpreter

__all__ = ["get_proxy_mode", "make_fx"]

_here = threading.local()


def make_fx(
    f: Callable[..., Any], decomposition_table: Mapping[Any, Callable[..., Any]] | None = None,
    tracing_mode: str = "real"
) -> Callable[..., GraphModule]:  # fmt: skip
    """A function that calls `f` with its arguments and returns the operators that ran, as a
    `GraphModule` over `taeda.ops.aten`.

    Tensors among the arguments, at any depth of tuples, lists and dicts, are inputs; other tensors
    that `f` reads are attributes of the module: `_param_constant0`, `_tensor_constant0`. Numbers
    stay in the graph as they were. In place of an operator of `decomposition_table`, its function
    is traced. The call really happens, with all that it does.

    RuntimeError if `f` reads the value of a tensor, which a graph could not compute again, or runs
    an operator that was defined at run time. NotImplementedError for the tracing modes "fake" and
    "symbolic": tensors without values, and sizes without numbers, do not exist here. ValueError for
    another mode.

    >>> import taeda
    >>> print(make_fx(lambda x, y: (x + y).relu())(taeda.ones(2), taeda.ones(2)).code.strip())
    def forward(self, x, y):
        add = taeda.ops.aten.add.Tensor(x, y);  x = y = None
        relu = taeda.ops.aten.relu.default(add);  add = None
        return relu
    """
    if tracing_mode in ("fake", "symbolic"):
        raise NotImplementedError(
            f"make_fx: tracing_mode={tracing_mode!r} needs tensors without values; 'real' traces "
            "the call on its arguments"
        )
    if tracing_mode != "real":
        raise ValueError(f"make_fx: tracing_mode is 'real', got {tracing_mode!r}")
    table = dict(decomposition_table or {})

    def traced(*args: Any) -> GraphModule:
        made = _trace(f, args, parameters_of(f, len(args)))
        while any(n.op == "call_function" and n.target in table for n in made.graph.nodes):
            names = [str(n.target) for n in made.graph.find_nodes(op="placeholder")]
            made = _trace(_Decomposed(made, table).run, args, names)
        return made

    return traced


def get_proxy_mode() -> Any:
    """The trace that `make_fx` makes in this thread right now, or None."""
    return getattr(_here, "trace", None)


class _Decomposed(Interpreter):
    """Runs functions in place of some operators."""

    def __init__(self, module: GraphModule, table: dict[Any, Callable[..., Any]]) -> None:
        super().__init__(module)
        self.table = table

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        return super().call_function(self.table.get(target, target), args, kwargs)


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
    trace = Capture()
    made = captured(trace, f, args, names, around=_as_trace(trace))
    if isinstance(made, str):
        raise RuntimeError(f"make_fx: there is no graph of this call: {made}")
    return GraphModule(made.constants, made.graph)
