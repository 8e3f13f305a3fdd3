"""Backends that count, for tests of programs that are compiled.

>>> import taeda
>>> counter = CompileCounter()
>>> f = taeda.compile(lambda x: (x + 1).relu(), backend=counter)
>>> f(taeda.tensor([-3.0, 3.0]))
tensor([0., 4.])
>>> counter.frame_count, counter.op_count
(1, 2)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import fx
from taeda.compiler._api.backends import lookup

__all__ = ["CompileCounter", "CompileCounterWithBackend"]


class CompileCounter:
    """Counts graphs and the operations in them, and runs each graph as it is."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin at zero."""
        self.frame_count = self.op_count = 0

    def __call__(self, gm: fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        self.frame_count += 1
        self.op_count += sum(node.op.startswith("call") for node in gm.graph.nodes)
        return self._inner(gm, example_inputs)

    def _inner(self, gm: fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        return gm


class CompileCounterWithBackend(CompileCounter):
    """The same before a registered backend or a function as backend; keeps the graphs in `graphs`."""

    def __init__(self, backend: str | Callable[..., Any]) -> None:
        found = lookup(backend)
        if not callable(found):
            raise TypeError(
                f"CompileCounterWithBackend: {backend!r} is built in and takes no graph; pass a "
                "function or a registered name"
            )
        self.backend: Callable[..., Any] = found
        super().__init__()

    def clear(self) -> None:
        """Begin at zero, without graphs."""
        super().clear()
        self.graphs: list[fx.GraphModule] = []

    def _inner(self, gm: fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        self.graphs.append(gm)
        made: Callable[..., Any] = self.backend(gm, example_inputs)
        return made
