"""Derivatives of special functions."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor, special

from ._registry import not_differentiable, rule


def _i1(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """I1' = I0 - I1 / x, a half at 0."""
    x = taeda.where(self == 0, 1.0, self)
    return grad * taeda.where(self == 0, 0.5, taeda.i0(x) - result / x)


def _i1e(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    x = taeda.where(self == 0, 1.0, self)
    slope = special.i0e(x) - result * (x.sgn() + x.reciprocal())
    return grad * taeda.where(self == 0, 0.5, slope)


rule("i0", self=lambda grad, self: grad * special.i1(self))
rule(
    "i0e",
    self=lambda grad, self, result: grad * (special.i1e(self) - self.sgn() * result),
)
rule("i1", self=_i1)
rule("i1e", self=_i1e)
for _name in (
    *("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0", "modified_bessel_i1"),
    *("modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0"),
    *("scaled_modified_bessel_k1", "spherical_bessel_j0", "airy_ai"),
):  # fmt: skip
    not_differentiable(_name, "no derivative is documented for it")


# ---- probability ----

_DENSITY = 1 / math.sqrt(2 * math.pi)

rule("ndtr", self=lambda grad, self: grad * ((self * self * -0.5).exp() * _DENSITY))
rule(
    "log_ndtr",
    self=lambda grad, self: grad / special.erfcx(self * -math.sqrt(0.5)) * math.sqrt(2 / math.pi),
)
rule(
    "ndtri",
    self=lambda grad, result: grad * ((result * result * 0.5).exp() * math.sqrt(2 * math.pi)),
)
rule(
    "erfcx",
    self=lambda grad, self, result: grad * (2 * self * result - 2 / math.sqrt(math.pi)),
)


def _entr(grad: Tensor, self: Tensor) -> Tensor:
    """Infinitely steep at 0; below it there is no derivative."""
    slope = -1 - taeda.where(self > 0, self, 1.0).log()
    outside = taeda.where(self == 0, math.inf, math.nan)
    return grad * taeda.where(self > 0, slope, outside)


rule("entr", self=_entr)


def _xlog1py_self(grad: Tensor, self: Tensor, other: Any) -> Tensor:
    return taeda.where((self == 0) & (other <= -1), 0.0, special.xlog1py(grad, other))


rule(
    "xlog1py",
    self=_xlog1py_self,
    other=lambda grad, self, other: grad * self / (other + 1),
)


# ---- incomplete gamma and zeta functions ----


def _weight(a: Tensor, x: Tensor) -> Tensor:
    return ((a - 1) * x.log() - x - a.lgamma()).exp()


def _unknown(name: str) -> Any:
    def formula(grad: Tensor) -> Tensor:
        raise NotImplementedError(
            f"the derivative of {name} in its first argument is not implemented"
        )

    return formula


rule(
    "igamma",
    self=_unknown("igamma"),
    other=lambda grad, self, other: grad * _weight(self, other),
)
rule(
    "igammac",
    self=_unknown("igammac"),
    other=lambda grad, self, other: -grad * _weight(self, other),
)


def _zeta_other(grad: Tensor, self: Any, other: Tensor) -> Tensor:
    return grad * -self * special.zeta(self + 1, other)


rule("zeta", self=_unknown("zeta"), other=_zeta_other)
