"""A program whose nodes of one kind give way to others, and so do those of its inner functions."""

from __future__ import annotations

import copy
from collections.abc import Callable

from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

from .._functions import calls_functions, functions_of

__all__ = ["rewritten"]


def rewritten(
    gm: GraphModule,
    is_meant: Callable[[Node], object],
    replace: Callable[[GraphModule, Node], None],
) -> GraphModule:
    """The program itself where there is none of the nodes that are meant, else a copy without them.

    Args:
        gm: stays as it is.
        is_meant: asked of every node.
        replace: puts others in the place of one, in the copy.
    """
    functions = [f for n in gm.graph.nodes if calls_functions(n) for f in functions_of(gm, n)]
    inner = {id(f): made for f in functions if (made := rewritten(f, is_meant, replace)) is not f}
    if not inner and not any(is_meant(n) for n in gm.graph.nodes):
        return gm
    copied = GraphModule(gm, copy.deepcopy(gm.graph))
    for name, module in gm.named_children():
        if id(module) in inner:
            setattr(copied, name, inner[id(module)])
    for node in list(copied.graph.nodes):
        if is_meant(node):
            replace(copied, node)
    copied.graph.eliminate_dead_code()
    copied.recompile()
    return copied
