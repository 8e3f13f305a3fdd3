"""A graph for any sizes that its guards allow, and only for those."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from taeda import Tensor
from taeda._core_api.trees import tensors_in
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.proxy import Proxy

from ._expressions import Expression
from .symbolic_shapes import ShapeEnv

__all__ = ["ForAnySize"]


def _proxies_in(value: Any) -> Iterator[Proxy]:
    if isinstance(value, Proxy):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _proxies_in(entry)


Shapes = tuple[tuple[Expression, ...], ...]


class ForAnySize(GraphModule):
    """What `make_fx(tracing_mode="symbolic")` gives. `shape_env` has the symbols of sizes and what
    must hold for them; a call with sizes for which it does not hold is a RuntimeError.
    """

    shape_env: ShapeEnv
    _sizes: Shapes  # of each tensor among the arguments, in order

    @classmethod
    def of(cls, root: Any, graph: Graph, env: ShapeEnv, sizes: Shapes) -> ForAnySize:
        """The module, which knows for which sizes it holds."""
        made = cls(root, graph)
        object.__setattr__(made, "shape_env", env)
        object.__setattr__(made, "_sizes", sizes)
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        named = [kwargs[n] for n in self._names[len(args) :] if n in kwargs]
        if not any(True for _ in _proxies_in([*args, *named])):  # they have no sizes
            self._check(list(tensors_in([*args, *named])))
        return super().__call__(*args, **kwargs)

    @property
    def _names(self) -> list[str]:
        return [str(n.target) for n in self.graph.find_nodes(op="placeholder")]

    def _check(self, given: list[Tensor]) -> None:
        """RuntimeError for tensors for which the graph is not right."""
        if len(given) != len(self._sizes):
            raise RuntimeError(
                f"this graph was traced with {len(self._sizes)} tensors among its arguments, and "
                f"got {len(given)}: pass a tensor wherever there was one"
            )
        said = self.shape_env.unfit_for_args(self._sizes, given)
        if said:
            shapes = ", ".join(str(list(t.shape)) for t in given)
            raise RuntimeError(
                f"this graph was traced for other sizes than {shapes}: {said}. "
                "Trace the function again with arguments of these sizes"
            )
