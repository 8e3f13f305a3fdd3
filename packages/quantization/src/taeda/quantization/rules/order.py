"""What the order of numbers decides: integers have the same one, as scales are above 0."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from ._registry import call, integers_in, one_scale, rule, same_scale, wrapped

#: a tensor with the scale of the input
VALUES = ("max", "min", "amax", "amin", "median")
#: (values, places), or of `aminmax` (values, values)
PAIRS = (
    "max.dim min.dim sort sort.stable topk kthvalue mode median.dim cummax cummin aminmax".split()
)
#: places
PLACES = ("argmax", "argmin", "argsort", "argsort.stable")


def _value(row: str) -> None:
    @rule(row)
    def run(*args: Any) -> Any:
        return same_scale(row, *args)


def _pair(row: str) -> None:
    @rule(row)
    def run(*args: Any) -> Any:
        parts = one_scale(args[0], row.partition(".")[0])
        values, places = made = call(row, *map(integers_in, args))
        if places.dtype is parts.integers.dtype:
            places = wrapped(places, parts)
        return type(made)((wrapped(values, parts), places))


def _place(row: str) -> None:
    @rule(row)
    def run(x: Tensor, *args: Any) -> Any:
        return call(row, one_scale(x, row.partition(".")[0]).integers, *args)


for _row in VALUES:
    _value(_row)
for _row in PAIRS:
    _pair(_row)
for _row in PLACES:
    _place(_row)
