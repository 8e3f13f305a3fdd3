"""Tensors of another layout than strided: what the gate says where a layout has no rule for a row.

A rule is a function in `core.layout_rules(layout, in_place)`, under the row's text. It gets the
arguments of the row's schema, and works above autograd on the strided tensors that such a tensor is
made of (`core.parts_of`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from .._native import core as _core

__all__ = ["load", "refuse"]

_WAY = "Compute with its values() and make a new one of them, or with x.to_dense()"
#: what to do instead, by layout
_WAYS = {
    _core._masked: "Compute with its get_data() and get_mask(), or with x.to_tensor(value)",
    _core._quantized: "Compute with its dequantize(), or with its int_repr(), q_scale() and q_zero_point()",
    _core._nested: "Compute with the tensors of its unbind(), or with x.to_padded_tensor(padding)",
    _core.jagged: "Compute with the tensors of its unbind(), or with x.to_padded_tensor(padding)",
}


#: what brings the rules of a layout: a package, and a name of it that loads it. Others are sparse
_PACKAGES = {
    _core.jagged: ("nested", "nested_tensor"),
    _core._nested: ("nested", "nested_tensor"),
    _core._masked: ("masked", "masked_tensor"),
    _core._quantized: ("quantization", "quantize_per_tensor"),
}
#: what the messages call a layout that has no name for users
_NAMES = {
    _core._nested: "a nested tensor of the strided layout",
    _core._masked: "a MaskedTensor",
    _core._quantized: "a quantized tensor",
}


def _named(layouts: Sequence[Any]) -> str:
    """ "a tensor of layout taeda.sparse_coo", "a quantized tensor", and so on."""
    plain = [str(layout) for layout in layouts if layout not in _NAMES]
    words = [f"a tensor of layout {' and '.join(plain)}"] * bool(plain)
    return " and ".join([*words, *(_NAMES[layout] for layout in layouts if layout in _NAMES)])


def load(layouts: Sequence[Any]) -> None:
    """Let the rules of these layouts be registered."""
    import taeda  # when the first such tensor is asked for

    for package, name in {_PACKAGES.get(layout, ("sparse", "mm")) for layout in layouts}:
        getattr(getattr(taeda, package), name)  # says what to install if it is missing


def refuse(row: str, layouts: Sequence[Any], in_place: int, why: str) -> NoReturn:
    """NotImplementedError that names the operator, the layout and the way round."""
    name = row.partition(".")[0] + "_" * in_place
    named = _named([layout for layout in layouts if layout is not _core.strided])
    if why == "out=":
        raise NotImplementedError(f"{name}: out= is not supported with {named}. Use the result")
    if why:
        raise NotImplementedError(f"{name}: {why} is not supported for {named}. Use backward()")
    way = next((text for layout, text in _WAYS.items() if layout in layouts), _WAY)
    if in_place:
        way = f"Use {name[:-1]}, or this: {way[0].lower()}{way[1:]}"
    raise NotImplementedError(f"{name}: there is no kernel for {named}. {way}")
