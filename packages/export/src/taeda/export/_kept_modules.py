"""Modules of parts of a graph: such as take what their part reads, and such as take the arguments that
the module had when it was exported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from taeda import nn
from taeda._core_api.trees import TreeSpec, tree_flatten, tree_unflatten
from taeda.fx.graph import Graph
from taeda.fx.interpreter import Interpreter
from taeda.fx.node import Node

from ._module_calls import ModuleCallSignature
from .graph_signature import ArgumentSpec, ConstantArgument

__all__ = ["InterpreterModule", "KeptCall", "KeptCallModule"]


class InterpreterModule(nn.Module):
    """A module that runs `graph` node by node, so an error names its node. What the graph names by
    `get_attr` and `call_module` are members of the module. `ty` is the class it stands for.

    >>> from taeda.export import export, unflatten
    >>> ep = export(nn.Sequential(nn.Linear(3, 2), nn.ReLU()), (taeda.ones(4, 3),))
    >>> part = unflatten(ep).get_submodule("0")
    >>> type(part).__name__, part.type_name()
    ('InterpreterModule', 'Linear')
    """

    def __init__(self, graph: Graph, ty: str | None = None) -> None:
        super().__init__()
        self.graph = graph
        self._ty = ty

    def type_name(self) -> str | None:
        """The class of the module that it stands for."""
        return self._ty

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The graph's result. Arguments by name follow the others in the order of the graph. TypeError
        for names and numbers of arguments that it has not.
        """
        names = [str(n.target) for n in self.graph.find_nodes(op="placeholder")]
        rest = names[len(args) :]
        if len(args) > len(names) or set(rest) != set(kwargs):
            raise TypeError(
                f"the module takes {names}, got {len(args)} arguments and {sorted(kwargs)} by name"
            )
        return Interpreter(self, graph=self.graph).run(*args, *(kwargs[n] for n in rest))


class KeptCallModule(InterpreterModule):
    """A module that is called as `signature` says. The graph takes the tensors of the arguments, each
    once, and gives those of the results.
    """

    def __init__(self, graph: Graph, ty: str | None, signature: ModuleCallSignature) -> None:
        super().__init__(graph, ty)
        self._signature = signature

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module gave. TypeError for arguments of another tree, ValueError for another number
        or text than the exported call had.
        """
        call = self._signature
        leaves = _as(call.in_spec, (args, kwargs), f"{self._ty} gets arguments")
        given: dict[str, Any] = {}
        for arg, leaf in zip(call.inputs, leaves, strict=True):
            if not isinstance(arg, ConstantArgument):
                given.setdefault(arg.name, leaf)
            elif type(leaf) is not type(arg.value) or leaf != arg.value:
                raise ValueError(
                    f"{self._ty} was exported with {arg.value!r}, got {leaf!r:.80}: the program holds "
                    "for that value"
                )
        tensors = iter(Interpreter(self, graph=self.graph).run(*given.values()))
        results = [
            a.value if isinstance(a, ConstantArgument) else next(tensors) for a in call.outputs
        ]
        return tree_unflatten(results, call.out_spec)


class KeptCall:
    """One call of a module whose arguments and results are known, as nodes of the program."""

    def __init__(self, signature: ModuleCallSignature, nodes: Mapping[str, Node]) -> None:
        self.signature = signature
        self.parts = 0  # how often its nodes were made a module
        self.inputs, self.outputs = (
            [nodes[a.name] for a in args if not isinstance(a, ConstantArgument)]
            for args in (signature.inputs, signature.outputs)
        )

    def called(
        self, graph: Graph, path: str, env: dict[Node, Node], value: Callable[[Node], Node]
    ) -> None:
        """The call in `graph` of the module at `path`; `env` gets what is read of it."""
        rest = iter(self.inputs)
        leaves = [_leaf(a, rest, value) for a in self.signature.inputs]
        spec = self.signature.in_spec
        positions, names = spec.child(0).children(), spec.child(1)
        given = iter(leaves)
        args = tuple(_tree(graph, child, given) for child in positions)
        children = zip(names.context, names.children(), strict=True)
        kwargs = {name: _tree(graph, child, given) for name, child in children}
        result = graph.call_module(path, args, kwargs)
        flat = graph.call_function(_leaves_of, (result, self.signature.out_spec))
        nodes = iter(self.outputs)
        for k, arg in enumerate(self.signature.outputs):
            if isinstance(arg, ConstantArgument):
                continue
            node = next(nodes)
            if node not in env:  # what is passed on stays what it was
                env[node] = graph.call_function(_part, (flat, k))


def _leaf(arg: ArgumentSpec, rest: Any, value: Callable[[Node], Node]) -> Any:
    return arg.value if isinstance(arg, ConstantArgument) else value(next(rest))


def _tree(graph: Graph, spec: TreeSpec, leaves: Any) -> Any:
    """The next leaves as a tree, made when the graph runs; a leaf is itself."""
    if spec.is_leaf():
        return next(leaves)
    mine = [next(leaves) for _ in range(spec.num_leaves)]
    return graph.call_function(_tree_of, (mine, spec))


def _tree_of(leaves: Any, spec: TreeSpec) -> Any:
    return tree_unflatten(list(leaves), spec)


def _leaves_of(value: Any, spec: TreeSpec) -> list[Any]:
    return _as(spec, value, "the module gives a result")


def _as(spec: TreeSpec, value: Any, said: str) -> list[Any]:
    """The leaves of a value in the order of `spec`; keys of dicts may come in another one."""
    try:
        leaves = spec.flatten_up_to(value)
    except ValueError:
        leaves = None
    if leaves is None or not all(tree_flatten(leaf)[1].is_leaf() for leaf in leaves):
        raise TypeError(
            f"{said} of the tree {tree_flatten(value)[1]}; in the exported program it was {spec}"
        )
    return leaves


def _part(parts: Any, k: int) -> Any:
    return parts[k]
