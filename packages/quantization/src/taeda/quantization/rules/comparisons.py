"""Comparisons: of the numbers that integers stand for; bools come out."""

from __future__ import annotations

from typing import Any

from .._parts import is_quantized, parts_of
from ._registry import call, rule

ROWS = ("eq.Tensor", "ne.Tensor", "lt.Tensor", "le.Tensor", "gt.Tensor", "ge.Tensor")


def _floats(x: Any) -> Any:
    return parts_of(x, "").floats() if is_quantized(x) else x


def _register(row: str) -> None:
    @rule(row)
    def run(*args: Any) -> Any:
        return call(row, *map(_floats, args))


for _row in ROWS:
    _register(_row)
