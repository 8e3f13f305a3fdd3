"""Suggested fixes of an error of `export`, applied to its `dynamic_shapes`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ._dims import Derived, Dim

__all__ = ["refine_dynamic_shapes_from_suggested_fixes"]

_LINE = re.compile(r"(\S+) = (.+?)\s*(?:#.*)?")
_DIM = re.compile(r"Dim\('(\w+)'(?:, min=(\d+))?(?:, max=(\d+))?\)")
_FORMULA = re.compile(r"(?:(\d+)\*)?([A-Za-z_]\w*)(?: ([+-]) (\d+))?")


def refine_dynamic_shapes_from_suggested_fixes(msg: str, dynamic_shapes: Any) -> Any:
    """`dynamic_shapes` with the fixes that `msg`, the text of a UserError, suggests.

    A fix gives a Dim a range, makes it a number (or None, the size of the example), or makes it a
    formula of another Dim. The given demands are not changed. ValueError for a text without fixes, a
    line that is none, and a name that no Dim of `dynamic_shapes` has.

    >>> text = "Suggested fixes:\\n  batch = Dim('batch', max=8)"
    >>> made = refine_dynamic_shapes_from_suggested_fixes(text, {"x": {0: Dim("batch")}})
    >>> made["x"][0].max
    8
    """
    known: dict[str, Dim] = {}
    _collect(dynamic_shapes, known)
    fixes: dict[str, Any] = {}
    for line in _lines(msg):
        found = _LINE.fullmatch(line)
        if found is None:
            raise ValueError(f"no suggested fix: {line!r}. A fix is a line NAME = VALUE")
        name = found[1]
        if name not in known:
            raise ValueError(
                f"a fix for {name}, and the Dims of dynamic_shapes are {sorted(known)}"
            )
        fixes[name] = _value(found[2], known)
    return _replaced(dynamic_shapes, fixes)


def _lines(msg: str) -> list[str]:
    _, mark, rest = msg.partition("Suggested fixes:")
    lines = [line.strip() for line in rest.splitlines() if line.strip()]
    if not mark or not lines:
        raise ValueError("the text has no suggested fixes: give the message of export's UserError")
    return lines


def _value(text: str, known: dict[str, Dim]) -> Any:
    """The Dim, formula, number or None of a fix. Dims that are not known yet are entered."""
    if text == "None":
        return None
    if text.isdecimal():
        return int(text)
    if found := _DIM.fullmatch(text):
        least, most = (None if n is None else int(n) for n in found.groups()[1:])
        return Dim(found[1], min=least, max=most)
    if found := _FORMULA.fullmatch(text):
        root = known.setdefault(found[2], Dim(found[2]))
        shift = int(found[4] or 0) * (-1 if found[3] == "-" else 1)
        return int(found[1] or 1) * root + shift
    raise ValueError(f"no value of a fix: {text!r}. It is a Dim, a number, None, or a formula")


def _collect(demand: Any, known: dict[str, Dim]) -> None:
    if isinstance(demand, Derived):
        demand = demand.root
    if isinstance(demand, Dim):
        known[demand.__name__] = demand
    elif isinstance(demand, Mapping):
        for one in demand.values():
            _collect(one, known)
    elif isinstance(demand, tuple | list):
        for one in demand:
            _collect(one, known)


def _replaced(demand: Any, fixes: dict[str, Any]) -> Any:
    if isinstance(demand, Dim):
        made = fixes.get(demand.__name__, demand)
        # A formula's own root may have a fix as well; one of itself has not.
        again = isinstance(made, Derived) and made.root.__name__ != demand.__name__
        return _replaced(made, {**fixes, demand.__name__: demand}) if again else made
    if isinstance(demand, Derived):
        root = _replaced(demand.root, fixes)
        return None if root is None else root * demand.factor + demand.shift
    if isinstance(demand, Mapping):
        return {key: _replaced(one, fixes) for key, one in demand.items()}
    if isinstance(demand, tuple | list):
        return type(demand)(_replaced(one, fixes) for one in demand)
    return demand
