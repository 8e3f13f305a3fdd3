"""Where a model differs from its program: `find_mismatch` halves the program until one node is left.

Each part gets the true values of what it reads, so a fault of one part is not seen in another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import taeda
import taeda.export
from taeda import Tensor, nn
from taeda._core_api.trees import tree_flatten
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.interpreter import Interpreter
from taeda.fx.node import Node

from .._export import export
from .._modes import TrainingMode, select_model_mode_for_export
from .._program import ONNXProgram
from .._verify import run_apart
from ..errors import OnnxExporterError
from ._cases import OnnxTestCaseRepro
from ._checks import VerificationOptions, difference

__all__ = ["GraphInfo", "GraphInfoPrettyPrinter", "find_mismatch", "verify_aten_graph"]


@dataclass
class GraphInfo:
    """A part of a program, and whether its model gives the same: a graph of `taeda.fx`, the tensors
    that it gets (`input_args` are what calls of it differ in, `params_dict` the weights, by name of
    the node), `mismatch_error` or None, its results `pt_outs`, and both halves where it was halved.
    `id` is a text of U and L: which half of which half it is.

    >>> from taeda.export import export
    >>> graph = export(taeda.nn.ReLU(), (taeda.ones(2),)).graph
    >>> info = GraphInfo(graph, (taeda.ones(2),))
    >>> info.essential_node_count(), info.has_mismatch()
    (1, False)
    """

    graph: Graph
    input_args: tuple[Any, ...]
    params_dict: dict[str, Any] = field(default_factory=dict)
    export_options: dict[str, Any] = field(default_factory=dict)
    mismatch_error: AssertionError | None = None
    pt_outs: Sequence[Tensor] | None = None
    upper_graph_info: GraphInfo | None = None
    lower_graph_info: GraphInfo | None = None
    id: str = ""

    def clear(self) -> None:
        """Forget what was found."""
        self.mismatch_error = self.pt_outs = None
        self.upper_graph_info = self.lower_graph_info = None

    # ---- what was found ----

    def has_mismatch(self) -> bool:
        """Whether the model of this part differs."""
        return self.mismatch_error is not None

    def essential_node_count(self) -> int:
        """The operators of this part."""
        return len(_steps(self.graph))

    def essential_node_kinds(self) -> set[str]:
        """The rows of this part, like 'aten.relu.default'."""
        return {str(node.target) for node in _steps(self.graph)}

    def all_mismatch_leaf_graph_info(self) -> list[GraphInfo]:
        """The smallest parts that differ."""
        if not self.has_mismatch():
            return []
        halves = (self.upper_graph_info, self.lower_graph_info)
        found = [leaf for half in halves if half for leaf in half.all_mismatch_leaf_graph_info()]
        return found or [self]

    def find_partition(self, id: str) -> GraphInfo | None:
        """The part of this id, from here down."""
        if id == self.id:
            return self
        for half in (self.upper_graph_info, self.lower_graph_info):
            if half is not None and id.startswith(half.id):
                return half.find_partition(id)
        return None

    def pretty_print_tree(self) -> None:
        """Print which parts were tried, and which differ."""
        GraphInfoPrettyPrinter(self).pretty_print()

    def pretty_print_mismatch(self, graph: bool = False) -> None:
        """Print the smallest parts that differ; with `graph` their programs."""
        for leaf in self.all_mismatch_leaf_graph_info():
            print(
                f"part {leaf.id or 'as a whole'}: {', '.join(sorted(leaf.essential_node_kinds()))}"
            )
            print(f"  {leaf.mismatch_error}")
            if graph:
                print(leaf.graph)

    def export_repro(self, repro_dir: str | None = None, name: str | None = None) -> str:
        """Write this part as a case of ONNX's tests into a folder (that of now by default)."""
        made, leaves = _made(self)
        return OnnxTestCaseRepro.create_test_case_repro(
            b"".join(made.model.pieces()),
            leaves,
            list(self.pt_outs or _run(self)),
            repro_dir or ".",
            name=name or f"mismatch_{self.id or 'whole'}",
        )

    # ---- the search ----

    def find_mismatch(self, options: VerificationOptions | None = None) -> None:
        """Compare this part; where it differs, its halves."""
        self.clear()
        self.pt_outs, self.mismatch_error = _compared(self, options or VerificationOptions())
        steps = _steps(self.graph)
        if self.mismatch_error is None or len(steps) < 2:
            return
        values = _Values(GraphModule(nn.Module(), self.graph))
        values.seen(self)
        half = len(steps) // 2
        self.upper_graph_info = _part(self, steps[:half], values.known, "U")
        self.lower_graph_info = _part(self, steps[half:], values.known, "L")
        for part in (self.upper_graph_info, self.lower_graph_info):
            part.find_mismatch(options)


