"""Single values of the format: names, numbers, dtypes, lists."""

from __future__ import annotations

import re
from typing import Any

import taeda
from taeda._core_api.files import FormatError
from taeda.fx.experimental._expressions import Expression, constant

from .._formulas import formula_of
from .._kinds import DTYPES, FORMATS, LAYOUTS

__all__ = [
    "dtype_of",
    "float_of",
    "formula_of_size",
    "integers_of",
    "name_of",
    "plain_value",
    "union_of",
]

MOST_DIMS = 64
_NAME = re.compile(r"[A-Za-z_]\w{0,200}\Z")


def union_of(entry: Any) -> list[tuple[str, Any]]:
    """The one field that is set; some writers list the others as null."""
    found = [(k, v) for k, v in entry.items() if v is not None]
    if len(found) != 1:
        raise FormatError(f"a value of one kind was wanted, got {list(entry)!r:.80}")
    return found


def name_of(name: Any) -> str:
    """A name that code may say."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise FormatError(f"{name!r:.80} is no name of a value")
    return name


def dtype_of(number: Any) -> taeda.dtype:
    """The dtype that the format has under a number."""
    if type(number) is not int or number not in DTYPES:
        raise FormatError(f"the dtype {number!r:.40} of the format is not read")
    return DTYPES[number]


def integers_of(entries: Any) -> list[int]:
    """Sizes, strides or offsets that a tensor can have."""
    made = []
    for entry in entries:
        ((kind, value),) = union_of(entry)
        if kind != "as_int" or type(value) is not int or not 0 <= value < 2**62:
            raise FormatError(f"a size, stride or offset of a tensor is {value!r:.60}")
        made.append(value)
    if len(made) > MOST_DIMS:
        raise FormatError(f"a tensor of {len(made)} dimensions")
    return made


def formula_of_size(entry: Any) -> Expression:
    """A size: a number, or a formula of symbols."""
    ((kind, value),) = union_of(entry)
    if kind == "as_int" and type(value) is int:
        return constant(value)
    if kind != "as_expr":
        raise FormatError(f"a size of the kind {kind!r:.60} is not read")
    return formula_of(value["expr_str"])


_KINDS: dict[str, Any] = {
    "as_int": int, "as_bool": bool, "as_string": str, "as_ints": list, "as_bools": list,
    "as_floats": list, "as_strings": list,
}  # fmt: skip
_PARTS = {"as_ints": int, "as_bools": bool, "as_strings": str}


def plain_value(kind: str, value: Any) -> Any:
    """A value of Python."""
    if kind == "as_none":
        return None
    if kind == "as_float":
        return float_of(value)
    if kind in _KINDS and isinstance(value, _KINDS[kind]):
        if kind == "as_floats":
            return [float_of(v) for v in value]
        if kind in _PARTS and not all(type(v) is _PARTS[kind] for v in value):
            raise FormatError(f"a list of the kind {kind} holds something else")
        return value
    if kind == "as_scalar_type":
        return dtype_of(value)
    for name, table in (("as_layout", LAYOUTS), ("as_memory_format", FORMATS)):
        if kind == name and value in table:
            return table[value]
    if kind == "as_device":
        return taeda.device(str(value["type"]), value["index"])
    if kind == "as_complex":
        return complex(float_of(value["real"]), float_of(value["imag"]))
    raise FormatError(f"an argument of the kind {kind!r:.60} is not read")


def float_of(value: Any) -> float:
    """A float, of which JSON has no word for some."""
    if value in ("Infinity", "-Infinity", "NaN") or type(value) in (int, float):
        return float(value)
    raise FormatError(f"{value!r:.60} is no float")
