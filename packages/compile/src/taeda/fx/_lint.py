"""What holds in every well-formed graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .node import OPCODES, Node, map_arg

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["has_attribute", "lint"]


def lint(graph: Graph) -> None:
    """RuntimeError, with the node, for the first thing that is wrong."""
    seen: dict[Node, None] = {}
    names: set[str] = set()
    ended: Node | None = None
    for node in graph.nodes:
        _check_own(graph, node, names)
        if ended is not None:
            raise RuntimeError(f"Node '{node}' stands after the output '{ended}'")
        for name, argument in _inputs(node):
            _check_input(graph, node, name, argument, seen)
        seen[node] = None
        ended = node if node.op == "output" else None
    _check_users(graph)
    if graph.owning_module is not None:
        for node in graph.nodes:
            _check_target(graph.owning_module, node)


def _check_own(graph: Graph, node: Node, names: set[str]) -> None:
    if node.op not in OPCODES:
        raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
    if node.graph is not graph:
        raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
    if node.name in names:
        raise RuntimeError(f"Node redefined name {node.name}!")
    names.add(node.name)


def _inputs(node: Node) -> list[tuple[str, Node]]:
    found: list[tuple[str, Node]] = []

    def note(n: Node) -> Node:
        found.append((n.name, n))
        return n

    map_arg((node.args, node.kwargs), note)
    return found


def _check_input(
    graph: Graph, node: Node, name: str, argument: Node, seen: dict[Node, None]
) -> None:
    if argument.graph is not graph:
        raise RuntimeError(
            f"Argument '{name}' of Node '{node}' does not belong to this Graph, but was used as an argument! "
            "If you are copying nodes from another graph, make sure to use `arg_transform` on "
            "node_copy() to remap values"
        )
    if argument._erased:
        raise RuntimeError(f"Argument '{name}' of Node '{node}' was erased from this Graph")
    if argument not in seen:
        raise RuntimeError(
            f"Argument '{name}' of Node '{node}' was used before it has been defined! "
            f"Please check that Nodes in the graph are topologically ordered\n{graph}"
        )
    if node not in argument.users or argument not in node._inputs:
        raise RuntimeError(f"Node '{node}' uses '{name}', which does not list it among its users")


def _check_users(graph: Graph) -> None:
    for node in graph.nodes:
        for user in node.users:
            if user._erased or user.graph is not graph or node not in user._inputs:
                raise RuntimeError(f"Node '{node}' lists '{user}' among its users, which it is not")


def has_attribute(module: Any, path: str) -> bool:
    """Whether there is something at the dotted path."""
    for part in path.split("."):
        if not hasattr(module, part):
            return False
        module = getattr(module, part)
    return True


def _check_target(owner: Any, node: Node) -> None:
    if node.op not in ("get_attr", "call_module"):
        return
    place, path = owner, ""
    for part in str(node.target).split("."):
        if not hasattr(place, part):
            raise RuntimeError(
                f"Node {node} target {node.target} references nonexistent attribute {part} of "
                f"{path or type(owner).__name__}"
            )
        place, path = getattr(place, part), f"{path}.{part}".lstrip(".")
    from taeda import nn

    if node.op == "call_module" and not isinstance(place, nn.Module):
        raise RuntimeError(
            f"Node {node} {node.op} target {node.target} does not reference an nn.Module"
        )
