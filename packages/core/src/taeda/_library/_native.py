"""What the core asks while an extension registers its operators (csrc/abi/extension.c)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda._native import core as _core
from taeda._table._schema import parse_schema

from . import table
from .operators import overload
from .schema import full_name

__all__ = ["define", "define_kernels", "derive", "forget"]


def define(schema: str, doc: str) -> str:
    """Add an operator whose kernels are C; returns the name the core knows it by."""
    parsed = parse_schema(schema)
    odd = [r.declared for r in parsed.returns if r.base != "Tensor" or r.is_list]
    if odd:
        raise ValueError(
            f"{full_name(parsed)}: results of an extension's operator are Tensors, this has {', '.join(odd)}"
        )
    return table.define(schema, strict=True, doc=doc).text


def forget(text: str) -> None:
    """Take an operator of a library that gave up away."""
    table.forget(text)


def derive(text: str, backward: str) -> None:
    """Make operator `backward` the derivative of operator `text`; what it gets is said by its
    arguments' names.
    """
    forward, back = table.entry(text).schema, table.entry(backward).schema
    assert forward is not None
    if back is None:
        back = overload(backward)._parsed
    wanted = sum(a.is_tensor for a in forward.arguments)
    if len(back.returns) != wanted:
        raise ValueError(
            f"{backward} returns {len(back.returns)} tensors; as the derivative of {text} it "
            "returns one for each of its "
            f"{wanted} Tensor arguments"
        )
    names = tuple(a.name for a in back.arguments)
    _core.register_rule(text, True, {"": (overload(backward), names)}, -1)


def define_kernels(namespace: str, kernels: dict[str, Any]) -> None:
    """Make operators of kernels that a library offered by name alone, with a count of inputs and of
    outputs.
    """
    for name, kernel in kernels.items():
        inputs, outputs = _core.kernel_counts(kernel)
        arguments = ", ".join(f"Tensor x{i}" for i in range(inputs))
        returns = ", ".join(["Tensor"] * outputs)
        made = table.define(f"{namespace}::{name}({arguments}) -> ({returns})", strict=True)
        table.set_kernel(made.text, "any", _caller(kernel))


def _caller(kernel: Any) -> Callable[..., Any]:
    def call(*tensors: Any) -> Any:
        return _core.call_kernel(kernel, tensors)

    return call
