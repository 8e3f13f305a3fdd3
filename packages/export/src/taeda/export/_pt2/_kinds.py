"""Numbers of the format for dtypes, layouts and memory formats, and names that differ in it."""

from __future__ import annotations

import operator
from typing import Any

import taeda

from ..graph_signature import OutputKind

__all__ = [
    "DTYPES", "FORMATS", "LAYOUTS", "NUMBERS", "SCALARS", "SCHEMA", "TENSORS", "WHERE", "WRITTEN",
    "public_name",
]  # fmt: skip

SCHEMA = (8, 20)

#: outputs that are new values: their kind in files, and the field with what they are the value of
WRITTEN: dict[OutputKind, tuple[str, str]] = {
    OutputKind.BUFFER_MUTATION: ("buffer_mutation", "buffer_name"),
    OutputKind.PARAMETER_MUTATION: ("parameter_mutation", "parameter_name"),
    OutputKind.USER_INPUT_MUTATION: ("user_input_mutation", "user_input_name"),
}

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

_OF_SIZES = "add sub mul floordiv mod neg truediv pow eq ne lt le gt ge"
#: functions of sizes, by their names in files
NUMBERS: dict[str, Any] = {
    **{f"_operator.{name}": getattr(operator, name) for name in _OF_SIZES.split()},
    "torch.sym_max": taeda.sym_max,
    "torch.sym_min": taeda.sym_min,
    "torch.sym_float": taeda.sym_float,
}

_BOTH = ("eq", "ne", "lt", "le", "gt", "ge", "remainder", "fmod")
#: what a row with a number in place of its second tensor is called in files, and back
SCALARS: dict[str, str] = {f"{name}.Tensor": f"{name}.Scalar" for name in _BOTH}
SCALARS["floor_divide.default"] = "floor_divide.Scalar"
SCALARS["pow.Tensor_Tensor"] = "pow.Tensor_Scalar"
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    SCALARS[f"{_name}.Tensor"] = f"{_name}.Scalar"
#: `where` by whether each of its values is a tensor
WHERE: dict[tuple[bool, ...], str] = {
    (True, True): "where.self", (True, False): "where.ScalarOther",
    (False, True): "where.ScalarSelf", (False, False): "where.Scalar",
}  # fmt: skip
TENSORS = {scalar: tensor for tensor, scalar in SCALARS.items()}
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
