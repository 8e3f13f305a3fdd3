"""Old constructors of sparse tensors: FloatTensor(indices, values, size), one for each dtype."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

__all__ = ["BFloat16Tensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor"]


def _of(dtype: Any, name: str) -> Any:
    def make(*args: Any) -> Tensor:
        """Of (indices, values[, size]), of sizes, or without anything an empty one."""
        coo: Any = taeda.sparse_coo_tensor  # upward: it is asked for
        if args and isinstance(args[0], Tensor):
            return coo(*args, dtype=dtype)
        size = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
        return coo(tuple(size) or (0,), dtype=dtype)

    make.__name__ = make.__qualname__ = name
    return make


FloatTensor = _of(taeda.float32, "FloatTensor")
DoubleTensor = _of(taeda.float64, "DoubleTensor")
HalfTensor = _of(taeda.float16, "HalfTensor")
BFloat16Tensor = _of(taeda.bfloat16, "BFloat16Tensor")
IntTensor = _of(taeda.int32, "IntTensor")
LongTensor = _of(taeda.int64, "LongTensor")
