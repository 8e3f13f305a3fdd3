"""Functions of one number that give 0 for 0: they work on the values alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import Tensor
from taeda._core_api import runtime as core

from .._graph import built, entries, raw_entries
from .._parts import tensor_of
from ._registry import in_place, named_arguments, rule

#: f(a + b) = f(a) + f(b): values at one place need not be added up first
LINEAR = "neg positive deg2rad rad2deg".split()
#: the others; a test calls each with 0
ZERO_PRESERVING = """
    abs angle asin asinh atan atanh ceil conj_physical erf erfinv expm1 floor frac isinf isnan isneginf
    isposinf log1p nan_to_num relu round sgn sign signbit sin sinh sqrt square tan tanh trunc
""".split()


def _function(name: str) -> Any:
    for functions in core.functions.values():
        if name in functions:
            return functions[name]
    raise KeyError(name)


def _register(name: str, take: Callable[[Tensor], Any]) -> None:
    function = _function(name)

    @rule(name)
    def run(x: Tensor, *args: Any) -> Tensor:
        parts, values = take(x)
        made = function(values, **named_arguments(name, args)) if args else function(values)
        if made.requires_grad:
            return built(parts, made, x.shape)
        return tensor_of(parts.like(made), x.shape)


for _name in LINEAR:
    _register(_name, raw_entries)
for _name in ZERO_PRESERVING:
    _register(_name, entries)
in_place(*LINEAR, *ZERO_PRESERVING)


# ---- complex numbers: of values, which carry no flags ----


@rule("resolve_conj", "resolve_neg")
def resolve(x: Tensor) -> Tensor:
    return x


@rule("conj")
def conj(x: Tensor) -> Tensor:
    if not x.is_complex():
        return x
    parts, values = raw_entries(x)
    return built(parts, values.conj_physical(), x.shape)


def _part_of_numbers(name: str) -> None:
    @rule(name)
    def run(x: Tensor) -> Tensor:
        if name == "real" and not x.is_complex():
            return x
        parts, values = raw_entries(x)
        return built(parts, getattr(values, name).clone(), x.shape)


def _turned(name: str) -> None:
    @rule(name)
    def run(x: Tensor) -> Tensor:
        return x.transpose(-2, -1).conj()


for _name in ("real", "imag"):
    _part_of_numbers(_name)
for _name in ("matrix_H", "mH", "adjoint"):
    _turned(_name)
