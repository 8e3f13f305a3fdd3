"""One call as a graph of operators: arguments are placeholders, tensors from elsewhere are attributes.

`make_fx` and `jit.trace` stand on it. The call really happens, and the graph is what its kernels did.
"""

from __future__ import annotations

import inspect
import itertools
import operator
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from taeda import Tensor, nn
from taeda._core_api import programs as _core
from taeda._core_api.trees import tensors_in
from taeda.fx._names import Namespace
from taeda.fx.graph import Graph
from taeda.fx.node import Node

from .._errors import NotLowered, UserError
from .lower import Writer, overload_of, written_steps
from .passes import written_inputs
from .recorder import Recorder
from .steps import Step

__all__ = ["Call", "Capture", "captured", "parameters_of"]


@dataclass
class Call:
    """The graph of a call, the tensors and functions that it names, the tensors of them that it
    writes, and what the call gave.
    """

    graph: Graph
    constants: dict[str, Any]
    written: list[Tensor]
    result: Any


class Capture(Recorder):
    """Records a call; tensors from elsewhere are kept as constants."""

    def __init__(self) -> None:
        super().__init__(self._failed)
        self.reason = ""
        self.exact = False  # zeros may be in place of no gradient
        self._age = 0  # of memory that was made since the call began

    def __enter__(self) -> Recorder:
        self._age = _core.next_age()
        return super().__enter__()

    def refuse(self, reason: str, cause: BaseException | None = None) -> None:
        """UserError: there is no graph of a call of functions."""
        raise UserError(reason) from cause

    def _failed(self, reason: str) -> None:
        self.reason = self.reason or reason
        self.active = False

    def _view_of_known(self, tensor: Tensor) -> int | None:
        if self._memory.get(_core.storage_key(tensor)):
            return super()._view_of_known(tensor)
        if _core.age_of(tensor) < self._age:
            return self.add_input("kept", tensor, tensor)
        self._failed(
            f"a tensor of shape {list(tensor.shape)} came about during the call without an operator "
            "(from an array, a buffer, or code outside of taeda), so the graph cannot make it again: "
            "make it before the call, or pass it as an argument"
        )
        return None

    def refuses_custom(self, op: str) -> str:
        """One that writes nothing is a node as every other."""
        if not overload_of(op)._schema.is_mutable:
            return ""
        return (
            f"{op} writes into its arguments, which no node of a graph without such writes does: call an "
            "operator that gives a new tensor, or leave the call out of the graph"
        )

    def _has_fixed_shape(self, op: str, args: Any, made: Any) -> bool:
        return True


def captured(
    capture: Capture,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    names: list[str],
    known: Mapping[int, str] | None = None,
    *,
    modes: bool = False,
    around: AbstractContextManager[Any] | None = None,
) -> Call | str:
    """The call `f(*args)` as a graph, or why there is none.
    `known` has names for tensors from elsewhere, by their id.

    `modes`: regions without gradients are part of the graph. `around` holds while `f` runs.
    """
    for value in args:
        for tensor in tensors_in(value):
            capture.add_input("argument", None, tensor)
    with capture:
        with around or nullcontext():
            result = f(*args)
        if not capture.reason:
            capture.active = True
            slots = {id(t): capture.slot_of(t) for t in tensors_in(result)}
    if capture.reason:
        return capture.reason
    try:
        return _Written(capture, slots, modes).call(args, names, known or {}, result)
    except NotLowered as why:
        return str(why)


class _Written:
    """A recorded call on its way to a graph."""

    def __init__(self, capture: Capture, slots: dict[int, int | None], modes: bool) -> None:
        numbers = {key: capture.numbered(slot) for key, slot in slots.items() if slot is not None}
        self.recorded = capture.finished()
        outputs = list(dict.fromkeys(numbers.values()))
        seen = _is_hidden if modes else _is_detach
        self.steps, moved = written_steps(self.recorded, outputs, seen)
        self.slots = {key: moved.get(slot, slot) for key, slot in numbers.items()}
        self.writer = Writer(self.recorded, self.steps, modes=modes, differentiable=True)

    def call(
        self, args: tuple[Any, ...], names: list[str], known: Mapping[int, str], result: Any
    ) -> Call:
        graph, given = self.writer.graph, Namespace()
        inputs = {
            id(i.example): n for n, i in enumerate(self.recorded.inputs) if i.kind == "argument"
        }
        for name, value in zip(names, args, strict=True):
            self._argument(graph.placeholder(given.create_name(name)), value, inputs)
        constants = self._constants(known)
        self.writer.body()
        graph.output(self._result(result))
        written = [
            self.recorded.inputs[n].example
            for n in written_inputs(self.recorded, self.steps)
            if self.recorded.inputs[n].kind != "argument"
        ]
        return Call(graph, {**constants, **self.writer.modules}, written, result)

    def _argument(self, node: Node, value: Any, inputs: dict[int, int]) -> None:
        if isinstance(value, Tensor):
            self.writer.set(inputs[id(value)], node, value)
        elif isinstance(value, dict | tuple | list):
            for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
                if any(True for _ in tensors_in(entry)):
                    part = self.writer.graph.call_function(operator.getitem, (node, key))
                    self._argument(part, entry, inputs)

    def _constants(self, known: Mapping[int, str]) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        taken = set(known.values())
        for number, entry in enumerate(self.recorded.inputs):
            if entry.kind == "argument":
                continue
            name = known.get(id(entry.example))
            if name is None:
                name = _unused(isinstance(entry.example, nn.Parameter), taken)
                taken.add(name)
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


def _unused(is_parameter: bool, taken: set[str]) -> str:
    kind = "param" if is_parameter else "tensor"
    return next(n for k in itertools.count() if (n := f"_{kind}_constant{k}") not in taken)


def _is_detach(step: Step) -> bool:
    return step.grad and step.op == "detach"


def _is_hidden(step: Step) -> bool:
    """Whether the alias that a step makes has another history than its base."""
    return not step.grad or step.op == "detach"


def parameters_of(f: Any, count: int) -> list[str]:
    """Names for the first `count` arguments of a call."""
    function = f.forward if isinstance(f, nn.Module) else f
    try:
        kinds = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function in C without a signature
        kinds = {}.values()
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in kinds if p.kind in plain]
    return (names + [f"arg{n}" for n in range(len(names), count)])[:count]
