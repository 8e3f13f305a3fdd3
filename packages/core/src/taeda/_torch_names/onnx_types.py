"""The numbers of dtypes in ONNX files, under the name by which libraries ask for them."""

from __future__ import annotations

import enum

__all__ = ["TensorProtoDataType"]


class TensorProtoDataType(enum.IntEnum):
    """`TensorProto.DataType` of the ONNX standard: what a file says of the elements of a tensor."""

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