class GraphInfoPrettyPrinter:
    """Prints the parts of a search, one a line: its id, its number of operators, and whether it
    differs.

    >>> from taeda.export import export
    >>> graph = export(taeda.nn.ReLU(), (taeda.ones(2),)).graph
    >>> GraphInfoPrettyPrinter(GraphInfo(graph, (taeda.ones(2),))).pretty_print()
    whole (1 nodes: aten.relu.default) is right
    """

    def __init__(self, graph_info: GraphInfo | None) -> None:
        self.graph_info = graph_info

    def lines(self) -> list[str]:
        """The lines."""
        return [] if self.graph_info is None else _tree(self.graph_info, 0)

    def pretty_print(self) -> None:
        """Print them."""
        print("\n".join(self.lines()))


def _tree(info: GraphInfo, depth: int) -> list[str]:
    kinds = Counter(str(n.target) for n in _steps(info.graph))
    alone = f": {next(iter(kinds))}" if len(kinds) == 1 else ""
    said = "differs" if info.has_mismatch() else "is right"
    count = info.essential_node_count()
    line = f"{'  ' * depth}{info.id or 'whole'} ({count} nodes{alone}) {said}"
    halves = [h for h in (info.upper_graph_info, info.lower_graph_info) if h is not None]
    return [line, *(text for half in halves for text in _tree(half, depth + 1))]


def find_mismatch(
    model: nn.Module,
    input_args: Any,
    do_constant_folding: bool = True,
    training: TrainingMode = TrainingMode.EVAL,
    opset_version: int | None = None,
    keep_initializers_as_inputs: bool = True,
    verbose: bool = False,
    options: VerificationOptions | None = None,
) -> GraphInfo:
    """Compare a module with its model, and where they differ its halves, down to single operators.
    Views and writes in place are values of their own here, as in the model. `verbose` prints what was
    found. Errors are those of `export`.

    >>> import taeda
    >>> found = find_mismatch(taeda.nn.Linear(3, 2), (taeda.ones(1, 3),))  # doctest: +SKIP
    >>> found.has_mismatch()  # doctest: +SKIP
    False
    """
    args = input_args if isinstance(input_args, tuple) else (input_args,)
    with select_model_mode_for_export(model, TrainingMode(training)):
        program = taeda.export.export(model, args).run_decompositions({})
    leaves = iter(tree_flatten(program.example_inputs)[0])
    inputs: list[Any] = []
    weights: dict[str, Any] = {}
    nodes = program.graph.find_nodes(op="placeholder")
    for node, spec in zip(nodes, program.graph_signature.input_specs, strict=True):
        if spec.target is None:
            inputs.append(next(leaves))
            continue
        kept = program.state_dict.get(str(spec.target))
        weights[node.name] = program.constants[str(spec.target)] if kept is None else kept
    chosen = {"opset_version": opset_version, "do_constant_folding": do_constant_folding}
    chosen["keep_initializers_as_inputs"] = keep_initializers_as_inputs
    info = GraphInfo(program.graph, tuple(inputs), weights, chosen)
    info.find_mismatch(options)
    if verbose:
        info.pretty_print_tree()
        info.pretty_print_mismatch()
    return info


def verify_aten_graph(
    graph: Graph,
    input_args: tuple[Any, ...],
    export_options: Mapping[str, Any],
    params_dict: dict[str, Any] | None = None,
    verification_options: VerificationOptions | None = None,
) -> tuple[AssertionError | None, Graph, ONNXProgram | None]:
    """Compare a graph of operators with its model for these inputs; `params_dict` has those of its
    inputs that are weights, by name. What differs (None if nothing does), the graph, and the model
    (None if it has none).

    >>> import taeda
    >>> program = taeda.export.export(taeda.nn.ReLU(), (taeda.ones(2),)).run_decompositions({})
    >>> error, _, made = verify_aten_graph(program.graph, (taeda.ones(2),), {})  # doctest: +SKIP
    >>> error is None, made is not None  # doctest: +SKIP
    (True, True)
    """
    info = GraphInfo(graph, tuple(input_args), dict(params_dict or {}), dict(export_options))
    _, error = _compared(info, verification_options or VerificationOptions())
    try:
        made, _ = _made(info)
    except OnnxExporterError:
        return error, graph, None
    return error, graph, made


