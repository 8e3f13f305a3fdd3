"""`JitScalarType`: one number for each dtype, with its names here and in ONNX."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import taeda

from ._dtypes import CODES
from .errors import OnnxExporterError

__all__ = ["JitScalarType", "TensorProtoDataType"]


class TensorProtoDataType(IntEnum):
    """`TensorProto.DataType` of the ONNX standard: what a file says of the elements of a tensor.

    >>> TensorProtoDataType.BFLOAT16.value, TensorProtoDataType(7).name
    (16, 'INT64')
    """

    UNDEFINED = 0
    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    STRING = 8
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    COMPLEX64 = 14
    COMPLEX128 = 15
    BFLOAT16 = 16
    FLOAT8E4M3FN = 17
    FLOAT8E4M3FNUZ = 18
    FLOAT8E5M2 = 19
    FLOAT8E5M2FNUZ = 20


class JitScalarType(IntEnum):
    """The dtypes in the order in which TorchScript counts them.

    >>> import taeda
    >>> JitScalarType.from_dtype(taeda.float32).onnx_type().name
    'FLOAT'
    >>> JitScalarType.from_value(taeda.ones(2, dtype=taeda.int64)).scalar_name()
    'Long'
    """

    UINT8 = 0
    INT8 = 1
    INT16 = 2
    INT = 3
    INT64 = 4
    HALF = 5
    FLOAT = 6
    DOUBLE = 7
    COMPLEX32 = 8
    COMPLEX64 = 9
    COMPLEX128 = 10
    BOOL = 11
    QINT8 = 12
    QUINT8 = 13
    QINT32 = 14
    BFLOAT16 = 15
    FLOAT8E5M2 = 16
    FLOAT8E4M3FN = 17
    FLOAT8E5M2FNUZ = 18
    FLOAT8E4M3FNUZ = 19
    UNDEFINED = 20

    @classmethod
    def from_dtype(cls, dtype: taeda.dtype | None) -> JitScalarType:
        """The number of a dtype; OnnxExporterError for what is none, or has none."""
        found = _BY_DTYPE.get(dtype) if isinstance(dtype, taeda.dtype) else None
        if found is None:
            raise OnnxExporterError(f"from_dtype: {dtype!r:.100} is no dtype that has a number")
        return found

    @classmethod
    def from_onnx_type(cls, onnx_type: int | TensorProtoDataType | None) -> JitScalarType:
        """The number by ONNX's number; OnnxExporterError for one that no dtype has."""
        found = _BY_CODE.get(onnx_type) if isinstance(onnx_type, int) else None
        if found is None:
            raise OnnxExporterError(f"from_onnx_type: no dtype has the number {onnx_type!r:.100}")
        return found

    @classmethod
    def from_value(cls, value: Any, default: JitScalarType | None = None) -> JitScalarType:
        """The number of what has a dtype: a tensor, or a value that a rule gets. Else `default`, and
        OnnxExporterError if there is none.
        """
        dtype = getattr(value, "dtype", None)
        if isinstance(dtype, taeda.dtype):
            return cls.from_dtype(dtype)
        if default is None:
            raise OnnxExporterError(
                f"from_value: wanted a tensor or a value of a model, got {type(value).__name__}"
            )
        return default

    def scalar_name(self) -> str:
        """TorchScript's name of a type, like 'Float'. OnnxExporterError for UNDEFINED."""
        return self._names()[0]

    def torch_name(self) -> str:
        """The name of the type in C++, like 'int64_t'. OnnxExporterError for UNDEFINED."""
        return self._names()[1]

    def dtype(self) -> taeda.dtype:
        """The dtype. OnnxExporterError for UNDEFINED."""
        self._names()
        return _DTYPES[self]

    def onnx_type(self) -> TensorProtoDataType:
        """ONNX's number, UNDEFINED if it has none. A quantized type has that of its integers."""
        return _CODES.get(self, TensorProtoDataType.UNDEFINED)

    def onnx_compatible(self) -> bool:
        """Whether ONNX has this type."""
        return self in _CODES

    def _names(self) -> tuple[str, str]:
        if self is JitScalarType.UNDEFINED:
            raise OnnxExporterError("JitScalarType.UNDEFINED has no name and no dtype")
        return _NAMES[self]


_NAMES = dict(zip(JitScalarType, (
    ("Byte", "uint8_t"), ("Char", "int8_t"), ("Short", "int16_t"), ("Int", "int"),
    ("Long", "int64_t"), ("Half", "half"), ("Float", "float"), ("Double", "double"),
    ("ComplexHalf", "complex32"), ("ComplexFloat", "complex64"), ("ComplexDouble", "complex128"),
    ("Bool", "bool"), ("QInt8", "qint8"), ("QUInt8", "quint8"), ("QInt32", "qint32"),
    ("BFloat16", "bfloat16"), ("Float8E5M2", "float8_e5m2"), ("Float8E4M3FN", "float8_e4m3fn"),
    ("Float8E5M2FNUZ", "float8_e5m2fnuz"), ("Float8E4M3FNUZ", "float8_e4m3fnuz"),
), strict=False))  # fmt: skip
_DTYPES = dict(zip(JitScalarType, (
    taeda.uint8, taeda.int8, taeda.int16, taeda.int32, taeda.int64, taeda.float16, taeda.float32,
    taeda.float64, taeda.complex32, taeda.complex64, taeda.complex128, taeda.bool, taeda.qint8,
    taeda.quint8, taeda.qint32, taeda.bfloat16, taeda.float8_e5m2, taeda.float8_e4m3fn,
    taeda.float8_e5m2fnuz, taeda.float8_e4m3fnuz,
), strict=False))  # fmt: skip
_QUANTIZED = {taeda.qint8: taeda.int8, taeda.quint8: taeda.uint8, taeda.qint32: taeda.int32}
_BY_DTYPE = {dtype: number for number, dtype in _DTYPES.items()}
_CODES = {
    number: TensorProtoDataType(CODES[_QUANTIZED.get(dtype, dtype)])
    for number, dtype in _DTYPES.items()
    if _QUANTIZED.get(dtype, dtype) in CODES
}
_BY_CODE = {
    int(code): number for number, code in _CODES.items() if _DTYPES[number] not in _QUANTIZED
}
