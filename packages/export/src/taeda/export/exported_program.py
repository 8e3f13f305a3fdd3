"""A program of operators with its tensors: what `export` gives and a .pt2 file holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from taeda import Tensor, nn
from taeda._core_api.trees import TreeSpec
from taeda.fx.experimental._ranges import ValueRanges
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule

from ._module_calls import ModuleCallEntry, ModuleCallSignature
from .graph_signature import ExportGraphSignature, InputKind, OutputKind

__all__ = [
    "CallSpec", "ExportedProgram", "ModuleCallEntry", "ModuleCallSignature", "default_decompositions",
]  # fmt: skip


class CallSpec(NamedTuple):
    """The trees of the arguments, (args, kwargs), and of the results of an exported call.

    >>> program = taeda.export.export(taeda.nn.ReLU(), (taeda.ones(2),))
    >>> program.call_spec.in_spec.num_leaves, program.call_spec.out_spec.num_leaves
    (1, 1)
    """

    in_spec: TreeSpec
    out_spec: TreeSpec


class ExportedProgram:
    """A graph whose inputs are parameters, buffers, constants and arguments, in this order.

    `module()` gives a module to call. `graph_signature` says what each input is, `state_dict` and
    `constants` have the tensors, `range_constraints` the ranges of the symbols of sizes.

    Args:
        graph_module: the graph as a module
        graph_signature: what its inputs and outputs are
        state_dict: parameters and persistent buffers, by name
        constants: the other tensors, by name
        range_constraints: the ranges of symbols of sizes, by name
        guards: what must hold between sizes
        specs: the trees of arguments and of results
        example_inputs: the arguments of the exported call, as (args, kwargs) (default: None)
        module_calls: calls of modules inside whose arguments and results are known (default: ())
    """

    def __init__(
        self,
        graph_module: GraphModule,
        graph_signature: ExportGraphSignature,
        state_dict: dict[str, Tensor],
        constants: dict[str, Tensor],
        range_constraints: dict[str, ValueRanges],
        guards: list[Any],
        specs: tuple[TreeSpec, TreeSpec],
        example_inputs: Any = None,
        module_calls: Sequence[ModuleCallEntry] = (),
    ) -> None:
        self._graph_module = graph_module
        self._graph_signature = graph_signature
        self._state_dict, self._constants = state_dict, constants
        self._range_constraints, self._guards = range_constraints, guards
        self._in_spec, self._out_spec = specs
        self._example_inputs = example_inputs
        self._module_calls = list(module_calls)
        self._report: Any = None  # of draft_export

    @property
    def graph_module(self) -> GraphModule:
        """The graph as a module of flat inputs and a tuple of results."""
        return self._graph_module

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph_module.graph

    @property
    def graph_signature(self) -> ExportGraphSignature:
        """What the inputs and outputs of the graph are."""
        return self._graph_signature

    @property
    def state_dict(self) -> dict[str, Tensor]:
        """The parameters and persistent buffers, by name."""
        return self._state_dict

    @property
    def constants(self) -> dict[str, Tensor]:
        """The other tensors, by name."""
        return self._constants

    @property
    def tensor_constants(self) -> dict[str, Tensor]:
        """The same as `constants`: there are only tensors among them."""
        return self._constants

    @property
    def range_constraints(self) -> dict[str, ValueRanges]:
        """The ranges of the symbols of sizes, by name."""
        return self._range_constraints

    @property
    def example_inputs(self) -> Any:
        """The arguments of the call that was exported, as (args, kwargs); None after `load`."""
        return self._example_inputs

    @property
    def call_spec(self) -> CallSpec:
        """The trees of its arguments, (args, kwargs), and of its results."""
        return CallSpec(self._in_spec, self._out_spec)

    @property
    def module_call_graph(self) -> list[ModuleCallEntry]:
        """How modules are called: the exported one, whose name is empty, and then each call of those
        that `preserve_module_call_signature` named, as `name`, `name@1`, `name@2`.
        """
        specs = self.graph_signature
        inputs = [s.arg for s in specs.input_specs if s.kind is InputKind.USER_INPUT]
        outputs = [s.arg for s in specs.output_specs if s.kind is OutputKind.USER_OUTPUT]
        call = ModuleCallSignature(inputs, outputs, self._in_spec, self._out_spec)
        return [ModuleCallEntry("", call), *self._module_calls]

    def parameters(self) -> Iterator[nn.Parameter]:
        """The parameters."""
        return (p for _, p in self.named_parameters())

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """The parameters with their names."""
        for name in self.graph_signature.parameters:
            found: Any = self.state_dict[name]
            yield name, found

    def buffers(self) -> Iterator[Tensor]:
        """The buffers."""
        return (b for _, b in self.named_buffers())

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their names."""
        lost = set(self.graph_signature.non_persistent_buffers)
        for name in self.graph_signature.buffers:
            yield name, (self.constants if name in lost else self.state_dict)[name]

    def module(self) -> nn.Module:
        """A module that computes what the exported one did, and shares its tensors. AssertionError
        for arguments for which the program is not right: other sizes, dtypes or Python values.
        """
        from ._program_module import ProgramModule  # late: it runs programs

        return ProgramModule(self)

    def run_decompositions(
        self,
        decomp_table: Mapping[Any, Callable[..., Any]] | None = None,
        decompose_custom_triton_ops: bool = False,
    ) -> ExportedProgram:
        """A program in which functions of `decomp_table` run in place of their operators, and no
        operator writes into its arguments: new values of buffers, parameters and arguments are
        outputs, before the results, and `graph_signature` says of what each is.

        `decomp_table` is `default_decompositions()` if None, which takes operators apart that are made
        of others (`conv2d`, `layer_norm`); with {} all of them stay. The program that `module()` gives
        writes what this one wrote. The tensors are shared with this program.

        NotImplementedError for an operator that the table keeps and that cannot be kept, and for
        `decompose_custom_triton_ops`; UserError if a function of the table fixes a size; RuntimeError
        if it runs its own operator without end.

        >>> import taeda
        >>> from taeda import nn
        >>> from taeda.export import export
        >>> ep = export(nn.Conv2d(1, 1, 3), (taeda.ones(1, 1, 4, 4),)).run_decompositions()
        >>> [str(n.target) for n in ep.graph.nodes if n.op == "call_function"]
        ['aten.convolution.default']
        """
        if decompose_custom_triton_ops:
            raise NotImplementedError(
                "run_decompositions: there are no operators of Triton in a program, so "
                "decompose_custom_triton_ops must be False"
            )
        return _decomposed(self, decomp_table)

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(
            "an ExportedProgram is data and cannot be called: call what its module() gives"
        )

    def __str__(self) -> str:
        code = self.graph_module.code.strip().replace("\n", "\n    ")
        ranges = ", ".join(f"{n}: {_range(r)}" for n, r in self.range_constraints.items())
        return (
            f"ExportedProgram:\n    {code}\n\nGraph signature:\n{self.graph_signature}\n"
            f"Range constraints: {{{ranges}}}\n"
        )


def _range(limits: ValueRanges) -> str:
    upper = "int_oo" if limits.upper == math.inf else limits.upper
    return f"VR[{limits.lower}, {upper}]"


def default_decompositions() -> Any:
    """The table that `run_decompositions` uses: all operators that are made of others, a
    `CustomDecompTable`. Delete an operator from it to keep it in the program.

    >>> import taeda
    >>> taeda.ops.aten.layer_norm.default in default_decompositions()
    True
    """
    from .decomp_utils import CustomDecompTable

    return CustomDecompTable()


def _decomposed(program: ExportedProgram, table: Any) -> ExportedProgram:
    from ._decompositions import decomposed  # late: it makes programs

    return decomposed(program, table)
