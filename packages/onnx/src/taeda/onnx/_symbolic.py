"""Functions of the user for operators, entered for every export: `register_custom_op_symbolic`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import OnnxExporterError

__all__ = [
    "own_rules", "register_custom_op_symbolic", "row_name", "unregister_custom_op_symbolic"
]  # fmt: skip

_entered: dict[str, dict[int, Callable[..., Any]]] = {}


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: Callable[..., Any], opset_version: int
) -> None:
    """Translate the operator `namespace::name` by this function from this opset on.

    `symbolic_fn` takes a context and the arguments of the operator, tensors as values of the model,
    and gives a value: `lambda g, x: g.op("Relu", x)`. OnnxExporterError for a name of another form.

    Args:
        symbolic_name: the operator, like `domain::name`
        symbolic_fn: the function that translates it
        opset_version: the opset from which on it does

    >>> import taeda
    >>> register_custom_op_symbolic("aten::relu", lambda g, x: g.op("Elu", x), 18)
    >>> made = taeda.onnx.export(taeda.nn.ReLU(), (taeda.ones(2),), verify=False)
    >>> unregister_custom_op_symbolic("aten::relu", 18)
    >>> [node.kind for node in made.model.nodes]
    ['Elu']
    """
    _entered.setdefault(row_name(symbolic_name), {})[opset_version] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Forget what was entered for this name and opset, if anything was.

    Args:
        symbolic_name: the operator, like `domain::name`
        opset_version: the opset from which on the function translated it

    >>> import taeda
    >>> register_custom_op_symbolic("aten::relu", lambda g, x: g.op("Elu", x), 18)
    >>> unregister_custom_op_symbolic("aten::relu", 18)
    >>> made = taeda.onnx.export(taeda.nn.ReLU(), (taeda.ones(2),), verify=False)
    >>> [node.kind for node in made.model.nodes]
    ['Relu']
    """
    _entered.get(row_name(symbolic_name), {}).pop(opset_version, None)


def row_name(name: str) -> str:
    """`namespace.name` of `namespace::name`; OnnxExporterError for a name of another form."""
    namespace, sign, rest = name.partition("::") if isinstance(name, str) else ("", "", "")
    if not (sign and namespace.isidentifier() and rest.replace(".", "_").isidentifier()):
        raise OnnxExporterError(f"an operator is named like 'custom::gelu', got {name!r:.100}")
    return f"{namespace}.{rest}"


def own_rules(opset: int) -> dict[str, Callable[..., Any]]:
    """The functions that hold for an opset, by the operator's name."""
    made = {}
    for name, by_opset in _entered.items():
        known = [n for n in by_opset if n <= opset]
        if known:
            made[name] = by_opset[max(known)]
    return made
