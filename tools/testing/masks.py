"""Inputs and masks for tests of functions under a mask, and what each row of the rest gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor

X = taeda.tensor(
    [[0.5, -2.0, 3.0, 1.0], [4.0, 1.5, -6.0, 0.25], [1.0, 2.0, 2.0, -3.0]], dtype=taeda.float64
)
#: a row of which nothing counts stands last
MASK = taeda.tensor([[True, False, True, True], [False, True, True, False], [False] * 4])
DTYPES = (taeda.float64, taeda.float32, taeda.float16, taeda.bfloat16)


def kept_rows(x: Tensor, mask: Tensor) -> Iterator[Tensor]:
    """What counts of each row that has something."""
    for row, own in zip(x, mask, strict=True):
        if own.any():
            yield row[own]


def by_rows(function: Callable[[Tensor], Any], x: Tensor = X, mask: Tensor = MASK) -> Tensor:
    """What a function without a mask gives for what counts of each row that has something."""
    return taeda.stack([taeda.as_tensor(function(row)) for row in kept_rows(x, mask)])


#: operators of masked tensors by name
UNARY = """
    abs absolute acos arccos acosh arccosh angle asin arcsin asinh arcsinh atan arctan atanh arctanh ceil
    conj_physical cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 fix floor frac lgamma log log10
    log1p log2 logit i0 isnan nan_to_num neg negative positive rad2deg reciprocal round rsqrt sigmoid sign
    sgn signbit sin sinc sinh sqrt square tan tanh trunc
""".split()
NOT_IN_PLACE = {"angle", "positive", "signbit", "isnan"}
BINARY = """
    add atan2 arctan2 div divide floor_divide fmod logaddexp logaddexp2 mul multiply nextafter remainder sub
    subtract true_divide eq ne le ge greater greater_equal gt less_equal lt less maximum minimum fmax fmin
    not_equal
""".split()
INTEGER = "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift".split()
REDUCTIONS = "sum mean amin amax argmin argmax prod norm var std".split()


def same_masked(made: Any, data: Tensor, mask: Tensor) -> None:
    """The same mask and dtype, and the same data where it counts."""
    assert taeda.masked.is_masked_tensor(made)
    assert taeda.equal(made.get_mask(), mask)
    assert taeda.allclose(made.get_data()[mask], data[mask], equal_nan=True)
    assert made.dtype is data.dtype
