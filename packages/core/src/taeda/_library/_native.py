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
    several = len(parsed.returns) > 1
    odd = [r.declared for r in parsed.returns if r.base != "Tensor" or (r.is_list and several)]
    if odd or any(r.is_list and (r.optional or r.mutated) for r in parsed.returns):
        raise ValueError(
            f"{full_name(parsed)}: results of an extension's operator are Tensors, or one Tensor[] alone; "
            f"this has {', '.join(odd or [r.declared for r in parsed.returns])}"
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
    tensors = [a for a in forward.arguments if a.is_tensor]
    listed = any(r.is_list for r in back.returns)
    if listed and not (len(tensors) == 1 and tensors[0].is_list):
        raise ValueError(
            f"{backward} returns a Tensor[]; only the derivative of an operator does so whose one Tensor "
            f"argument is a Tensor[], and {text} has {', '.join(a.declared for a in tensors) or 'none'}"
        )
    if len(back.returns) != len(tensors):
        raise ValueError(
            f"{backward} returns {len(back.returns)} tensors; as the derivative of {text} it "
            "returns one for each of its "
            f"{len(tensors)} Tensor arguments"
        )
    names = tuple(a.name for a in back.arguments)
    call = overload(backward)
    _core.register_rule(text, True, {"": (_of_one_list(call) if listed else call, names)}, -1)


def _of_one_list(backward: Callable[..., Any]) -> Callable[..., Any]:
    """A rule gives something for each Tensor argument; of one that is a list, a list."""

    def rule(*args: Any) -> Any:
        return (backward(*args),)

    return rule


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
