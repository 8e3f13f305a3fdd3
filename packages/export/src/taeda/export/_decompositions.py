"""A program traced again: functions in place of operators, and no operator that writes.

The graph is run by an interpreter under `functionalize`, so views and writes to them become plain
results, and what the program writes into its inputs comes last, as a `copy_` for each. These are new
outputs then: the signature says of which buffer, parameter or argument each is the new value.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping
from typing import Any

import taeda
from taeda import Tensor
from taeda.compiler._errors import UserError
from taeda.func import functionalize
from taeda.fx.experimental._expressions import Expression, constant
from taeda.fx.graph_module import GraphModule
from taeda.fx.interpreter import Interpreter
from taeda.fx.node import Node

from ._dims import Symbols
from ._kept_calls import entries_renamed, kept_names
from ._lifting import constants_lifted, placeholder_after
from ._module_stack import note_modules
from ._names import RESTORED, renamed, without_modes
from ._outputs import argument_of
from ._shapes import note_shapes, told_by_arguments
from ._tracing import Captured, captured_for
from .exported_program import ExportedProgram, ModuleCallEntry, default_decompositions
from .graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)

__all__ = ["decomposed"]

#: by getattr, for the checker takes the stub of taeda and this module in a circle
_aten: Any = operator.attrgetter("ops.aten")(taeda)
_MOST_ROUNDS = 20
Table = Mapping[Any, Callable[..., Any]]


def decomposed(ep: ExportedProgram, given: Table | None) -> ExportedProgram:
    """The program with functions of `given` in place of its operators."""
    table = dict(default_decompositions() if given is None else given)
    own = {op: f for op, f in table.items() if f is not op}
    _check_kept(ep, table)
    made = _Retraced(ep, table).program(table)
    for _ in range(_MOST_ROUNDS):
        if not any(n.target in own for n in made.graph.nodes):
            return made
        made = _Retraced(made, own).program(table)
    raise RuntimeError(
        f"run_decompositions: after {_MOST_ROUNDS} rounds the program still has operators of the "
        f"table: {sorted({str(n.target) for n in made.graph.nodes if n.target in own})}. A function "
        "of the table must not run the operator that it stands for"
    )


def _check_kept(ep: ExportedProgram, table: Table) -> None:
    """NotImplementedError for operators that the table keeps and a trace cannot."""
    every = default_decompositions()
    for node in ep.graph.nodes:
        kept = node.op == "call_function" and node.target not in table
        if kept and node.target in every and node.target not in RESTORED:
            raise NotImplementedError(
                f"run_decompositions: {node.name} is {node.target}, which is made of other "
                "operators, and keeping it is not possible: leave it in the table"
            )


class _Through(Interpreter):
    """Runs functions in place of some operators."""

    def __init__(self, module: GraphModule, table: Table) -> None:
        super().__init__(module)
        self.table = table
        self.stack = "[]"  # the calls of modules that the node at work is in
        self.values: dict[str, Any] = {}  # of each node, by its name

    def run_node(self, n: Node) -> Any:
        calls = n.meta.get("nn_module_stack", {})
        self.stack = json.dumps(
            [(name, int(key.partition("@")[2] or 0), kind) for key, (name, kind) in calls.items()]
        )
        made = self.values[n.name] = super().run_node(n)
        return made

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        return super().call_function(self.table.get(target, target), args, kwargs)


class _Retraced:
    """One more trace of a program."""

    def __init__(self, ep: ExportedProgram, table: Table) -> None:
        self.ep, self.table = ep, table
        self.specs = ep.graph_signature.input_specs
        self.nodes = list(ep.graph.find_nodes(op="placeholder"))
        self.is_tensor = [isinstance(s.arg, TensorArgument) for s in self.specs]
        self.symbols = _symbols(ep)
        self.kept = kept_names(ep.module_call_graph[1:])
        self.at_work: _Through | None = None
        self.plan = [
            tuple(n.meta["shape"]) for n, t in zip(self.nodes, self.is_tensor, strict=True) if t
        ]

    def program(self, names: Table) -> ExportedProgram:
        """The program. Operators that `names` has not are called as they were."""
        made = self._captured()
        gm = GraphModule(made.module, made.module.graph)
        note_modules(gm)
        tensors = list(gm.graph.find_nodes(op="placeholder"))
        examples = self._tensors()
        for node, exprs, tensor in zip(tensors, self.plan, examples, strict=True):
            node.meta["val"], node.meta["shape"] = tensor, exprs
        written = _writes_taken_out(gm)
        signature, constants = self._signature(gm, tensors)
        self._outputs(gm, signature, written)
        kept = {str(op) for op in RESTORED if op not in names}
        gm = renamed(gm, lambda name: name in kept)
        note_shapes(gm, made.hints, made.ranges)
        if any(n.target is taeda.set_grad_enabled for n in gm.graph.nodes):
            note_shapes(without_modes(gm), made.hints, made.ranges)
        values = gm.graph.output_node().args[0]  # under their last names
        signature.output_specs[:] = [
            OutputSpec(spec.kind, argument_of(node), spec.target)
            for spec, node in zip(signature.output_specs, values, strict=False)
        ]
        ep = self.ep
        calls = self._calls(gm, len(signature.output_specs))
        guards = list(dict.fromkeys([*ep._guards, *made.guards]))
        return ExportedProgram(
            gm,
            signature,
            dict(ep.state_dict),
            {**ep.constants, **constants},
            dict(made.ranges),
            guards,
            (ep._in_spec, ep._out_spec),
            example_inputs=ep.example_inputs,
            module_calls=calls,
        )

    def _calls(self, gm: GraphModule, count: int) -> list[ModuleCallEntry]:
        """The kept calls by their new nodes, which follow the `count` results, and are none."""
        output = gm.graph.output_node()
        every = output.args[0]
        output.args = (every[:count],)
        gm.recompile()
        args = {n: argument_of(node) for n, node in zip(self.kept, every[count:], strict=True)}
        return entries_renamed(self.ep.module_call_graph[1:], args)

    # ---- the trace ----

    def _captured(self) -> Captured:
        names = [n.name for n, t in zip(self.nodes, self.is_tensor, strict=True) if t]
        for turn in range(2):
            made = captured_for(
                self._run, self._tensors(), names, self.plan, self.symbols, turn, self._stack
            )
            if not made.fixed:
                return made
        raise UserError(
            f"run_decompositions: with this table the program is one for fixed sizes only "
            f"({', '.join(sorted(made.fixed))}): a function of the table asks them"
        )

    def _stack(self) -> str:
        return "[]" if self.at_work is None else self.at_work.stack

    def _tensors(self) -> list[Tensor]:
        sizes = self.symbols.sizes
        made = []
        for spec, node in zip(self.specs, self.nodes, strict=True):
            if not isinstance(spec.arg, TensorArgument):
                continue
            known = self._state(spec)
            made.append(_blank(node, sizes) if known is None else known)
        return made

    def _state(self, spec: InputSpec) -> Tensor | None:
        if spec.kind is InputKind.USER_INPUT:
            return None
        kept = spec.kind is InputKind.PARAMETER or spec.persistent
        return (self.ep.state_dict if kept else self.ep.constants)[str(spec.target)]

    def _run(self, *flat: Any) -> list[Any]:
        module = self.ep.graph_module
        rest = [s.arg.value for s in self.specs if isinstance(s.arg, ConstantArgument)]

        def body(*tensors: Any) -> list[Any]:
            given, plain = iter(tensors), iter(rest)
            args = [next(given) if t else next(plain) for t in self.is_tensor]
            self.at_work = _Through(module, self.table)
            results = list(self.at_work.run(*args))
            return [*results, *(self.at_work.values[name] for name in self.kept)]

        with taeda.enable_grad():  # else a detach would be none
            made: list[Any] = functionalize(body)(*flat)
        return made

    # ---- the signature ----

    def _signature(
        self, gm: GraphModule, tensors: list[Node]
    ) -> tuple[ExportGraphSignature, dict[str, Tensor]]:
        signature = ExportGraphSignature()
        rest = iter(tensors)
        nodes = [next(rest) if t else None for t in self.is_tensor]
        mine = [s.kind is InputKind.USER_INPUT for s in self.specs]
        pairs = list(zip(self.specs, nodes, mine, strict=True))
        for spec, node, user in pairs:
            if not user and node is not None:
                state = TensorArgument(node.name)
                signature.input_specs.append(
                    InputSpec(spec.kind, state, spec.target, spec.persistent)
                )
        users = [node for _, node, user in pairs if user and node is not None]
        constants = constants_lifted(gm, users, signature, self.ep.constants)
        inputs = list(gm.graph.find_nodes(op="placeholder"))
        place = inputs[-1] if inputs else None
        before = [node for _, node, user in pairs if not user and node is not None]
        if users:
            place = users[0].prev if (before or constants) else None
        for spec, node, user in pairs:
            if not user:
                continue
            if node is None:
                node = placeholder_after(gm.graph, place, spec.arg.name)
                arg: Any = ConstantArgument(node.name, spec.arg.value)  # type: ignore[union-attr]
            else:
                arg = TensorArgument(node.name)
            place = node
            signature.input_specs.append(InputSpec(InputKind.USER_INPUT, arg, None))
        return signature, constants

    def _outputs(
        self, gm: GraphModule, signature: ExportGraphSignature, written: dict[str, Node]
    ) -> None:
        """Outputs: those that the program had as new values, with those that it writes now, then its
        results.
        """
        output = gm.graph.output_node()
        count = len(self.ep.graph_signature.output_specs)
        values, kept = output.args[0][:count], output.args[0][count:]
        before = list(zip(self.ep.graph_signature.output_specs, values, strict=True))
        known: list[tuple[OutputKind, str | None, Any]] = [
            (s.kind, s.target, v) for s, v in before if s.kind is not OutputKind.USER_OUTPUT
        ]
        known.extend(
            (*_kind_of_write(spec), written[spec.arg.name])
            for spec in signature.input_specs
            if spec.arg.name in written
        )
        results = [(s.kind, s.target, v) for s, v in before if s.kind is OutputKind.USER_OUTPUT]
        output.args = ((*(value for *_, value in (*known, *results)), *kept),)
        for kind, target, value in (*known, *results):
            signature.output_specs.append(OutputSpec(kind, argument_of(value), target))


def _kind_of_write(spec: InputSpec) -> tuple[OutputKind, str]:
    if spec.kind is InputKind.USER_INPUT:
        return OutputKind.USER_INPUT_MUTATION, spec.arg.name
    if spec.kind is InputKind.CONSTANT_TENSOR:
        raise UserError(
            f"run_decompositions: the program writes into {spec.target}, a tensor that is neither a "
            "parameter nor a buffer: make it one by register_buffer"
        )
    kinds = {
        InputKind.PARAMETER: OutputKind.PARAMETER_MUTATION,
        InputKind.BUFFER: OutputKind.BUFFER_MUTATION,
    }
    return kinds[spec.kind], str(spec.target)


def _writes_taken_out(gm: GraphModule) -> dict[str, Node]:
    """What the program writes into its inputs at the end, by their names."""
    written: dict[str, Node] = {}
    for node in list(gm.graph.nodes):
        if node.target is not _aten.copy_.default or node.users:
            continue
        goal, value = node.args[0], node.args[1]
        if isinstance(goal, Node) and isinstance(value, Node) and goal.op == "placeholder":
            written[goal.name] = value
            gm.graph.erase_node(node)
    return written


def _symbols(ep: ExportedProgram) -> Symbols:
    told = told_by_arguments(ep.graph_module)  # data decide the others in this trace too
    ranges = {n: r for n, r in ep.range_constraints.items() if n in told}
    sizes = {n: int(min(max(r.lower, 4), r.upper)) for n, r in ranges.items()}
    return Symbols(ranges, set(ranges), {n: n for n in ranges}, sizes)


def _blank(node: Node, sizes: Mapping[str, int]) -> Tensor:
    """A tensor of the kind that an argument has, whose memory nobody writes."""
    value: Tensor = node.meta["val"]
    exprs: tuple[Expression | int, ...] = node.meta["shape"]
    shape = [(constant(e) if type(e) is int else e).value(sizes) for e in exprs]  # type: ignore[union-attr]
    device = "cpu" if value.device.type == "meta" else value.device
    made = taeda.empty(shape, dtype=value.dtype, device=device)
    return made.requires_grad_(value.requires_grad)
