"""make_fx: the operators that a call ran, as a graph, through transforms and backward as well.

>>> import taeda
>>> from taeda.func import grad
>>> gm = make_fx(grad(lambda x: x.sin().sum()))(taeda.ones(2))
>>> "aten.cos.default" in [str(n.target) for n in gm.graph.nodes]
True
"""

from __future__ import annotations

import inspect
import operator
import threading
from collections.abc import Callable, Mapping
from typing import Any

from taeda import Tensor, nn
from taeda._core_api import programs as _core
from taeda.compiler._lowered import NotLowered, Writer, written_steps
from taeda.compiler._record import Recorder, Step
from taeda.fx._names import Namespace
from taeda.fx.graph_module import GraphModule
from taeda.fx.interpreter import Interpreter
from taeda.fx.node import Node

__all__ = ["get_proxy_mode", "make_fx"]

_here = threading.local()


def make_fx(
    f: Callable[..., Any], decomposition_table: Mapping[Any, Callable[..., Any]] | None = None, tracing_mode: str = "real"
) -> Callable[..., GraphModule]:  # fmt: skip
    """A function that calls `f` with its arguments and returns the operators that ran, as a `GraphModule` over `taeda.ops.aten`.

    Tensors among the arguments, at any depth of tuples, lists and dicts, are inputs; other tensors that `f` reads are attributes
    of the module: `_param_constant0`, `_tensor_constant0`. Numbers stay in the graph as they were. In place of an operator of
    `decomposition_table`, its function is traced. The call really happens, with all that it does.

    RuntimeError if `f` reads the value of a tensor, which a graph could not compute again, or runs an operator that was
    defined at run time. NotImplementedError for the tracing modes "fake" and "symbolic": tensors without values, and sizes
    without numbers, do not exist here. ValueError for another mode.

    >>> import taeda
    >>> print(make_fx(lambda x, y: (x + y).relu())(taeda.ones(2), taeda.ones(2)).code.strip())
    def forward(self, x, y):
        add = taeda.ops.aten.add.Tensor(x, y);  x = y = None
        relu = taeda.ops.aten.relu.default(add);  add = None
        return relu
    """
    if tracing_mode in ("fake", "symbolic"):
        raise NotImplementedError(
            f"make_fx: tracing_mode={tracing_mode!r} needs tensors without values; 'real' traces the call on its arguments"
        )
    if tracing_mode != "real":
        raise ValueError(f"make_fx: tracing_mode is 'real', got {tracing_mode!r}")
    table = dict(decomposition_table or {})

    def traced(*args: Any) -> GraphModule:
        made = _trace(f, args, _parameters(f, len(args)))
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


class _Trace(Recorder):
    """Records a call; tensors from elsewhere are kept as constants."""

    def __init__(self) -> None:
        super().__init__(self._failed)
        self.reason = ""

    def _failed(self, reason: str) -> None:
        self.reason = self.reason or reason
        self.active = False

    def _view_of_known(self, tensor: Tensor) -> int | None:
        if not self._memory.get(_core.storage_key(tensor)):
            return self.add_input("kept", tensor, tensor)
        return super()._view_of_known(tensor)

    def _has_fixed_shape(self, op: str, args: Any, made: Any) -> bool:
        return True


def _trace(f: Callable[..., Any], args: tuple[Any, ...], names: list[str]) -> GraphModule:
    trace = _Trace()
    for value in args:
        for tensor in _tensors(value):
            trace.add_input("argument", None, tensor)
    before = get_proxy_mode()
    with trace:
        _here.trace = trace
        try:
            result = f(*args)
        finally:
            _here.trace = before
        if not trace.reason:
            trace.active = True
            slots = {id(t): trace.slot_of(t) for t in _tensors(result)}
    if trace.reason:
        raise RuntimeError(f"make_fx: there is no graph of this call: {trace.reason}")
    try:
        return _Module(trace, slots).made(args, names, result)
    except NotLowered as why:
        raise RuntimeError(f"make_fx: there is no graph of this call: {why}") from None


class _Module:
    """A trace as a graph module: arguments as they were passed, constants as attributes."""

    def __init__(self, trace: _Trace, slots: dict[int, int | None]) -> None:
        numbers = {key: trace.numbered(slot) for key, slot in slots.items() if slot is not None}
        self.recorded = trace.finished()
        outputs = list(dict.fromkeys(numbers.values()))
        steps, moved = written_steps(self.recorded, outputs, _is_detach)
        self.slots = {key: moved.get(slot, slot) for key, slot in numbers.items()}
        self.writer = Writer(self.recorded, steps, modes=False)

    def made(self, args: tuple[Any, ...], names: list[str], result: Any) -> GraphModule:
        graph, given = self.writer.graph, Namespace()
        inputs = {
            id(i.example): n for n, i in enumerate(self.recorded.inputs) if i.kind == "argument"
        }
        for name, value in zip(names, args, strict=True):
            self._argument(graph.placeholder(given.create_name(name)), value, inputs)
        constants = self._constants(given)
        self.writer.body()
        graph.output(self._result(result))
        return GraphModule(constants, graph)

    def _argument(self, node: Node, value: Any, inputs: dict[int, int]) -> None:
        if isinstance(value, Tensor):
            self.writer.set(inputs[id(value)], node, value)
        elif isinstance(value, dict | tuple | list):
            for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
                if any(True for _ in _tensors(entry)):
                    part = self.writer.graph.call_function(operator.getitem, (node, key))
                    self._argument(part, entry, inputs)

    def _constants(self, given: Namespace) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        for number, entry in enumerate(self.recorded.inputs):
            if entry.kind == "argument":
                continue
            kind = "param" if isinstance(entry.example, nn.Parameter) else "tensor"
            name = f"_{kind}_constant{sum(kind in known for known in found)}"
            found[name] = entry.example
            self.writer.set(number, self.writer.graph.get_attr(name), entry.example)
        return found

    def _result(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return self.writer.nodes[self.slots[id(value)]]
        if isinstance(value, tuple | list):
            parts = [self._result(v) for v in value]
            return parts if isinstance(value, list) else tuple(parts)
        if isinstance(value, dict):
            return {key: self._result(v) for key, v in value.items()}
        return value


def _is_detach(step: Step) -> bool:
    return step.grad and step.op == "detach"


def _tensors(value: Any) -> Any:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict | tuple | list):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _tensors(entry)


def _parameters(f: Any, count: int) -> list[str]:
    """Names for the arguments of a call."""
    function = f.forward if isinstance(f, nn.Module) else f
    try:
        kinds = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function in C without a signature
        kinds = {}.values()
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in kinds if p.kind in plain]
    return (names + [f"arg{n}" for n in range(len(names), count)])[:count]
