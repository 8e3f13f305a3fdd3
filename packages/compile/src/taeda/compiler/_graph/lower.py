"""A recorded program as an `fx.GraphModule`: what a function as backend is given.

an input of the graph     a placeholder: arguments under their names, parameters as `self_linear_weight`
one kernel call           call_function of an overload in `taeda.ops.aten`, which autograd and modes see
several results           a node each, of operator.getitem
another grad mode         a call of `taeda.set_grad_enabled`, as the program had it there
results                   one tuple: what the program returns, then the gradients it leaves behind
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import taeda
from taeda import Tensor, fx
from taeda._core_api import programs as _core
from taeda.fx._names import Namespace

from .._errors import NotLowered
from .passes import needed, without_aliases
from .steps import DATA, GRADIENT, VIEW, WRITES_OUT, WRITES_SELF, Graph, Step

__all__ = ["CONTROLS", "Lowered", "Writer", "lowered", "overload_of", "written_steps"]

fx.has_side_effect(taeda.set_grad_enabled)


@dataclass
class Lowered:
    """The module, and which inputs of the recording are its arguments, in order, with what they were."""

    module: fx.GraphModule
    inputs: list[int]
    examples: list[Any]


def lowered(graph: Graph, outputs: list[int], names: dict[int, str]) -> Lowered:
    """The graph as a module; `names` has those of input tensors, by id."""
    steps, moved = written_steps(graph, outputs, lambda step: step.grad)
    return Writer(graph, steps).module([moved.get(slot, slot) for slot in outputs], names)


def written_steps(
    graph: Graph, outputs: list[int], seen: Callable[[Step], bool]
) -> tuple[list[Step], dict[int, int]]:
    """The steps worth a node, and the slots in place of others; aliases go, but for those that are
    `seen` by autograd.
    """
    steps, moved = without_aliases(graph, outputs, seen=seen)
    steps = [step for step in steps if step.form != GRADIENT]  # who runs the graph assigns them
    return needed(steps, [moved.get(slot, slot) for slot in outputs]), moved


@functools.cache
def _operator(op: str, in_place: bool) -> Any:
    """The overload of `taeda.ops.aten` behind a row."""
    if op not in _spaces():
        return overload_of(op)
    name, _, overload = op.partition(".")
    space = _spaces()[op]
    if space in ("linalg", "special", "fft"):
        name = f"{space}_{name}"
    packet = getattr(taeda.ops.aten, name + "_" * in_place)
    return getattr(packet, overload or "default")


def overload_of(op: str) -> Any:
    """The overload of an operator that was defined at run time, which is "namespace::name"."""
    found = _written_overload(op)
    return getattr(found, "_raw", found)


def _written_overload(op: str) -> Any:
    """The same as a program reaches it: of one in C++ without what it has for its derivative."""
    space, _, rest = op.partition("::")
    name, _, overload = rest.partition(".")
    return getattr(getattr(getattr(taeda.ops, space), name), overload or "default")


@functools.cache
def _spaces() -> dict[str, str]:
    return {text: space for text, _, _, space, _, _ in _core.op_rows()}


class Writer:
    """Writes steps as nodes; `nodes` has those of slots, the inputs' among them.
    `modes`: grad modes are nodes.
    """

    def __init__(
        self, graph: Graph, steps: list[Step], *, modes: bool = True, differentiable: bool = False
    ) -> None:
        self.recorded, self.steps, self.modes = graph, steps, modes
        # whether gradients may flow through calls of functions: who runs the graph calls them too
        self.differentiable = differentiable
        self.graph = fx.Graph()
        self.nodes: dict[int, fx.Node] = {}
        self.modules: dict[str, Any] = {}  # functions that calls in the graph call
        self.grad = _core.is_grad_enabled()

    def module(self, outputs: list[int], names: dict[int, str]) -> Lowered:
        """All of it, with a placeholder for each input that is read."""
        read = {slot for step in self.steps for slot in step.reads} | set(outputs)
        used = [n for n in range(len(self.recorded.inputs)) if n in read]
        given = Namespace()
        for number in used:
            example = self.recorded.inputs[number].example
            wanted = names.get(id(example)) or self.recorded.inputs[number].kind
            self.set(number, self.graph.placeholder(given.create_name(wanted)), example)
        self.body()
        self.graph.output(tuple(self.nodes[slot] for slot in outputs))
        examples = [self.recorded.inputs[n].example for n in used]
        return Lowered(fx.GraphModule(self.modules, self.graph), used, examples)

    def body(self) -> None:
        """A node for each step."""
        first = self.grad
        for step in self.steps:
            if not (step.parts and self.differentiable):
                self._mode(step.grad)
            elif step.mode is not None:
                self._mode(step.mode)
            self._step(step)
        self._mode(first)

    def set(self, slot: int, node: fx.Node, example: Any) -> None:
        """The node of a slot."""
        self.nodes[slot] = node
        if isinstance(example, Tensor):
            node.meta["val"] = taeda.empty_strided(
                example.shape, example.stride(), dtype=example.dtype, device="meta"
            )
        else:
            node.meta["val"] = example

    def _mode(self, grad: bool) -> None:
        if self.modes and grad != self.grad:
            self.graph.call_function(taeda.set_grad_enabled, (grad,))
            self.grad = grad

    # ---- one step ----

    def _step(self, step: Step) -> None:
        if step.is_custom and getattr(_written_overload(step.op), "_is_node", False):
            step = self._without_record(step)
        target, args, kwargs = self._control(step) if step.parts else self._call(step)
        node = self.graph.call_function(target, args, kwargs, name=self._name(step))
        if step.line:
            node.stack_trace = step.line
        if len(step.outs) == 1 and not step.parts and not self._is_tuple(step):
            if step.outs[0] is not None:
                self.set(step.outs[0], node, self.recorded.examples.get(step.outs[0]))
            return
        for place, slot in enumerate(step.outs):
            if slot is not None:
                part = self.graph.call_function(operator.getitem, (node, place))
                self.set(slot, part, self.recorded.examples.get(slot))

    def _without_record(self, step: Step) -> Step:
        """A call of an operator in C++ whose derivative is in C++ as the program has it: who runs the
        graph may want gradients where the recording did not.
        """
        if step.outs[0] is not None and any(step.outs[0] in other.reads for other in self.steps):
            return step
        return replace(step, args=step.args[:-1], outs=step.outs[1:])

    def _target(self, step: Step) -> Any:
        if step.is_custom and len(step.args) < len(overload_of(step.op)._parsed.arguments):
            return _written_overload(step.op)
        return _operator(step.op, step.form == WRITES_SELF)

    def _name(self, step: Step) -> str:
        name = step.op.rpartition("::")[2].partition(".")[0]
        return name + "_" * (step.form == WRITES_SELF)

    def _is_tuple(self, step: Step) -> bool:
        if step.form in (VIEW, DATA):
            return False
        returns = self._target(step)._parsed.returns
        return len(returns) > 1 or (len(returns) == 1 and returns[0].is_list)

    def _call(self, step: Step) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        values = list(step.args)
        for k, i, slot in step.patches:
            if i < 0:
                values[k] = self.nodes[slot]
            else:
                entries = list(values[k])
                entries[i] = self.nodes[slot]
                values[k] = entries
        if step.form in (VIEW, DATA):
            return self._view(step, values)
        target = self._target(step)
        args, kwargs = _spoken(target._parsed.arguments, values)
        if step.form == WRITES_OUT:
            goals = tuple(self.nodes[slot] for slot in step.targets)
            kwargs["out"] = goals[0] if len(goals) == 1 else goals
        return target, args, kwargs

    def _control(self, step: Step) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """A call of functions, which are modules of their own, named like `true_graph_0`."""
        if self.modes and step.grad and not self.differentiable:
            raise NotLowered(f"gradients flow through its {step.op}")
        target, names = CONTROLS[step.op]()
        number = sum(name.startswith(f"{names[0]}_") for name in self.modules)
        functions = []
        for name, part in zip(names, step.parts, strict=True):
            self.modules[f"{name}_{number}"] = _part_module(part)
            functions.append(self.graph.get_attr(f"{name}_{number}"))
        given = [self.nodes[slot] for _, _, slot in step.patches]
        if step.op == "cond":
            return target, (given[0], *functions, tuple(given[1:])), {}
        if step.op == "while_loop":
            n = len(step.outs)
            return target, (*functions, tuple(given[:n]), tuple(given[n:])), {}
        n, several = step.args[len(given) :]
        parts = (tuple(given[:n]), tuple(given[n : n + several]), tuple(given[n + several :]))
        return target, (*functions, *(parts if step.op == "scan" else parts[1:])), {}

    def _view(self, step: Step, values: list[Any]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """A tensor that shares memory with another one; `offset` counts from where that begins."""
        origin, shape, strides, offset = values
        if step.form == DATA:
            origin = self.graph.call_function(getattr, (origin, "data"))
        start = self.graph.call_method("storage_offset", (origin,))
        if offset:
            start = self.graph.call_function(operator.add, (start, offset))
        return _operator("as_strided", False), (origin, shape, strides, start), {}


def _cond() -> Any:
    return taeda.cond, ("true_graph", "false_graph")


def _while_loop() -> Any:
    from taeda._higher_order_ops._nodes import while_loop_op

    return while_loop_op, ("while_cond_graph", "while_body_graph")


def _scan() -> Any:
    from taeda._higher_order_ops._nodes import scan_op

    return scan_op, ("scan_combine_graph",)


def _map() -> Any:
    from taeda._higher_order_ops._nodes import map_op

    return map_op, ("body_graph",)


#: which function a step of this name calls, and what its functions are called
CONTROLS: dict[str, Callable[[], Any]] = {
    "cond": _cond, "while_loop": _while_loop, "scan": _scan, "map": _map,
}  # fmt: skip


def _part_module(part: Any) -> fx.GraphModule:
    """The function of a part, which gives a tuple."""
    writer = Writer(part.graph, part.steps, modes=False)
    for number, entry in enumerate(part.graph.inputs):
        if number < part.count:
            node = writer.graph.placeholder(f"arg{number}")
        else:
            name = f"_tensor_constant{number - part.count}"
            writer.modules[name] = entry.example
            node = writer.graph.get_attr(name)
        writer.set(number, node, entry.example)
    writer.body()
    writer.graph.output(tuple(writer.nodes[slot] for slot in part.outputs))
    return fx.GraphModule(writer.modules, writer.graph)


def _spoken(arguments: Any, values: list[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The values of a kernel call as a person would write them: without what is there by default."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    behind = False  # whether an argument that only goes by name was left out
    for argument, value in zip(arguments, values, strict=True):
        if isinstance(value, taeda.Generator):
            if value is not taeda.default_generator:
                raise NotLowered("it draws from a generator of its own")
            value = None
        default = argument.has_default and _is_default(argument, value)
        if default:
            behind = True
        elif argument.keyword_only or behind:
            kwargs[argument.name] = value
        else:
            args.append(value)
    return tuple(args), kwargs


def _is_default(argument: Any, value: Any) -> bool:
    default = argument.default
    if isinstance(value, fx.Node):
        return False
    if type(default) in (int, float, bool) and type(value) in (int, float, bool):
        return bool(default == value) and type(default) is type(value)
    return default is None and value is None
