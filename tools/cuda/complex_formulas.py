"""Functions of complex numbers that are formulas of a device, and how far they may lie from the processor."""

from __future__ import annotations

import re

#: functions of complex numbers, by formulas on a device and by the C library on a processor: how
#: many units in the last place of a result's larger part they may lie apart. float is computed in
#: double, so the C library's errors are the most of it
LISTED = {
    "exp": 2, "exp2": 2, "log": 2, "log2": 3, "log10": 1, "log1p": 2, "sqrt": 1, "rsqrt": 4,
    "sigmoid": 6, "silu": 7,
    "sin": 2, "cos": 2, "tan": 4, "asin": 4, "acos": 2, "atan": 2, "sinh": 2, "cosh": 2, "tanh": 4,
    "asinh": 3, "acosh": 2,
    "atanh": 3, "sinc": 3, "logaddexp": 4, "pow": 64,
}  # fmt: skip

#: rows made of several of them: units of the larger of 1 and the result, which may be a small difference
MADE_OF = {"rms_norm": 16, "tanhshrink": 8, "float_power": 64, "logsumexp": 8, "logcumsumexp": 16}


def allowed(row: str) -> tuple[int, bool]:
    """How many units in the last place a row of the op table may lie apart in complex numbers, and whether
    results below 1 count as 1. In-place and `_foreach_` rows are those of their function.

    >>> allowed("_foreach_acos_.out"), allowed("tanhshrink"), allowed("add.Tensor")
    ((2, False), (8, True), (0, False))
    """
    name = re.sub(r"^_foreach_", "", row.partition(".")[0]).rstrip("_")
    return (MADE_OF[name], True) if name in MADE_OF else (LISTED.get(name, 0), False)
