"""A program of operators with its tensors: what `export` gives and a .pt2 file holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from taeda import Tensor, nn, no_grad
from taeda._core_api.programs import storage_key
from taeda._core_api.trees import TreeSpec, tree_flatten, tree_unflatten
from taeda.fx.experimental._expressions import Expression
from taeda.fx.experimental._ranges import ValueRanges
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule

from ._dims import read_from, solved
from ._module_calls import ModuleCallEntry, ModuleCallSignature
from .graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
)

__all__ = [
    "ExportedProgram", "ModuleCallEntry", "ModuleCallSignature", "default_decompositions",
]  # fmt: skip


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
    ) -> None:
        self._graph_module = graph_module
        self._graph_signature = graph_signature
        self._state_dict, self._constants = state_dict, constants
        self._range_constraints, self._guards = range_constraints, guards
        self._in_spec, self._out_spec = specs
        self._example_inputs = example_inputs
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
    def module_call_graph(self) -> list[ModuleCallEntry]:
        """How the exported module is called: one entry, of the module itself, whose name is empty."""
        specs = self.graph_signature
        inputs = [s.arg for s in specs.input_specs if s.kind is InputKind.USER_INPUT]
        outputs = [s.arg for s in specs.output_specs if s.kind is OutputKind.USER_OUTPUT]
        call = ModuleCallSignature(inputs, outputs, self._in_spec, self._out_spec)
        return [ModuleCallEntry("", call)]

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
        return _Program(self)

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


class _Program(nn.Module):
    """The module of an exported program. The graph does not depend on the mode of training."""

    def __init__(self, program: ExportedProgram) -> None:
        super().__init__()
        object.__setattr__(self, "_program", program)
        for spec in program.graph_signature.input_specs:
            if spec.kind is not InputKind.USER_INPUT:
                self._enter(program, spec)

    def _enter(self, program: ExportedProgram, spec: InputSpec) -> None:
        *path, name = str(spec.target).split(".")
        owner: nn.Module = self
        for part in path:
            if part not in owner._modules:
                owner.add_module(part, nn.Module())
            owner = owner.get_submodule(part)
        kept = spec.kind is InputKind.PARAMETER or spec.persistent
        value = (program.state_dict if kept else program.constants)[str(spec.target)]
        if spec.kind is InputKind.PARAMETER:
            owner.register_parameter(name, value)  # type: ignore[arg-type]
        else:
            owner.register_buffer(name, value, persistent=bool(spec.persistent))

    def train(self, mode: bool = True) -> Any:
        """NotImplementedError: whether the program trains was decided when it was exported."""
        raise NotImplementedError(
            "train(): whether a program trains is decided when it is exported"
        )

    def eval(self) -> Any:
        """NotImplementedError, as for `train`."""
        raise NotImplementedError("eval(): whether a program trains is decided when it is exported")

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The program's results for these arguments."""
        program: ExportedProgram = self._program
        rest = iter(checked_leaves(program, args, kwargs))
        flat = []
        for entry in program.graph_signature.input_specs:
            mine = entry.kind is InputKind.USER_INPUT
            flat.append(next(rest) if mine else tensor_of(self, str(entry.target)))
        return results_of(self, program, flat, list(program.graph_module(*flat)))


def results_of(
    module: nn.Module, program: ExportedProgram, flat: list[Any], made: list[Any]
) -> Any:
    """The results of a run of the graph that got `flat` and gave `made`, as the tree of the program,
    after new values were written into what they are the values of: arguments, tensors of `module`.
    """
    signature = program.graph_signature
    given = {storage_key(t) for t in flat if isinstance(t, Tensor)}
    made = [
        # an input as it was before any of them is written
        v.clone() if s.kind is not OutputKind.USER_OUTPUT and storage_key(v) in given else v
        for s, v in zip(signature.output_specs, made, strict=True)
    ]
    arguments = {s.arg.name: t for s, t in zip(signature.input_specs, flat, strict=True)}
    results = []
    for spec, value in zip(signature.output_specs, made, strict=True):
        if spec.kind is OutputKind.USER_OUTPUT:
            results.append(value)
        elif spec.kind is OutputKind.PARAMETER_MUTATION:
            with no_grad():  # a leaf that wants gradients is written so only
                tensor_of(module, str(spec.target)).copy_(value)
        elif spec.kind is OutputKind.USER_INPUT_MUTATION:
            arguments[str(spec.target)].copy_(value)
        else:
            tensor_of(module, str(spec.target)).copy_(value)
    return tree_unflatten(results, program._out_spec)


