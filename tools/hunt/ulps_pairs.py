"""Functions of two numbers and of complex ones for tools/hunt/ulps.py: what they are exactly, where they
are judged, their bounds.

The error of a pair's value and of its two slopes is judged as in ulps.py. A complex result is
judged as a whole: the distance from the exact one over the last place of its size, for the value
and the derivative; its smaller part may be less exact.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

import taeda
from taeda import special

__all__ = ["COMPLEX", "PAIRS", "Complex", "Pair", "worst_complex", "worst_pair"]

INF = math.inf
SMALLEST = 1e-20
RANGE = {"float64": (1e-300, 1e300), "float32": (1e-37, 1e37)}
SINGLE = {"complex128": "float64", "complex64": "float32"}


def called(name: str) -> Callable[..., taeda.Tensor]:
    return getattr(taeda, name, None) or getattr(special, name)


def spread(low: float, high: float, kind: str, r: random.Random) -> float:
    """A number of the interval: evenly, by powers of ten, or near an end; of the interval's sign only."""
    tiny, huge = RANGE[kind]
    low, high = max(low, -huge), min(high, huge)
    way = r.randrange(3)
    if way == 0:
        return (
            low + r.random() * (min(high, 100) - max(low, -100))
            if high - low > 200
            else r.uniform(low, high)
        )
    if way == 1:
        size = 10 ** r.uniform(math.log10(tiny), math.log10(max(high, -low)))
        sign = -1 if low < 0 and (high <= 0 or r.random() < 0.5) else 1
        return sign * size
    at = low if r.random() < 0.5 and low > -huge else high
    at = 1.0 if abs(at) >= huge else at
    return (
        at + (high - at if at < high else low - at) * 10 ** -r.uniform(0, 12)
        if high < huge
        else at * (1 + r.random())
    )


# ---- two numbers ----


@dataclass(frozen=True)
class Pair:
    """A function of x and y on a box, with its bounds in ulp: of the value, and of the slopes if
    there are any.
    """

    name: str
    exact: Callable[[Any, Any], Any]
    x: tuple[float, float]
    y: tuple[float, float]
    float64: tuple[float, ...]
    float32: tuple[float, ...]
    slopes: tuple[Callable[[Any, Any], Any], ...] = ()  # exact ones, by x and by y
    scale: tuple[float, ...] = (0, 0, 0)
    keep: Callable[[float, float], bool] = lambda x, y: True  # points elsewhere are not judged

    def __str__(self) -> str:
        return self.name


def pair_points(f: Pair, kind: str, count: int, seed: int) -> tuple[Any, Any]:
    r, rows = random.Random(f"{seed} {f.name}"), []
    for _ in range(50 * count):
        with np.errstate(over="ignore", under="ignore"):
            x, y = (float(np.dtype(kind).type(spread(*ends, kind, r))) for ends in (f.x, f.y))
        inside = (
            f.x[0] < x < f.x[1] and f.y[0] < y < f.y[1] and math.isfinite(x) and math.isfinite(y)
        )
        if inside and x and y and f.keep(x, y):
            rows.append((x, y))
        if len(rows) == count:
            break
    made = np.array(rows, dtype=kind)
    return made[:, 0].copy(), made[:, 1].copy()


def worst_pair(
    f: Pair, kind: str, count: int, distance: Any, seed: int = 0
) -> list[tuple[float, Any]]:
    """For the value and each slope that has a bound: the worst error, and where."""
    x, y = pair_points(f, kind, count, seed)
    bounds = getattr(f, kind)
    given = [taeda.from_numpy(v).requires_grad_(len(bounds) > 1) for v in (x, y)]
    value = called(f.name)(*given)
    rows = [value, *(taeda.autograd.grad(value.sum(), given) if len(bounds) > 1 else ())]
    largest, found = mp.mpf(float(np.finfo(kind).max)), []
    with mp.workdps(50):
        for order, row in enumerate(rows[: len(bounds)]):
            worst: tuple[float, Any] = (0.0, None)
            for a, b, got in zip(x.tolist(), y.tolist(), row.detach().tolist(), strict=True):
                exact = (f.exact, *f.slopes)[order](mp.mpf(a), mp.mpf(b))
                scale = f.scale[order] or (SMALLEST if order else 0)
                error = distance(got, exact, scale, x.dtype, largest)
                if error > worst[0]:
                    worst = error, (a, b)
            found.append(worst)
    return found


