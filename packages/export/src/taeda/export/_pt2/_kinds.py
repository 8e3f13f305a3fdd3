"""Numbers of the format for dtypes, layouts and memory formats, and names that differ in it."""

from __future__ import annotations

import operator
from typing import Any

import taeda

from ..graph_signature import OutputKind, SymBoolArgument, SymFloatArgument, SymIntArgument

__all__ = [
    "DTYPES",
    "FORMATS",
    "LAYOUTS",
    "NUMBERS",
    "NUMBER_ARGUMENTS",
    "NUMBER_FIRST",
    "OTHER_NAMES",
    "SCALARS",
    "SCHEMA",
    "TENSORS",
    "WHERE",
    "WRITTEN",
    "name_of",
    "public_name",
]

SCHEMA = (8, 20)

#: outputs that are new values: their kind in files, and the field with what they are the value of
WRITTEN: dict[OutputKind, tuple[str, str]] = {
    OutputKind.BUFFER_MUTATION: ("buffer_mutation", "buffer_name"),
    OutputKind.PARAMETER_MUTATION: ("parameter_mutation", "parameter_name"),
    OutputKind.USER_INPUT_MUTATION: ("user_input_mutation", "user_input_name"),
}

#: numbers that differ from call to call: their kinds in files
NUMBER_ARGUMENTS: dict[Any, str] = {
    SymIntArgument: "as_sym_int", SymFloatArgument: "as_sym_float", SymBoolArgument: "as_sym_bool",
}  # fmt: skip

DTYPES: dict[int, taeda.dtype] = {
    1: taeda.uint8,
    2: taeda.int8,
    3: taeda.int16,
    4: taeda.int32,
    5: taeda.int64,
    6: taeda.float16,
    7: taeda.float32,
    8: taeda.float64,
    10: taeda.complex64,
    11: taeda.complex128,
    12: taeda.bool,
    13: taeda.bfloat16,
}
LAYOUTS: dict[int, Any] = {7: taeda.strided}
FORMATS: dict[int, Any] = {
    1: taeda.contiguous_format,
    2: taeda.channels_last,
    3: taeda.channels_last_3d,
    4: taeda.preserve_format,
}

_OF_SIZES = "add sub mul floordiv mod neg truediv pow eq ne lt le gt ge and_ or_"
#: functions of sizes, by their names in files
NUMBERS: dict[str, Any] = {
    **{f"_operator.{name}": getattr(operator, name) for name in _OF_SIZES.split()},
    "torch.sym_max": taeda.sym_max,
    "torch.sym_min": taeda.sym_min,
    "torch.sym_float": taeda.sym_float,
}

_COMPARED = ("eq", "ne", "lt", "le", "gt", "ge")
_SHIFTS = ("bitwise_left_shift", "bitwise_right_shift")
_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")
_POWERS = ("pow", "float_power")
#: what a row with a number in place of its second tensor is called in files
SCALARS: dict[str, str] = {
    **{f"{n}.Tensor": f"{n}.Scalar" for n in (*_COMPARED, *_BITS, "remainder", "fmod")},
    **{f"{n}.Tensor": f"{n}.Tensor_Scalar" for n in _SHIFTS},
    **{f"{n}.Tensor_Tensor": f"{n}.Tensor_Scalar" for n in _POWERS},
    "floor_divide.default": "floor_divide.Scalar",
    **{f"{n}_.Tensor": f"{n}_.Scalar" for n in (*_COMPARED, *_BITS, "remainder", "fmod")},
    **{f"{n}_.Tensor": f"{n}_.Tensor_Scalar" for n in _SHIFTS},
    **{f"{n}_.Tensor_Tensor": f"{n}_.Scalar" for n in _POWERS},
    "floor_divide_.default": "floor_divide_.Scalar",
}
#: and with a number in place of its first one
NUMBER_FIRST: dict[str, str] = {
    **{f"{n}.Tensor": f"{n}.Scalar_Tensor" for n in (*_SHIFTS, *_BITS, "remainder")},
    **{f"{n}.Tensor_Tensor": f"{n}.Scalar" for n in _POWERS},
}
_LINALG = ("cross", "diagonal", "matmul", "matrix_exp", "matrix_power", "vander", "norm")
#: rows that have another name in files
OTHER_NAMES: dict[str, str] = {
    "_unique_consecutive.default": "unique_consecutive.default",
    "conv_transpose2d.default": "conv_transpose2d.input",
    "conv_transpose3d.default": "conv_transpose3d.input",
    "floor_divide_.default": "floor_divide_.Tensor",
    "ldexp_.Tensor": "ldexp_.default",
    "polygamma_.of": "polygamma_.default",
    **{f"{n}_.Tensor_Tensor": f"{n}_.Tensor" for n in _POWERS},
    **{f"linalg_{n}.linalg": f"linalg_{n}.default" for n in _LINALG},
}
#: `where` by whether each of its values is a tensor
WHERE: dict[tuple[bool, ...], str] = {
    (True, True): "where.self", (True, False): "where.ScalarOther",
    (False, True): "where.ScalarSelf", (False, False): "where.Scalar",
}  # fmt: skip
#: back: the row of a name in files
TENSORS = {
    other: row for table in (SCALARS, NUMBER_FIRST, OTHER_NAMES) for row, other in table.items()
}
TENSORS |= dict.fromkeys(WHERE.values(), "where.self")
# a constant, which nobody else may write
TENSORS |= {"lift_fresh_copy.default": "clone.default", "detach_.default": "detach.default"}

_SHARED = (
    "_to_copy", "_softmax", "_log_softmax", "_unsafe_view", "_local_scalar_dense", "_fft_c2c", "_fft_c2r",
    "_fft_r2c", "_unique2",
)  # fmt: skip


def public_name(name: str) -> bool:
    """Whether a row has the meaning that this name has elsewhere; others are taeda's own."""
    return not name.startswith("_") or name in _SHARED


def name_of(target: Any, tensors: list[bool]) -> str:
    """The name of an operator, by which of its arguments are tensors."""
    name = str(target).split(".", 1)
    if name[0] != "aten":
        raise NotImplementedError(f"save: {target} is an operator of a library, not of a file")
    row = name[1]
    if tensors[:2] == [True, False] and row in SCALARS:
        row = SCALARS[row]
    elif tensors[:2] == [False, True] and row in NUMBER_FIRST:
        row = NUMBER_FIRST[row]
    elif row == "where.self":
        row = WHERE[tuple(tensors[1:3])]
    else:
        row = OTHER_NAMES.get(row, row)
    place = "aten" if public_name(row.split(".")[0]) else "taeda"
    return f"torch.ops.{place}.{row}"
