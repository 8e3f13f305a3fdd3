"""Derivatives of special functions."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor, special
from taeda._core_api.operators import nn as _nn

from ._registry import not_differentiable, rule


def _polynomial(x: Tensor, coefficients: list[float]) -> Tensor:
    """c[0] + c[1] x + ..."""
    total = taeda.full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = total * x + c
    return total


# I1'(x) as a series in (x / 2)^2: the formula for large x takes the difference of two numbers that
# grow equal at 0
_I1_SLOPES = [(2 * k + 1) / (2 * math.factorial(k) * math.factorial(k + 1)) for k in range(14)]


def _i1_slopes(self: Tensor, result: Tensor, i0: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Whether |x| < 2, the slope there, and the difference I0 - I1 / x elsewhere."""
    near = self.abs() < 2
    small, large = taeda.where(near, self, 0.0), taeda.where(near, 2.0, self)
    return near, _polynomial(small * small / 4, _I1_SLOPES), i0(large) - result / large


def _i1(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    far = result.isinf()
    # a stand-in beyond the largest number, for there the difference and its own slope would be inf - inf
    at, value = taeda.where(far, 3.0, self), taeda.where(far, 0.0, result)
    near, small, large = _i1_slopes(at, value, taeda.i0)
    return grad * taeda.where(far, result.abs(), taeda.where(near, small, large))


def _i1e(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    near, small, large = _i1_slopes(self, result, special.i0e)
    decay = taeda.where(near, -self.abs(), 0.0).exp()
    return grad * (taeda.where(near, decay * small, large) - self.sgn() * result)


rule("i0", self=lambda grad, self: grad * special.i1(self))
rule(
    "i0e",
    self=lambda grad, self, result: grad * (special.i1e(self) - self.sgn() * result),
)
rule("i1", self=_i1)
rule("i1e", self=_i1e)
for _name in (
    *(
        "bessel_j0",
        "bessel_j1",
        "bessel_y0",
        "bessel_y1",
        "modified_bessel_i0",
        "modified_bessel_i1",
    ),
    *("modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0"),
    *("scaled_modified_bessel_k1", "spherical_bessel_j0", "airy_ai"),
):
    not_differentiable(_name, "no derivative is documented for it")


# ---- probability ----

_DENSITY = 1 / math.sqrt(2 * math.pi)

rule("ndtr", self=lambda grad, self: grad * ((self * self * -0.5).exp() * _DENSITY))


def _hazard(x: Tensor) -> Tensor:
    """Density over share: by erfcx on the left, where both vanish, and plainly on the right, where
    erfcx overflows.
    """
    right = x > 0
    high, low = taeda.where(right, x, 0.0), taeda.where(right, 0.0, x)
    plain = (high * high * -0.5).exp() * _DENSITY / special.ndtr(high)
    return taeda.where(right, plain, math.sqrt(2 / math.pi) / special.erfcx(low * -math.sqrt(0.5)))


def _ndtri(grad: Tensor, result: Tensor) -> Tensor:
    """The result is computed again: an exponential of its square shows how it was rounded."""
    return grad * ((result * result * 0.5).exp() * math.sqrt(2 * math.pi))


rule("log_ndtr", self=lambda grad, self: grad * _hazard(self))
rule(
    "ndtri",
    self=lambda grad, self: _ndtri(grad, special.ndtri(self)),
)


# erfcx'(x) sqrt(pi) x^2 as a series in 1 / (2 x^2), which is exact to the last bits from 10 on
_FAR = 10.0
_ERFCX_SLOPES = [
    (-1) ** (k + 1) * (2 * k + 1) * float(math.prod(range(1, 2 * k, 2))) for k in range(15)
]


def _erfcx(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """2 x erfcx(x) - 2 / sqrt(pi), whose terms grow equal on the right."""
    far = self > _FAR
    x, y = taeda.where(far, self, _FAR), taeda.where(far, 0.0, self)
    series = _polynomial(0.5 / x / x, _ERFCX_SLOPES) / x / x / math.sqrt(math.pi)
    return grad * taeda.where(far, series, 2 * y * result - 2 / math.sqrt(math.pi))


rule("erfcx", self=_erfcx)


def _entr(grad: Tensor, self: Tensor) -> Tensor:
    """Infinitely steep at 0; below it there is no derivative."""
    slope = -1 - taeda.where(self > 0, self, 1.0).log()
    outside = taeda.where(self == 0, math.inf, math.nan)
    return grad * taeda.where(self > 0, slope, outside)


rule("entr", self=_entr)


def _xlog1py_self(grad: Tensor, self: Tensor, other: Any) -> Tensor:
    if not isinstance(other, Tensor):
        if other > -1:
            return special.xlog1py(grad, other)
        return grad * taeda.where(self == 0, 0.0, -math.inf if other == -1 else math.nan)
    return special.xlog1py(grad, taeda.where((self == 0) & (other <= -1), 0.0, other))


rule(
    "xlog1py",
    self=_xlog1py_self,
    other=lambda grad, self, other: grad * self / (other + 1),
)


# ---- incomplete gamma and zeta functions ----


def _weight(a: Tensor, x: Tensor) -> Tensor:
    return ((a - 1) * x.log() - x - a.lgamma()).exp()


def _unknown(name: str, argument: str = "first") -> Any:
    def formula(grad: Tensor) -> Tensor:
        raise NotImplementedError(
            f"the derivative of {name} in its {argument} argument is not implemented"
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


# ---- orthogonal polynomials: DLMF 18.9 ----


def _order(n: Any) -> Any:
    """The order that a row computes; -1 for all below 0, by whose size the result is multiplied."""
    if isinstance(n, Tensor):
        return n.trunc().clamp(min=-1)
    n = max(n, -1.0)
    return float(math.trunc(n)) if math.isfinite(n) else n


def _second_kind(x: Any, n: Any) -> Tensor:
    """The slope of Chebyshev's polynomial of the second kind."""
    return 2 * _nn._gegenbauer_polynomial(x, n - 1, 2)


_BY_X: dict[str, Any] = {
    "chebyshev_polynomial_t": lambda x, n: n * special.chebyshev_polynomial_u(x, n - 1),
    "chebyshev_polynomial_u": _second_kind,
    # V(n) is T(n) + (x - 1) U(n - 1), and W(n) is T(n) + (x + 1) U(n - 1)
    "chebyshev_polynomial_v": lambda x, n: (
        (n + 1) * special.chebyshev_polynomial_u(x, n - 1) + (x - 1) * _second_kind(x, n - 1)
    ),
    "chebyshev_polynomial_w": lambda x, n: (
        (n + 1) * special.chebyshev_polynomial_u(x, n - 1) + (x + 1) * _second_kind(x, n - 1)
    ),
    "hermite_polynomial_h": lambda x, n: 2 * n * special.hermite_polynomial_h(x, n - 1),
    "hermite_polynomial_he": lambda x, n: n * special.hermite_polynomial_he(x, n - 1),
    "laguerre_polynomial_l": lambda x, n: -_nn._laguerre_polynomial(x, n - 1, 1),
    "legendre_polynomial_p": lambda x, n: _nn._gegenbauer_polynomial(x, n - 1, 1.5),
}


def _of_order(slope: Any) -> Any:
    return lambda grad, x, n: grad * slope(x, _order(n))


def _shifted(slope: Any) -> Any:
    return lambda grad, x, n: grad * 2 * slope(2 * x - 1, _order(n))


# the order is cut to an integer, so that there is no derivative by it
for _name, _slope in _BY_X.items():
    rule(_name, x=_of_order(_slope), n=_unknown(_name, "second"))
    if _name.startswith("chebyshev"):
        rule(f"shifted_{_name}", x=_shifted(_slope), n=_unknown(f"shifted_{_name}", "second"))


def _gegenbauer(grad: Tensor, x: Tensor, n: Any, alpha: float) -> Tensor:
    return grad * 2 * alpha * _nn._gegenbauer_polynomial(x, _order(n) - 1, alpha + 1)


def _laguerre(grad: Tensor, x: Tensor, n: Any, alpha: float) -> Tensor:
    return -grad * _nn._laguerre_polynomial(x, _order(n) - 1, alpha + 1)


for _name, _formula in (
    ("_gegenbauer_polynomial", _gegenbauer),
    ("_laguerre_polynomial", _laguerre),
):
    rule(_name, x=_formula, n=_unknown(_name, "second"))
