"""How modules inside of an exported program are called."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from taeda._core_api.trees import TreeSpec

from .graph_signature import ArgumentSpec, ConstantArgument

__all__ = ["ModuleCallEntry", "ModuleCallSignature"]


@dataclass
class ModuleCallSignature:
    """One call of a module: the leaves of its arguments and results in order, the trees that they
    make, and the names that `forward` has for the arguments, where they are known.

    Args:
        inputs: the leaves of the arguments, in order
        outputs: the leaves of the results, in order
        in_spec: the tree of the arguments
        out_spec: the tree of the results
        forward_arg_names: names that `forward` has for the arguments (default: None)

    >>> from taeda import nn
    >>> from taeda.export import export
    >>> ep = export(nn.Linear(3, 2), (taeda.ones(4, 3),))
    >>> [argument.name for argument in ep.module_call_graph[0].signature.inputs]
    ['input_1']
    """

    inputs: list[ArgumentSpec]
    outputs: list[ArgumentSpec]
    in_spec: TreeSpec
    out_spec: TreeSpec
    forward_arg_names: list[str] | None = None

    def replace_all_uses_with(self, original_node: Any, new_node: Any) -> None:
        """Put one node of the graph in the place of another."""
        for specs in (self.inputs, self.outputs):
            specs[:] = [_with(one, original_node.name, new_node.name) for one in specs]


@dataclass
class ModuleCallEntry:
    """A module of the program by its name (empty for the program itself), and its call, where it is
    known.

    Args:
        fqn: the name of the module; empty for the program
        signature: how it is called; None where that is not known (default: None)

    >>> from taeda import nn
    >>> from taeda.export import export
    >>> model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    >>> ep = export(model, (taeda.ones(4, 3),), preserve_module_call_signature=("0",))
    >>> [entry.fqn for entry in ep.module_call_graph]
    ['', '0']
    """

    fqn: str
    signature: ModuleCallSignature | None = None


def _with(arg: ArgumentSpec, old: str, new: str) -> ArgumentSpec:
    if isinstance(arg, ConstantArgument) or arg.name != old:
        return arg
    return replace(arg, name=new)
