"""A graph for any sizes that its guards allow, and only for those."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda._core_api.trees import tensors_in
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule

from ._expressions import Expression
from .symbolic_shapes import ShapeEnv

__all__ = ["ForAnySize"]

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
        given = list({id(t): t for t in tensors_in(args)}.values())
        if not kwargs and len(given) == len(self._sizes):  # proxies have no sizes
            self._check(given)
        return super().__call__(*args, **kwargs)

    def _check(self, given: list[Tensor]) -> None:
        said = self.shape_env.unfit_for_args(self._sizes, given)
        if said:
            shapes = ", ".join(str(list(t.shape)) for t in given)
            raise RuntimeError(
                f"this graph was traced for other sizes than {shapes}: {said}. "
                "Trace the function again with arguments of these sizes"
            )
