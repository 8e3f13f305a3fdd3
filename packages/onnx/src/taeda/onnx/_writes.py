"""Writes in place, in a model whose values nobody writes."""

from __future__ import annotations

from typing import Any

from taeda.export import ExportedProgram
from taeda.fx.node import Node

from ._context import Context
from ._rules import FRESH

__all__ = ["Groups", "in_place", "needs_new_values"]

_WRITERS = {"aten.batch_norm.default"}  # rows whose rule gives what they write


def in_place(target: Any) -> bool:
    """Whether an operator gives its first argument, which it wrote."""
    return str(target).removeprefix("aten.").partition(".")[0].endswith("_")


def needs_new_values(program: ExportedProgram) -> bool:
    """Whether a program writes what another tensor shows, or an argument, parameter or buffer. As
    `run_decompositions` traces it, it writes nothing: the new values are outputs.
    """
    groups = Groups()
    for node in program.graph.nodes:
        if node.op == "call_function":
            if groups.complaint(node):
                return True
            groups.enter(node)
    return False


class Groups:
    """Which results may share memory, so that a write in place is seen by nobody it is hidden from.

    ONNX has values only. A row in place gives a new value, and its tensor stands for that from there
    on. Another view of the same memory would still have the old one, so such a graph is refused,
    and so is one that writes its inputs. A row counts as a view unless its rule says otherwise.
    """

    def __init__(self) -> None:
        self.group: dict[Node, list[Node]] = {}
        self.same: dict[Node, list[Node]] = {}
        self.place: dict[Node, int] = {}

    def before(self, ctx: Context, node: Node) -> None:
        """OnnxExporterError for a write that another tensor sees."""
        if said := self.complaint(node):
            raise ctx.refuse(said)

    def complaint(self, node: Node) -> str:
        """Why a model cannot say what this writes; nothing if it can."""
        self.place[node] = len(self.place)
        target: Any = node.target
        schema = getattr(target, "_schema", None)
        writes = schema is not None and schema.is_mutable
        if writes and not in_place(target) and str(target) not in _WRITERS:
            return "this row writes its arguments, and ONNX has values only"
        return next(filter(None, map(self._complaint_of, _written(node))), "")

    def _complaint_of(self, written: Any) -> str:
        if not isinstance(written, Node):
            return "this row writes other tensors than its first argument"
        group = self.group.get(written, [written])
        if not all(n.op == "call_function" for n in group):
            return "the program writes an argument or a buffer: clone() it first"
        twins = self.same.get(written, [written])
        for other in group:
            if other not in twins and any(u not in self.place for u in other.users):
                return (
                    f"this writes memory that {other.name} shows too, and ONNX has no views: "
                    "write it without the view, or clone() before"
                )
        return ""

    def after(self, ctx: Context, node: Node) -> None:
        """Enter the result, and let a tensor that was written stand for its new value."""
        self.enter(node)
        if in_place(node.target):
            ctx.written[node.args[0]] = ctx.values[node]
        for written, value in ctx.written.items():
            for twin in self.same.get(written, [written]):
                ctx.values[twin] = value
        ctx.written.clear()

    def enter(self, node: Node) -> None:
        """Note what the result may share memory with."""
        if in_place(node.target):
            written: Any = node.args[0]
            twins = self.same.setdefault(written, [written])
            twins.append(node)
            self.same[node] = twins
        if str(node.target).removeprefix("aten.") in FRESH:
            return
        joined: list[Node] = []
        for member in (node, *node.all_input_nodes):
            joined += [n for n in self.group.get(member, [member]) if n not in joined]
        for member in joined:
            self.group[member] = joined


def _written(node: Node) -> list[Any]:
    """The arguments that a node writes."""
    if in_place(node.target):
        return [node.args[0]]
    if str(node.target) not in _WRITERS or node.args[5] is not True:
        return []
    return [v for v in node.args[3:5] if v is not None]
