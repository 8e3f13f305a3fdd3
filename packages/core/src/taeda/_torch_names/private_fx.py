"""What libraries take from `torch.fx` beside its public names: passes, and specs of trees."""

from __future__ import annotations

from typing import Any, NamedTuple

from taeda.utils import _pytree

__all__ = ["PassBase", "PassResult", "tree_flatten_spec"]


class PassResult(NamedTuple):
    """What a pass gives: the graph module, and whether it changed it."""

    graph_module: Any
    modified: bool


class PassBase:
    """A pass over a graph module: `requires`, then `call`, then `ensures`."""

    def __call__(self, graph_module: Any) -> PassResult | None:
        self.requires(graph_module)
        made = self.call(graph_module)
        self.ensures(graph_module)
        return made

    def call(self, graph_module: Any) -> PassResult | None:
        """What a subclass does."""
        raise NotImplementedError(f"{type(self).__name__} has no call()")

    def requires(self, graph_module: Any) -> None:
        """What must hold before; nothing, unless a subclass says so."""

    def ensures(self, graph_module: Any) -> None:
        """What must hold after; nothing, unless a subclass says so."""


def tree_flatten_spec(pytree: Any, spec: Any) -> list[Any]:
    """The leaves of a tree that has the form of `spec`. ValueError for another form."""
    leaves, found = _pytree.tree_flatten(pytree)
    if found != spec:
        raise ValueError(f"the tree has the form {found}, not {spec}")
    return list(leaves)
