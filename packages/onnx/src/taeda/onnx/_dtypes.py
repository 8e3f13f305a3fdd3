"""The numbers that ONNX has for dtypes."""

from __future__ import annotations

import taeda

from .errors import OnnxExporterError

__all__ = ["CODES", "code"]

CODES: dict[taeda.dtype, int] = {
    taeda.float32: 1, taeda.uint8: 2, taeda.int8: 3, taeda.uint16: 4, taeda.int16: 5,
    taeda.int32: 6, taeda.int64: 7, taeda.bool: 9, taeda.float16: 10, taeda.float64: 11,
    taeda.uint32: 12, taeda.uint64: 13, taeda.complex64: 14, taeda.complex128: 15,
    taeda.bfloat16: 16, taeda.float8_e4m3fn: 17, taeda.float8_e4m3fnuz: 18, taeda.float8_e5m2: 19,
    taeda.float8_e5m2fnuz: 20,
}  # fmt: skip


def code(dtype: taeda.dtype) -> int:
    """The number of a dtype; OnnxExporterError for one that ONNX has not."""
    if dtype not in CODES:
        raise OnnxExporterError(f"ONNX has no type for {dtype}: convert the tensor with .to()")
    return CODES[dtype]
