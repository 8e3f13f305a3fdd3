"""Simpler graphs for inference: batch normalization folded into the layer before it, dropout taken out."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from taeda import nn
from taeda.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

from .._symbolic_trace import symbolic_trace
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node

__all__ = [
    "extract_subgraph",
    "fuse",
    "matches_module_pattern",
    "remove_dropout",
    "replace_node_module",
]

#: a layer and the normalization behind it that fold into one layer
_PAIRS: tuple[tuple[type[nn.Module], type[nn.Module]], ...] = (
    (nn.Conv1d, nn.BatchNorm1d),
    (nn.Conv2d, nn.BatchNorm2d),
    (nn.Conv3d, nn.BatchNorm3d),
    (nn.Linear, nn.BatchNorm1d),
)
_DROPOUTS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout)


def matches_module_pattern(
    pattern: Iterable[type], node: Node, modules: Mapping[str, nn.Module]
) -> bool:
    """Whether `node` calls a module of the pattern's last class, on the result of one of its first.

    Args:
        pattern: two classes of modules, exactly those of the calls
        node: of the graph
        modules: of the graph's module, by their paths (`dict(module.named_modules())`)

    >>> from taeda import nn
    >>> from taeda.fx import symbolic_trace
    >>> traced = symbolic_trace(nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1)))
    >>> places = dict(traced.named_modules())
    >>> [matches_module_pattern((nn.Conv2d, nn.BatchNorm2d), n, places) for n in traced.graph.nodes]
    [False, False, True, False]
    """
    if not node.args:
        return False
    calls = (node.args[0], node)
    for kind, call in zip(pattern, calls, strict=True):
        if not isinstance(call, Node) or call.op != "call_module":
            return False
        if type(modules.get(str(call.target))) is not kind:
            return False
    return True


def replace_node_module(node: Node, modules: dict[str, nn.Module], new_module: nn.Module) -> None:
    """Let the node's path lead to another module.

    Args:
        node: a call_module
        modules: of the graph's module, by their paths; the entry of the path changes too
        new_module: what stands there from now on

    >>> from taeda import nn
    >>> from taeda.fx import symbolic_trace
    >>> traced = symbolic_trace(nn.Sequential(nn.ReLU()))
    >>> node = list(traced.graph.nodes)[1]
    >>> replace_node_module(node, dict(traced.named_modules()), nn.Tanh())
    >>> traced.get_submodule("0")
    Tanh()
    """
    path = str(node.target)
    if node.op != "call_module" or path not in modules:
        raise ValueError(f"replace_node_module: {node} calls no module of these, but {path!r}")
    parent, _, name = path.rpartition(".")
    modules[path] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: nn.Module, inplace: bool = False, no_trace: bool = False) -> nn.Module:
    """Fold batch normalization into the convolution or the linear layer before it, for inference.

    A pair is folded where the layer's result goes to the normalization alone, both are called once,
    both are in eval mode, and the normalization has running statistics. A linear layer's pair is
    folded too, since its input has two dimensions then. Other pairs stay.

    Args:
        model: recorded by `symbolic_trace`, unless it is a GraphModule and `no_trace` is True
        inplace: whether modules of `model` itself are replaced (default: False, a copy's)
        no_trace: take the graph that `model` has (default: False)

    Raises:
        TraceError: the model cannot be recorded

    >>> from taeda import nn
    >>> model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()).eval()
    >>> print(fuse(model).code.strip())
    def forward(self, input):
        input_1 = input
        _0 = getattr(self, "0")(input_1);  input_1 = None
        _2 = getattr(self, "2")(_0);  _0 = None
        return _2
    """
    if not inplace:
        model = copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    graph = copy.deepcopy(traced.graph)
    modules = dict(traced.named_modules())
    calls = _calls(graph)
    for node in list(graph.nodes):
        for pattern in _PAIRS:
            if matches_module_pattern(pattern, node, modules) and _folds(node, modules, calls):
                _fold(graph, node, modules)
    return GraphModule(traced, graph)


def _calls(graph: Graph) -> dict[str, int]:
    """How many nodes call each module."""
    count: dict[str, int] = {}
    for node in graph.nodes:
        if node.op == "call_module":
            count[str(node.target)] = count.get(str(node.target), 0) + 1
    return count


def _folds(node: Node, modules: Mapping[str, nn.Module], calls: Mapping[str, int]) -> bool:
    before: Any = node.args[0]
    layer, norm = modules[str(before.target)], modules[str(node.target)]
    once = calls[str(before.target)] == calls[str(node.target)] == 1 and len(before.users) == 1
    plain = not any(
        m._forward_hooks or m._forward_pre_hooks or hasattr(m, "parametrizations")
        for m in (layer, norm)
    )
    kept = getattr(norm, "running_mean", None) is not None
    return once and plain and kept and not (layer.training or norm.training)


def _fold(graph: Graph, node: Node, modules: dict[str, nn.Module]) -> None:
    before: Any = node.args[0]
    layer, norm = modules[str(before.target)], modules[str(node.target)]
    folded = (fuse_linear_bn_eval if type(layer) is nn.Linear else fuse_conv_bn_eval)(layer, norm)
    replace_node_module(before, modules, folded)
    node.replace_all_uses_with(before)
    graph.erase_node(node)


def remove_dropout(model: nn.Module) -> nn.Module:
    """The model's graph without its dropout layers.

    Args:
        model: recorded by `symbolic_trace`; it stays as it is

    >>> from taeda import nn
    >>> print(remove_dropout(nn.Sequential(nn.Linear(2, 2), nn.Dropout())).code.strip())
    def forward(self, input):
        input_1 = input
        _0 = getattr(self, "0")(input_1);  input_1 = None
        return _0
    """
    traced = symbolic_trace(model)
    modules = dict(traced.named_modules())
    graph = copy.deepcopy(traced.graph)
    for node in list(graph.nodes):
        if node.op == "call_module" and isinstance(modules[str(node.target)], _DROPOUTS):
            (given,) = node.all_input_nodes
            node.replace_all_uses_with(given)
            graph.erase_node(node)
    return GraphModule(traced, graph)


def extract_subgraph(
    orig_module: nn.Module,
    nodes: Sequence[Node],
    inputs: Sequence[Node],
    outputs: Sequence[Node],
) -> GraphModule:
    """A module that computes part of a graph.

    Args:
        orig_module: has the modules and parameters that the nodes name
        nodes: what is computed, in the order of their graph
        inputs: whose values the new module takes, in this order
        outputs: whose values it returns, as a tuple

    Raises:
        ValueError: a node takes what neither `nodes` nor `inputs` have

    >>> from taeda import nn
    >>> from taeda.fx import symbolic_trace
    >>> traced = symbolic_trace(lambda x: (x + 1).relu() * 2)
    >>> x, more, relu, *_ = traced.graph.nodes
    >>> print(extract_subgraph(traced, [relu], [more], [relu]).code.strip())
    def forward(self, add):
        relu = add.relu();  add = None
        return (relu,)
    """
    graph = Graph()
    known = {node: graph.placeholder(node.name) for node in inputs}

    def copied(node: Node) -> Node:
        if node not in known:
            raise ValueError(f"extract_subgraph: {node} is computed elsewhere: name it in inputs")
        return known[node]

    for node in nodes:
        known[node] = graph.node_copy(node, copied)
    graph.output(tuple(copied(node) for node in outputs))
    graph.lint()
    return GraphModule(orig_module, graph)