def checked_leaves(program: ExportedProgram, args: Any, kwargs: dict[str, Any]) -> list[Any]:
    """The leaves of the arguments; AssertionError where the program is not right for them."""
    leaves, spec = tree_flatten((args, _in_order(program, kwargs)))
    if spec != program._in_spec:
        raise AssertionError(
            f"Guard failed: the arguments are {spec}, and the program was exported for "
            f"{program._in_spec}"
        )
    _check(program, leaves)
    return leaves


def _in_order(program: ExportedProgram, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name in the order in which they were exported."""
    names = _keyword_names(program._in_spec)
    return {n: kwargs[n] for n in names} if set(names) == set(kwargs) else kwargs


def _keyword_names(spec: TreeSpec) -> list[str]:
    context = spec.child(1).context
    return list(context or [])


def tensor_of(module: nn.Module, name: str) -> Any:
    *path, last = name.split(".")
    for part in path:
        module = module._modules[part]
    return getattr(module, last)


# ---- what must hold ----


def _check(program: ExportedProgram, leaves: list[Any]) -> None:
    """AssertionError for arguments for which the program is not right."""
    specs = [s for s in program.graph_signature.input_specs if s.kind is InputKind.USER_INPUT]
    inputs = list(program.graph.find_nodes(op="placeholder"))
    inputs = inputs[len(inputs) - len(specs) :]
    sizes: dict[str, int] = {}
    formulas: list[tuple[str, Expression, int]] = []
    for spec, node, value in zip(specs, inputs, leaves, strict=True):
        if isinstance(spec.arg, ConstantArgument):
            if type(value) is not type(spec.arg.value) or value != spec.arg.value:
                _fail(f"{spec.arg.name} == {spec.arg.value!r}, got {value!r}")
            continue
        _check_kind(spec.arg.name, value, node)
        for dim, (expr, size) in enumerate(zip(node.meta["shape"], value.shape, strict=True)):
            place = f"{spec.arg.name}.size()[{dim}]"
            name = read_from(expr)
            if name is not None and (found := solved(expr, size)) is not None:
                sizes.setdefault(name, found)
            formulas.append((place, expr, size))
    for place, expr, size in formulas:
        if not expr.symbols() <= sizes.keys() or expr.value(sizes) != size:
            _fail(f"{place} == {expr}{_where(expr, sizes)}, got {size}")
    _check_sizes(program, sizes)


def _check_kind(name: str, value: Any, node: Any) -> None:
    if not isinstance(value, Tensor):
        _fail(f"{name} is a tensor, got {type(value).__name__}")
    wanted = node.meta["val"]
    if value.dtype != wanted.dtype:
        _fail(f"{name}.dtype == {wanted.dtype}, got {value.dtype}")
    if value.dim() != len(node.meta["shape"]):
        _fail(f"{name}.dim() == {len(node.meta['shape'])}, got {value.dim()}")


def _check_sizes(program: ExportedProgram, sizes: dict[str, int]) -> None:
    for name, size in sizes.items():
        limits = program.range_constraints.get(name)
        if limits is not None and size not in limits:
            _fail(f"{name} is from {limits.lower} to {limits.upper}, got {size}")
    for guard in program._guards:
        if guard.symbols() <= sizes.keys() and not guard.value(sizes):
            _fail(f"{guard}, where {sizes}")


def _where(expr: Expression, sizes: dict[str, int]) -> str:
    names = sorted(expr.symbols() & sizes.keys())
    return f" ({', '.join(f'{n} is {sizes[n]}' for n in names)})" if names else ""


def _fail(said: str) -> NoReturn:
    raise AssertionError(f"Guard failed: {said}")


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
