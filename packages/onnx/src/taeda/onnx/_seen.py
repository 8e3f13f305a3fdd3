"""A run of a program's graph that leaves its weights as they are."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.export import ExportedProgram
from taeda.export.graph_signature import OutputKind
from taeda.fx.interpreter import Interpreter
from taeda.fx.node import Node

from ._numbers import as_tensor

__all__ = ["Seen"]


class Seen(Interpreter):
    """Runs a program on copies of what it may write. With `keep`, `values` has a copy of what every
    node gives: later nodes may write it.
    """

    def __init__(self, program: ExportedProgram, *, keep: bool = False) -> None:
        super().__init__(program.graph_module)
        self.program, self.keep = program, keep
        self.values: dict[str, Tensor] = {}

    def results(self, leaves: list[Any]) -> list[Tensor]:
        """What the program gives for these arguments, sizes as tensors, then its new values; constants
        are none of it.
        """
        program = self.program
        flat = []
        rest = iter(leaves)
        for spec in program.graph_signature.input_specs:
            if spec.target is None:
                given = next(rest)
                flat.append(given.clone() if isinstance(given, Tensor) else given)
                continue
            found = program.state_dict.get(spec.target)
            flat.append((program.constants[spec.target] if found is None else found).clone())
        with taeda.no_grad():
            made = self.run(*flat)
        specs = program.graph_signature.output_specs
        mine = [s.kind is OutputKind.USER_OUTPUT for s in specs]
        values: Any = program.graph.output_node().args[0]
        ordered = sorted(zip(mine, made, values, strict=True), key=lambda one: not one[0])
        return [as_tensor(v) for _, v, node in ordered if isinstance(node, Node)]

    def run_node(self, n: Node) -> Any:
        made = super().run_node(n)
        if self.keep and isinstance(made, Tensor):
            self.values[n.name] = made.clone()
        return made
