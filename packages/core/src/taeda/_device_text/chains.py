"""The kernel tables as one C text in which an operator is a function of vectors: what a chain of
elementwise operators is compiled from, with the headers of `csrc/cpu/simd/chain` in place of those
of the same name.
"""

from __future__ import annotations

import re
from functools import cache

from taeda._native import core as _core

from .expand import loops, source
from .families import CHAINED, FAMILIES

__all__ = ["expanded", "row"]

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"[^\n]*$', re.MULTILINE)
_TABLE = re.compile(r"^const td_loop_entry TD_TABLE", re.MULTILINE)
_NAMES = {number: name for name, number in _core.dtype_numbers.items()}
_TYPES = {"F32": "f32", "F64": "f64", "F16": "f32", "BF16": "f32"}  # of the rows of each
#: their loops that choose among rows by what they are given, or compute otherwise
_OTHERS = ("clamp", "nextafter", "signbit", "where")
#: rows that short floats have for themselves
_OWN = ("nan_to_num",)
#: rows of pow by the number that a chain notes of its exponent
_POWERS = {number: name for name, number in _core.power_rows.items()}


@cache
def row(name: str, dtype: int, power: int = 0) -> tuple[str, str] | None:
    """The family of the loop `name` and the function that is its row; None if it has no such row.

    `dtype` is the number of the dtype in which it computes; short floats have the rows of float32.
    `power` says which of its rows pow takes. The function is part of `expanded([family])`; it takes
    the arguments of the call and a vector for each operand.
    """
    kind = _NAMES[dtype]
    found = loops().get(f"{name} {kind}")
    if found is None or kind not in _TYPES or name in _OTHERS or found[0] not in CHAINED:
        return None
    family, loop = found
    short = kind in ("F16", "BF16")
    if name == "pow":
        return family, f"{_POWERS[power]}_{_TYPES[kind]}_row_of"
    if short and name not in _OWN:
        loop = loop.removesuffix(kind.lower()) + _TYPES[kind]
    return family, f"{loop}_row_of"


def expanded(families: list[str]) -> str:
    """The tables of these families with all that they include but the C library's headers."""
    seen: set[str] = set()
    parts = [_expand(FAMILIES[family].text, seen) for family in families]
    return "#define TD_CHAIN 1\n" + "\n".join(parts)


def _expand(name: str, seen: set[str]) -> str:
    seen.add(name)
    text = _TABLE.split(source(name, "chain"))[0]
    return INCLUDE.sub(lambda m: "" if m[1] in seen else _expand(m[1], seen), text)
