"""Constants of a graph as inputs of it, and inputs that are no tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from taeda import Tensor
from taeda.compiler._errors import UserError
from taeda.fx.experimental._expressions import constant
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

from ._functions import of_functions_lifted
from .graph_signature import ExportGraphSignature, InputKind, InputSpec, TensorArgument

__all__ = ["constants_lifted", "placeholder_after"]


def constants_lifted(
    gm: GraphModule, users: list[Any], made: ExportGraphSignature, taken: Iterable[str] = ()
) -> dict[str, Tensor]:
    """Constants of the graph as inputs, which lie between the state and the arguments `users`. Their
    names are none of `taken`.
    """
    found: dict[str, Tensor] = {}
    first = users[0] if users else None
    free = (name for k in range(10**9) if (name := f"lifted_tensor_{k}") not in set(taken))
    of_functions_lifted(gm)
    for node in list(gm.graph.find_nodes(op="get_attr")):
        value = getattr(gm, str(node.target))
        if isinstance(value, GraphModule):  # a branch, or what a loop does
            continue
        if not isinstance(value, Tensor):
            raise UserError(f"the program holds a {type(value).__name__}, which no graph has")
        name = next(free)
        state = list(gm.graph.find_nodes(op="placeholder"))
        place = gm.graph.inserting_before(first or next(iter(gm.graph.nodes)))
        if first is None and state:
            place = gm.graph.inserting_after(state[-1])
        with place:
            made_node = gm.graph.placeholder(f"c_{name}")
        made_node.meta["val"] = found[name] = value.detach()
        made_node.meta["shape"] = tuple(map(constant, value.shape))
        node.replace_all_uses_with(made_node)
        gm.graph.erase_node(node)
        made.input_specs.append(
            InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(made_node.name), name)
        )
    return found


def placeholder_after(graph: Graph, place: Node | None, name: str) -> Node:
    """A placeholder behind `place`; the first one if that is None."""
    with graph.inserting_after(place) if place else graph.inserting_before(None):
        return graph.placeholder(name)
