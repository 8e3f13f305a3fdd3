"""Arguments that are trees of values: each leaf of a tree is an input of the graph.

concrete_args={"batch": {"x": PH, "k": 2}}     placeholders batch_1 (traced), batch_2 (always 2)
gm({"x": tensor, "k": 2})                      called with the tree, as the program is
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from taeda._core_api.trees import TreeSpec, tree_flatten

from ._codegen import CodeGen

__all__ = ["PH", "TreeArguments", "is_tree"]


class _Placeholder:
    """Stands for a value that is traced, inside of a tree among `concrete_args`."""

    def __repr__(self) -> str:
        return "PH"

    def __reduce__(self) -> str:
        return "PH"


PH = _Placeholder()


def is_tree(value: Any) -> bool:
    """Whether a value among `concrete_args` has leaves of its own."""
    return value is PH or not tree_flatten(value)[1].is_leaf()


class TreeArguments(CodeGen):
    """Calls with trees; the graph has a placeholder for each of their leaves."""

    def __init__(self, trees: dict[str, tuple[TreeSpec, list[str]]], order: Iterable[str]) -> None:
        self.trees = trees  # by parameter: the structure, the placeholders of the leaves
        self.order = list(order)  # all parameters

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The parameters of the program, then a line for each tree."""
        owner = {leaf: name for name, (_, leaves) in self.trees.items() for leaf in leaves}
        head = [owner.get(_name_of(declared), declared) for declared in free_vars]
        given = dict.fromkeys([*head, *(n for n, (_, leaves) in self.trees.items() if not leaves)])
        line = f"def forward({', '.join([self.root, *given])}){maybe_return_annotation}:"
        taken = [
            f"    {', '.join(leaves)}, = _leaves({name!r}, {name})"
            if leaves
            else f"    _leaves({name!r}, {name})"
            for name, (_, leaves) in self.trees.items()
        ]
        return "\n".join([line, *taken])

    def additional_globals(self) -> list[tuple[str, Any]]:
        """What takes a tree apart."""
        return [("_leaves", self.leaves)]

    def leaves(self, name: str, value: Any) -> list[Any]:
        """The leaves of an argument. TypeError if it is another kind of tree than the traced one."""
        found, spec = tree_flatten(value)
        wanted, _ = self.trees[name]
        if spec != wanted:
            raise TypeError(
                f"{name} was traced as {wanted}, but this call gives {spec}: trace again for it"
            )
        return found

    def process_inputs(self, *args: Any) -> Any:
        """The leaves of all arguments, in the order of the placeholders."""
        pairs = zip(self.order, args, strict=False)
        return [v for n, a in pairs for v in (self.leaves(n, a) if n in self.trees else [a])]


def _name_of(declared: str) -> str:
    return declared.partition(":")[0].partition("=")[0].strip()