# ---- parts ----


def _steps(graph: Graph) -> list[Node]:
    return [n for n in graph.nodes if n.op not in ("placeholder", "output")]


def _flat(info: GraphInfo) -> list[Any]:
    """A value for each input of the graph."""
    rest = iter(info.input_args)
    names = [n.name for n in info.graph.find_nodes(op="placeholder")]
    return [info.params_dict[n] if n in info.params_dict else next(rest) for n in names]


class _Values(Interpreter):
    """Runs a graph and keeps what every node gives."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.known: dict[str, Any] = {}

    def seen(self, info: GraphInfo) -> Any:
        """The results; after it `known` has all values by name."""
        with taeda.no_grad():
            return self.run(*(v.clone() if isinstance(v, Tensor) else v for v in _flat(info)))

    def run_node(self, n: Node) -> Any:
        made = super().run_node(n)
        self.known[n.name] = made
        return made


def _run(info: GraphInfo) -> list[Tensor]:
    made = _Values(GraphModule(nn.Module(), info.graph)).seen(info)
    return [v for v in tree_flatten(made)[0] if isinstance(v, Tensor)]


def _part(whole: GraphInfo, nodes: list[Node], known: Mapping[str, Any], letter: str) -> GraphInfo:
    """A part of the nodes, which gets the values that it reads from elsewhere."""
    inside = set(nodes)
    graph = Graph()
    copies: dict[Node, Any] = {}
    inputs: list[Any] = []
    weights: dict[str, Any] = {}
    for node in nodes:
        for read in node.all_input_nodes:
            if read in inside or read in copies:
                continue
            value = known[read.name]
            if not isinstance(value, Tensor):
                copies[read] = _plain(graph, read, copies, inputs, known)
                continue
            copies[read] = graph.placeholder(read.name)
            if read.name in whole.params_dict:
                weights[read.name] = value
            else:
                inputs.append(value)
    for node in nodes:
        copies[node] = graph.node_copy(node, lambda n: copies[n])
    ends = [n for n in nodes if not n.users or any(u not in inside for u in n.users)]
    results = [copies[n] for n in ends if isinstance(known[n.name], Tensor)]
    graph.output(tuple(results))
    return GraphInfo(graph, tuple(inputs), weights, whole.export_options, id=f"{whole.id}{letter}")


def _plain(graph: Graph, node: Node, copies: Any, inputs: list[Any], known: Any) -> Any:
    """A number, or a list of results: as constants, for a part gets tensors alone."""
    value = known[node.name]
    if isinstance(value, list | tuple):
        made = []
        for k, one in enumerate(value):
            made.append(graph.placeholder(f"{node.name}_{k}"))
            inputs.append(one)
        return made
    return value


class _Whole(nn.Module):
    """A graph as a module with weights, so that a model of it has them as weights."""

    def __init__(self, info: GraphInfo) -> None:
        super().__init__()
        self.body = GraphModule(nn.Module(), info.graph)
        self.order = [n.name for n in info.graph.find_nodes(op="placeholder")]
        self.weights = set(info.params_dict)
        for name, value in info.params_dict.items():
            self.register_buffer(name, value.detach())

    def forward(self, *inputs: Any) -> Any:
        """The graph's results."""
        rest = iter(inputs)
        buffers = dict(self.named_buffers())
        return self.body(*(buffers[n] if n in self.weights else next(rest) for n in self.order))


def _made(info: GraphInfo) -> tuple[ONNXProgram, list[Tensor]]:
    """The model of a part, and its inputs."""
    made = export(_Whole(info).eval(), info.input_args, verify=False, **_chosen(info))
    assert made is not None
    return made, [v for v in info.input_args if isinstance(v, Tensor)]


def _chosen(info: GraphInfo) -> dict[str, Any]:
    """The options that make a difference to a model in memory."""
    return {k: v for k, v in info.export_options.items() if k != "keep_initializers_as_inputs"}


def _compared(
    info: GraphInfo, options: VerificationOptions
) -> tuple[list[Tensor], AssertionError | None]:
    wanted = _run(info)
    try:
        made, leaves = _made(info)
        (got,) = run_apart(made.model, [leaves], backend=options.backend.value)
    except OnnxExporterError as error:
        return wanted, AssertionError(str(error))
    found = difference([taeda.from_numpy(v) for v in got], wanted, options)
    return wanted, None if found is None else AssertionError(found)
