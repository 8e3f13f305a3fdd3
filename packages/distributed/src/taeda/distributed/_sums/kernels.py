"""Core's kernels that combine the values of two ranks, for every reduction and dtype."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import taeda
from taeda import Tensor

from .._types import RedOpType, ReduceOp

__all__ = ["NARROW", "Kernel", "divide", "kernel_of"]

Kernel = Callable[..., Tensor]
NARROW = (taeda.float16, taeda.bfloat16)  # their sums are made in float32 and rounded once

_NUMBERS: dict[RedOpType, Kernel] = {
    RedOpType.SUM: taeda.add,
    RedOpType.AVG: taeda.add,
    RedOpType.PREMUL_SUM: taeda.add,
    RedOpType.PRODUCT: taeda.mul,
    RedOpType.MIN: taeda.minimum,
    RedOpType.MAX: taeda.maximum,
    RedOpType.BAND: taeda.bitwise_and,
    RedOpType.BOR: taeda.bitwise_or,
    RedOpType.BXOR: taeda.bitwise_xor,
}
_TRUTHS: dict[RedOpType, Kernel] = {
    RedOpType.SUM: taeda.bitwise_or,
    RedOpType.PRODUCT: taeda.bitwise_and,
    RedOpType.MIN: taeda.bitwise_and,
    RedOpType.MAX: taeda.bitwise_or,
}
_SIGNED = {
    taeda.uint16: taeda.int16,
    taeda.uint32: taeda.int32,
    taeda.uint64: taeda.int64,
}


@lru_cache(maxsize=200)
def _kernel(kind: RedOpType, dtype: taeda.dtype) -> Kernel:
    if dtype is taeda.bool and kind in _TRUTHS:
        return _TRUTHS[kind]
    kernel = _NUMBERS[kind]
    if (signed := _SIGNED.get(dtype)) is None:
        return kernel
    ordered = kind in (RedOpType.MIN, RedOpType.MAX)
    return partial(_by_order if ordered else _by_bits, kernel, signed)


def kernel_of(op: ReduceOp, dtype: taeda.dtype) -> Kernel:
    """`kernel(a, b, out=c)`, where c may be a or b. `_checks.check_op` has refused what has no meaning."""
    return _kernel(op.op, dtype)


def divide(values: Tensor, ranks: int) -> None:
    """Make means of sums; of whole numbers the part before the point."""
    if ranks == 1:
        return
    whole = not (values.dtype.is_floating_point or values.dtype.is_complex)
    values.div_(ranks, rounding_mode="trunc") if whole else values.div_(ranks)


def _by_bits(kernel: Kernel, signed: taeda.dtype, a: Tensor, b: Tensor, out: Tensor) -> Tensor:
    """Numbers without a sign, whose sums, products and bits are those of numbers with one."""
    kernel(a.view(signed), b.view(signed), out=out.view(signed))
    return out


def _by_order(kernel: Kernel, signed: taeda.dtype, a: Tensor, b: Tensor, out: Tensor) -> Tensor:
    """Numbers without a sign are in the order of numbers with one once the first bit is turned over."""
    first = taeda.iinfo(signed).min
    turned = [taeda.bitwise_xor(value.view(signed), first) for value in (a, b)]
    taeda.bitwise_xor(kernel(*turned), first, out=out.view(signed))
    return out