def _whole(x: Any, y: Any, function: Callable[[float, float], float]) -> Any:
    return mp.mpf(function(float(x), float(y)))  # exact in double, and so in float


def _lower(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def _upper(a: Any, x: Any) -> Any:
    return mp.gammainc(a, x, mp.inf, regularized=True)


def _add_exponents(base: Any) -> Callable[[Any, Any], Any]:
    return lambda x, y: mp.log(mp.power(base, x) + mp.power(base, y)) / mp.log(base)


def _shares(base: Any) -> tuple[Callable[[Any, Any], Any], ...]:
    return (
        lambda x, y: 1 / (1 + mp.power(base, y - x)),
        lambda x, y: 1 / (1 + mp.power(base, x - y)),
    )


def _zeta(s: Any, q: Any) -> Any:
    with mp.workdps(150):  # mpmath's digits are absolute ones here
        return mp.zeta(s, q)


def _chebyshev(x: Any, n: int) -> tuple[Any, Any]:
    """T(n) and U(n - 1)."""
    before, t, u_before, u = x, mp.mpf(1), mp.mpf(-1), mp.mpf(0)
    for _ in range(n):
        before, t, u_before, u = t, 2 * x * t - before, u, 2 * x * u - u_before
    return t, u


def _of_chebyshev(factor: Callable[[Any], Any], shifted: bool) -> Callable[[Any, Any], Any]:
    """T(n) + U(n - 1) times a factor, of x or of 2 x - 1."""

    def exact(x: Any, order: Any) -> Any:
        with mp.workdps(700):  # 1e-300 beside 1
            x = 2 * x - 1 if shifted else x
            t, u = _chebyshev(x, int(order))
            return t + factor(x) * u

    return exact


def _of_recurrence(next_one: Callable[[Any, int, Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def exact(x: Any, order: Any) -> Any:
        before, value = mp.mpf(0), mp.mpf(1)
        with mp.workdps(700):
            for k in range(int(order)):
                before, value = value, next_one(x, k, value, before)
        return value

    return exact


_FACTORS: dict[str, Callable[[Any], Any]] = {
    "chebyshev_polynomial_t": lambda x: 0,
    "chebyshev_polynomial_u": lambda x: x,
    "chebyshev_polynomial_v": lambda x: x - 1,
    "chebyshev_polynomial_w": lambda x: x + 1,
}
_STEPS: dict[str, Callable[[Any, int, Any, Any], Any]] = {
    "hermite_polynomial_h": lambda x, k, p, before: 2 * x * p - 2 * k * before,
    "hermite_polynomial_he": lambda x, k, p, before: x * p - k * before,
    "laguerre_polynomial_l": lambda x, k, p, before: ((2 * k + 1 - x) * p - k * before) / (k + 1),
    "legendre_polynomial_p": lambda x, k, p, before: ((2 * k + 1) * x * p - k * before) / (k + 1),
}
_POLYNOMIALS = {
    **{name: _of_chebyshev(factor, shifted=False) for name, factor in _FACTORS.items()},
    **{f"shifted_{name}": _of_chebyshev(factor, shifted=True) for name, factor in _FACTORS.items()},
    **{name: _of_recurrence(step) for name, step in _STEPS.items()},
}


def _pow_slopes() -> tuple[Callable[[Any, Any], Any], ...]:
    return lambda x, y: y * mp.power(x, y - 1), lambda x, y: mp.power(x, y) * mp.log(x)


RIGHT, ALL = (0.0, INF), (-INF, INF)
LOW = (-50.0, 50.0)
ATAN2 = (lambda y, x: x / (x * x + y * y), lambda y, x: -y / (x * x + y * y))
HYPOT = (lambda x, y: x / mp.hypot(x, y), lambda x, y: y / mp.hypot(x, y))
PAIRS = (
    Pair("pow", mp.power, RIGHT, (-1000.0, 1000.0), (1.5, 800, 5), (1.5, 100, 4), _pow_slopes()),
    Pair("atan2", mp.atan2, ALL, ALL, (4, 4.5, 5.5), (3, 7.5, 7), ATAN2),
    Pair("hypot", mp.hypot, ALL, ALL, (2.5, 2.5, 3), (3, 3, 3), HYPOT),
    Pair("fmod", lambda x, y: _whole(x, y, math.fmod), (-1e6, 1e6), (-1e3, 1e3), (0,), (0,)),
    Pair("remainder", lambda x, y: _whole(x, y, lambda a, b: a % b), (-1e6, 1e6), (-1e3, 1e3), (0,), (1,)),
    Pair("copysign", lambda x, y: mp.sign(y) * abs(x), ALL, ALL, (0,), (0,)),
    Pair("nextafter", lambda x, y: x, ALL, ALL, (2,), (2,)),
    Pair("ldexp", lambda x, y: x * mp.power(2, y), (-1e3, 1e3), LOW, (3,), (2.5,)),
    Pair("logaddexp", _add_exponents(mp.e), LOW, LOW, (1, 45, 60), (1.5, 60, 55), _shares(mp.e), (1, 0, 0)),
    Pair("logaddexp2", _add_exponents(mp.mpf(2)), LOW, LOW, (2, 45, 75), (2.5, 40, 45), _shares(2),
        (1, 0, 0)),
    Pair("xlogy", lambda x, y: x * mp.log(y), ALL, RIGHT, (2.5, 1.5, 1), (2.5, 1.5, 1),
        (lambda x, y: mp.log(y), lambda x, y: x / y)),
    Pair("xlog1py", lambda x, y: x * mp.log1p(y), ALL, (-1.0, INF), (3, 2, 2.5), (3.5, 2, 2),
        (lambda x, y: mp.log1p(y), lambda x, y: x / (1 + y))),
    Pair("gammainc", _lower, (0.0, 60.0), (0.0, 120.0), (95,), (1,), keep=lambda a, x: _lower(a, x) > 1e-30),
    Pair("gammaincc", _upper, (0.0, 60.0), (0.0, 120.0), (170,), (1,), keep=lambda a,
        x: _upper(a, x) > 1e-30),
    Pair("zeta", _zeta, (1.001, 40.0), (0.0, 100.0), (15,), (1,)),
)  # fmt: skip
PAIRS += tuple(
    Pair(name, exact, (-3.0, 3.0), (0.0, 60.0), (0.6,), (0.6,))
    for name, exact in _POLYNOMIALS.items()
)


# ---- complex numbers ----


@dataclass(frozen=True)
class Complex:
    """A function of a complex number up to a size, with its bounds: of the value and of the derivative."""

    name: str
    exact: Callable[[Any], Any]
    size: float
    complex128: tuple[float, ...]
    complex64: tuple[float, ...]

    def __str__(self) -> str:
        return self.name


def complex_points(f: Complex, kind: str, count: int, seed: int) -> Any:
    """Numbers of every direction and size, near the axes too, and near 1, -1, i and -i."""
    r, found = random.Random(f"{seed} {f.name}"), []
    for _ in range(count):
        way, size = r.randrange(4), 10 ** r.uniform(-15, math.log10(f.size))
        z = size * complex(math.cos(angle := r.uniform(-math.pi, math.pi)), math.sin(angle))
        if way == 1:
            z = complex(r.uniform(-1, 1), r.uniform(-1, 1)) * min(f.size, 10)
        if way == 2:
            z = complex(z.real, z.imag * 10 ** -r.uniform(0, 10))
        if way == 3:
            z = r.choice((1, -1, 1j, -1j)) + min(size, 0.1) * complex(
                math.cos(angle), math.sin(angle)
            )
        found.append(z)
    return np.array(found, dtype=kind)


def worst_complex(f: Complex, kind: str, count: int, seed: int = 0) -> list[tuple[float, Any]]:
    """For the value and the derivative: the worst error, and where."""
    z = complex_points(f, kind, count, seed)
    given = taeda.from_numpy(z).requires_grad_()
    value = called(f.name)(given)
    rows = [value.detach()]
    if len(getattr(f, kind)) > 1:
        rows.append(taeda.autograd.grad(value.real.sum(), given)[0].conj())
    single = np.dtype(SINGLE[kind])
    found = []
    for order, row in enumerate(rows):
        worst: tuple[float, Any] = (0.0, None)
        for at, got in zip(z.tolist(), row.tolist(), strict=True):
            with mp.workdps(80):
                point = mp.mpc(at)
                step = mp.mpf(10) ** -25 * max(abs(point), mp.mpf(10) ** -25)
                exact = (
                    (f.exact(point + step) - f.exact(point - step)) / (2 * step)
                    if order
                    else f.exact(point)
                )
                if abs(exact) > mp.mpf(float(np.finfo(single).max)) / 2:
                    continue
                finite = math.isfinite(got.real) and math.isfinite(got.imag)
                unit = float(np.spacing(single.type(max(float(abs(exact)), SMALLEST))))
                error = float(abs(mp.mpc(got) - exact)) / unit if finite else INF
            if error > worst[0]:
                worst = error, at
        found.append(worst)
    return found


COMPLEX = (
    Complex("exp", mp.exp, 300, (2.5, 2.5), (3, 3)),
    Complex("expm1", mp.expm1, 80, (3.5, 2.5), (1.5, 3)),
    Complex("log", mp.log, 1e30, (2, 3), (2.5, 3)),
    Complex("log1p", mp.log1p, 1e15, (3.5, 3.5), (1.5, 3.5)),
    Complex("log2", lambda z: mp.log(z) / mp.log(2), 1e30, (2.5, 3.5), (1, 4)),
    Complex("log10", mp.log10, 1e30, (3, 5), (1.5, 4)),
    Complex("sqrt", mp.sqrt, 1e30, (2.5, 4.5), (2, 4)),
    Complex("rsqrt", lambda z: 1 / mp.sqrt(z), 1e15, (4, 15), (3.5, 15)),
    Complex("reciprocal", lambda z: 1 / z, 1e15, (2.5, 6), (2.5, 5.5)),
    Complex("square", lambda z: z * z, 1e15, (2, 1), (2, 1)),
    Complex("sin", mp.sin, 80, (3, 3), (3, 2.5)),
    Complex("cos", mp.cos, 80, (3, 3), (2.5, 3)),
    Complex("tan", mp.tan, 20, (5, INF), (5, INF)),
    Complex("sinh", mp.sinh, 80, (3, 3.5), (3.5, 3.5)),
    Complex("cosh", mp.cosh, 80, (3, 3), (2.5, 3)),
    Complex("tanh", mp.tanh, 20, (6.5, INF), (5.5, INF)),
    Complex("asin", mp.asin, 1e15, (4.5, 5), (4.5, 5)),
    Complex("acos", mp.acos, 1e15, (2.5, 5), (3, 5)),
    Complex("atan", mp.atan, 1e15, (4, 6), (3, 6)),
    Complex("asinh", mp.asinh, 1e15, (4, 5), (4.5, 5)),
    Complex("acosh", mp.acosh, 1e15, (4, 5.5), (3.5, 6.5)),
    Complex("atanh", mp.atanh, 1e15, (5.5, 6), (5.5, 6)),
    Complex("sigmoid", lambda z: 1 / (1 + mp.exp(-z)), 300, (5, INF), (6, INF)),
    Complex("sinc", lambda z: mp.sincpi(z), 20, (INF, 250), (INF, 105)),
)  # fmt: skip
