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
    _core.jagged: "Compute with the tensors of its unbind(), or with x.to_padded_tensor(padding)",
}


#: what brings the rules of a layout: a package, and a name of it that loads it. Others are sparse
_PACKAGES = {_core.jagged: ("nested", "nested_tensor"), _core._masked: ("masked", "masked_tensor")}


def _named(layout: Any) -> str:
    return "MaskedTensor" if layout is _core._masked else str(layout)


def load(layouts: Sequence[Any]) -> None:
    """Let the rules of these layouts be registered."""
    import taeda  # when the first such tensor is asked for

    for package, name in {_PACKAGES.get(layout, ("sparse", "mm")) for layout in layouts}:
        getattr(getattr(taeda, package), name)  # says what to install if it is missing


def refuse(row: str, layouts: Sequence[Any], in_place: int, why: str) -> NoReturn:
    """NotImplementedError that names the operator, the layout and the way round."""
    name = row.partition(".")[0] + "_" * in_place
    named = " and ".join(_named(layout) for layout in layouts if layout is not _core.strided)
    if why == "out=":
        raise NotImplementedError(
            f"{name}: out= is not supported with a tensor of layout {named}. Use the result"
        )
    if why:
        raise NotImplementedError(
            f"{name}: {why} is not supported for a tensor of layout {named}. Use backward()"
        )
    way = next((text for layout, text in _WAYS.items() if layout in layouts), _WAY)
    if in_place:
        way = f"Use {name[:-1]}, or this: {way[0].lower()}{way[1:]}"
    raise NotImplementedError(f"{name}: there is no kernel for a tensor of layout {named}. {way}")
