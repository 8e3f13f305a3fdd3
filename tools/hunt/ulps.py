"""How far functions of one number, and their first two derivatives, are from the exact values:
worst errors in ulp.

    python tools/hunt/ulps.py                     a table of all functions, some minutes
    python tools/hunt/ulps.py --count 5000 erf    more points, functions whose name matches
    python tools/hunt/ulps.py --count 40 --write  the tables of docs/accuracy.md

An ulp is the distance from the exact value, or from the function's `scale` if that is larger, to
the next number of the dtype. A scale stands where a function has zeros that its method does not
treat: the error is then absolute. Points crowd at both ends of every interval and around 0, down to
denormals. Exact values are mpmath's. Functions of two numbers and of complex ones are in
ulps_pairs.py.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np

import taeda
from taeda import special

sys.path.insert(0, str(Path(__file__).parent))  # for its other half
import ulps_pairs

__all__ = ["FUNCTIONS", "Function", "errors", "rows", "worst"]

INF = math.inf
SMALLEST = 1e-20  # derivatives are judged from there on, and down to there
DTYPES = {"float64": (np.float64, 5e-324, 1.7e308), "float32": (np.float32, 1.4e-45, 3.4e38)}


# Where errors are absolute: the size in whose units they are counted, or that size at a point.
Scale = float | Callable[[float], float]


@dataclass(frozen=True)
class Function:
    """A function, where it is judged, and its bounds in ulp: of value, slope and second derivative."""

    name: str
    exact: Callable[[Any], Any]
    intervals: tuple[tuple[float, float], ...]
    float64: tuple[float, ...]
    float32: tuple[float, ...]
    scale: tuple[Scale, ...] = (0, 0, 0)
    scale32: tuple[Scale, ...] = ()  # of float32, where it is another
    of: str = ""  # which part of its range, where a function has several rows

    def __str__(self) -> str:
        return f"{self.name} {self.of}".strip()

    def call(self, x: taeda.Tensor) -> taeda.Tensor:
        found = getattr(taeda, self.name, None) or getattr(special, self.name, None)
        return (found or getattr(taeda.nn.functional, self.name))(x)


def points(intervals: tuple[tuple[float, float], ...], dtype: str, count: int, seed: int) -> Any:
    """Numbers of the dtype within the intervals: even, crowded at the ends, and tiny."""
    kind, tiny, huge = DTYPES[dtype]
    r, found = random.Random(f"{seed} {intervals}"), []
    for low, high in intervals:
        low, high = max(low, -huge), min(high, huge)
        digits = 16 if dtype == "float64" else 7
        for _ in range(count):
            way, share = r.randrange(4), 10 ** -r.uniform(0, digits)
            if way == 0 or (way == 3 and not low <= 0 <= high):
                found.append(low + r.random() * (high / 2 - low / 2) * 2)
            elif way == 3:
                size = 10 ** r.uniform(math.log10(tiny), math.log10(max(high, -low)))
                found.append(size if r.random() * (high - max(low, -high)) < high else -size)
            else:  # crowded at an end; by powers of ten if the interval is wide
                width = high / 2 - low / 2
                found.append(low + width * share if way == 1 else high - width * share)
    with np.errstate(over="ignore", under="ignore"):
        made = np.unique(np.array(found, dtype=kind))
    inside = [any(max(a, -huge) < v < min(b, huge) for a, b in intervals) for v in made.tolist()]
    return made[np.array(inside)]


def errors(
    f: Function, dtype: str, count: int, seed: int = 0
) -> Iterator[tuple[int, float, float]]:
    """(order of the derivative, point, error in ulp)."""
    x = points(f.intervals, dtype, count, seed)
    given = taeda.from_numpy(x).requires_grad_()
    bounds = getattr(f, dtype)
    scales = f.scale32 if f.scale32 and dtype == "float32" else f.scale
    rows = [f.call(given)]
    for _ in bounds[1:]:
        rows += taeda.autograd.grad(rows[-1].sum(), given, create_graph=True)
    largest = mp.mpf(float(np.finfo(x.dtype).max))
    with mp.workdps(50):
        for order, row in enumerate(rows):
            for at, got in zip(x.tolist(), row.detach().tolist(), strict=True):
                if order and abs(at) < SMALLEST:
                    continue
                exact = f.exact(mp.mpf(at)) if order == 0 else derivative(f, at, order)
                given_scale = scales[order]
                scale = given_scale(at) if callable(given_scale) else given_scale
                scale = scale or (SMALLEST if order else 0)
                yield order, at, distance(got, exact, scale, x.dtype, largest)


def derivative(f: Function, at: float, order: int) -> Any:
    """By differences of the exact function, with digits for what cancels."""
    exact, ends = f.exact, [end for interval in f.intervals for end in interval]
    with mp.workdps(150):
        x = mp.mpf(at)
        room = min([abs(x - end) for end in ends if math.isfinite(end)], default=mp.mpf(1))
        room = room or abs(x) * mp.mpf(10) ** -5 or mp.mpf(1)  # at an end the function goes on
        step = mp.mpf(10) ** -35 * min(room, max(abs(x), mp.mpf(10) ** -5))
        if order == 1:
            return (exact(x + step) - exact(x - step)) / (2 * step)
        return (exact(x + step) - 2 * exact(x) + exact(x - step)) / step**2


def distance(got: float, exact: Any, scale: float, dtype: Any, largest: Any) -> float:
    """The error in ulp; infinity where NaN or an infinity has no place, or a number where one belongs."""
    if mp.isnan(exact):
        return 0.0 if math.isnan(got) else INF
    if abs(exact) >= largest or math.isinf(got):
        return (
            0.0 if abs(exact) >= largest * (1 - 1e-6) and abs(got) >= largest * (1 - 1e-6) else INF
        )
    if math.isnan(got):
        return INF
    unit = np.spacing(dtype.type(max(abs(float(exact)), scale)))
    return float(abs(mp.mpf(got) - exact) / mp.mpf(float(unit)))


def worst(f: Function, dtype: str, count: int, seed: int = 0) -> list[tuple[float, float]]:
    """For the value and each derivative that has a bound: the worst error, and where."""
    found = [(0.0, math.nan)] * len(getattr(f, dtype))
    for order, at, error in errors(f, dtype, count, seed):
        found[order] = max(found[order], (error, at), key=lambda pair: pair[0])
    return found


# ---- the table: name, exact value, intervals, bounds in float64 and in float32 ----
# Where a formula cancels, `scale` makes its error absolute: no function is without a bound.


def _ndtri(p: Any) -> Any:
    left = p if p < 0.5 else 1 - p
    if left == 0.5:
        return mp.mpf(0)
    t = mp.sqrt(-2 * mp.log(left))
    x = -t
    for _ in range(200):
        step = (mp.log(mp.erfc(-x / mp.sqrt(2)) / 2) - mp.log(left)) / (
            2 / mp.sqrt(2 * mp.pi) * mp.exp(-x * x / 2) / mp.erfc(-x / mp.sqrt(2))
        )
        x -= step
        if abs(step) < abs(x) * mp.mpf(10) ** (5 - mp.mp.dps):
            break
    return x if p < 0.5 else -x


def _share(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _log_share(x: Any) -> Any:
    return mp.log1p(-_share(-x)) if x > 0 else mp.log(_share(x))


def _wave(x: float) -> float:
    """How high the waves of Bessel functions are at x; between them they cross 0."""
    return math.sqrt(2 / math.pi / abs(x))


def _far(x: float) -> float:
    """The size of x, and 1 near 0: of a term that x multiplies."""
    return max(1.0, abs(x))


def _left(x: float) -> float:
    """The size of x left of -1, where x multiplies what is left of 1 - 1."""
    return abs(x) if x < -1 else 0.0


RIGHT = ((0.0, INF),)
FAR = ((-1e15, -50.0), (50.0, 1e15))
FUNCTIONS = (
    Function("exp", mp.exp, ((-745.0, 710.0),), (1.5, 1.5, 1.5), (1, 1, 1)),
    Function("exp2", lambda x: mp.mpf(2) ** x, ((-1074.0, 1024.0),), (1.5, 2, 3.5), (1.5, 2, 1.5)),
    Function("expm1", mp.expm1, ((-745.0, 709.0), (-46.0, 1.0)), (2, 1.5, 1.5), (2, 1, 1)),
    Function("log", mp.log, RIGHT, (1, 1, 2), (1, 1, 1.5)),
    Function("log2", lambda x: mp.log(x, 2), RIGHT, (1, 1.5, 2.5), (1, 2, 5)),
    Function("log10", mp.log10, RIGHT, (1, 1.5, 2), (1, 2, 2.5)),
    Function("log1p", mp.log1p, ((-1.0, INF),), (1, 1, 1), (1, 1.5, 2.5)),
    Function("sin", mp.sin, ((-100.0, 100.0),), (2, 2.5, 2), (2, 2, 2)),
    Function("sin", mp.sin, ((100.0, 1e15), (-1e300, -1e15)), (2,), (2,), of="beyond 100"),
    Function("cos", mp.cos, ((-100.0, 100.0),), (2.5, 2, 2.5), (2, 2, 2)),
    Function("cos", mp.cos, ((100.0, 1e15), (-1e300, -1e15)), (2,), (2,), of="beyond 100"),
    Function("tan", mp.tan, ((-100.0, 100.0),), (3.5, 6, 9), (3.5, 6, 9)),
    Function("tan", mp.tan, ((100.0, 1e15), (-1e300, -1e15)), (2,), (2,), of="beyond 100"),
    Function("asin", mp.asin, ((-1.0, 1.0),), (3, 6, 12), (3.5, 6, 12)),
    Function("acos", mp.acos, ((-1.0, 1.0),), (2, 6, 12), (2, 6, 12)),
    Function("atan", mp.atan, ((-1e18, 1e18),), (1, 1, 1), (2, 1.5, 2)),
    Function("sinh", mp.sinh, ((-700.0, 700.0),), (2, 2, 2), (2.5, 1, 2.5)),
    Function("cosh", mp.cosh, ((-700.0, 700.0),), (2, 2, 2), (1, 2.5, 1)),
    Function("tanh", mp.tanh, ((-40.0, 40.0),), (1, 2, 3), (2, 2, 3), (0, 1, 1)),
    Function("asinh", mp.asinh, ((-1e18, 1e18),), (2, 1, 1), (2, 1, 3.5)),
    Function("acosh", mp.acosh, ((1.0, 1e18),), (2, 5, 3.5), (2, 5, 1)),
    Function("atanh", mp.atanh, ((-1.0, 1.0),), (1.5, 6, 12), (2, 6, 12)),
    Function("sigmoid", lambda x: 1 / (1 + mp.exp(-x)), ((-700.0, 700.0),), (2.5, 2, 2), (2, 2, 2),
        (0, 1, 1), (1e-30, 1, 1)),
    Function("logit", lambda x: mp.log(x / (1 - x)), ((0.0, 1.0),), (3, 2, 6), (3, 2.5, 4.5)),
    Function("erf", mp.erf, ((-27.0, 27.0),), (1.5, 49, 17), (1.5, 54, 18)),
    Function("erfc", mp.erfc, ((-27.0, 27.0),), (3.5, 49, 17), (1.5, 54, 18)),
    Function("erfcx", lambda x: mp.exp(x * x) * mp.erfc(x), ((-26.0, 100.0), (100.0, 1e16)),
        (4, 2000, 2e5), (1, 1100, 2e5)),
    Function("erfinv", mp.erfinv, ((-1.0, 1.0),), (4, 270, 830), (2, 41, 120)),
    Function("ndtr", _share, ((-37.0, 38.0),), (4, 20, 20), (1, 49, 25)),
    Function("log_ndtr", _log_share, ((-38.0, 38.0),), (4, 20, 520), (1, 48, 610)),
    Function("ndtri", _ndtri, ((1e-300, 0.02), (0.02, 0.98), (0.98, 1 - 1e-6)), (6, 270, 650), (1, 80, 190)),
    Function("lgamma", mp.loggamma, ((0.0, 1e6),), (2.5, 2.5, 7.5), (3, 1, 1)),
    Function("lgamma", lambda x: mp.log(abs(mp.gamma(x))),
        ((-1.0, 0.0), (-2.0, -1.0), (-20.0, -2.0)), (4, 8, 8), (4, 2, 2), (1, 1, 1), of="left of 0"),
    Function("digamma", mp.digamma, ((0.0, 1e6), (-1.0, 0.0), (-2.0, -1.0), (-20.0, -2.0)),
        (830, 6, 230), (1, 1, 1)),
    Function("sinc", mp.sincpi, ((-30.0, 30.0),), (2, 6, 25), (2, 6, 25), (1, 1, 1)),
    Function("entr", lambda x: -x * mp.log(x), RIGHT, (2, 1, 1), (2, 1, 1)),
    Function("i0", lambda x: mp.besseli(0, x), ((-700.0, 700.0),), (4, 20, 20), (1, 1, 2)),
    Function("i1", lambda x: mp.besseli(1, x), ((-713.0, 713.0),), (4, 20, 20), (1, 2, 2)),
    Function("i0e", lambda x: mp.exp(-abs(x)) * mp.besseli(0, x), ((0.0, 700.0), (-1e6, 1e6)),
        (4, 8, 12), (2, 8, 12), (0, 0.1, 0.1)),
    Function("i1e", lambda x: mp.exp(-abs(x)) * mp.besseli(1, x), ((0.0, 700.0), (-1e6, 1e6)),
        (4, 8, 12), (2.5, 8, 12), (0, 0.1, 0.1)),
    Function("modified_bessel_k0", lambda x: mp.besselk(0, x), ((0.0, 700.0),), (4,), (1,)),
    Function("modified_bessel_k1", lambda x: mp.besselk(1, x), ((0.0, 700.0),), (4,), (1,)),
    Function("scaled_modified_bessel_k0", lambda x: mp.exp(x) * mp.besselk(0, x), ((0.0, 700.0),),
        (4,), (1,)),
    Function("scaled_modified_bessel_k1", lambda x: mp.exp(x) * mp.besselk(1, x), ((0.0, 700.0),),
        (4,), (1,)),
    Function("bessel_j0", lambda x: mp.besselj(0, x), ((-50.0, 50.0),), (7,), (1,)),
    Function("bessel_j0", lambda x: mp.besselj(0, x), FAR, (3,), (1,), (_wave,), of="beyond 50"),
    Function("bessel_j1", lambda x: mp.besselj(1, x), ((-50.0, 50.0),), (8,), (1,)),
    Function("bessel_j1", lambda x: mp.besselj(1, x), FAR, (3,), (1,), (_wave,), of="beyond 50"),
    Function("bessel_y0", lambda x: mp.bessely(0, x), ((0.0, 50.0),), (4.5,), (1,)),
    Function("bessel_y0", lambda x: mp.bessely(0, x), FAR[1:], (3,), (1,), (_wave,), of="beyond 50"),
    Function("bessel_y1", lambda x: mp.bessely(1, x), ((0.0, 50.0),), (4,), (1,)),
    Function("bessel_y1", lambda x: mp.bessely(1, x), FAR[1:], (3,), (1,), (_wave,), of="beyond 50"),
    Function("spherical_bessel_j0", mp.sinc, ((-50.0, 50.0),), (2.5,), (2,)),
    Function("spherical_bessel_j0", mp.sinc, FAR, (2,), (2,), (lambda x: 1 / abs(x),), of="beyond 50"),
    Function("airy_ai", mp.airyai, ((-20.0, 50.0),), (8,), (1,)),
    Function("airy_ai", mp.airyai, ((-1e10, -20.0),), (4,), (1,), (lambda x: abs(x) ** -0.25 / 2,),
        of="left of -20"),
    Function("silu", lambda x: x / (1 + mp.exp(-x)), ((-700.0, 700.0),), (2.5, 20, 2), (2, 9.5, 2),
        (0, 0, _far), (1e-30, 0, _far)),
    Function("gelu", lambda x: x * _share(x), ((-37.0, 38.0),), (3, 3, 27), (3, 3, 25), (_left, _left, 0)),
    Function("softplus", lambda x: mp.log1p(mp.exp(x)), ((-30.0, 20.0),), (2.5, 2.5, 2),
        (2.5, 3, 2), (0, 0, 1)),
    Function("logsigmoid", lambda x: -mp.log1p(mp.exp(-x)), ((-700.0, 30.0),), (2.5, 2.5, 2),
        (1.5, 2.5, 2), (0, 0, 1)),
    Function("mish", lambda x: x * mp.tanh(mp.log1p(mp.exp(x))), ((-30.0, 20.0),), (3.5, 25, 40),
        (3.5, 6, 8), (0, 0, 1)),
)  # fmt: skip


def exceeds(error: float, bound: float) -> bool:
    """Whether an error is above its bound; what is no number or wrongly infinite is, whatever the bound."""
    return math.isinf(error) or error > bound


Row = tuple[str, list[tuple[list[tuple[float, Any]], tuple[float, ...]]]]


def rows(kind: str, pattern: str, count: int, seed: int) -> Iterator[Row]:
    """(name, for both dtypes (errors and where, bounds)) of each function of a kind whose name matches."""
    pairs: dict[str, tuple[Any, Any, Callable[..., Any]]] = {
        "one": (FUNCTIONS, DTYPES, worst),
        "two": (
            ulps_pairs.PAIRS,
            DTYPES,
            lambda f, d, n, s: ulps_pairs.worst_pair(f, d, n, distance, s),
        ),
        "complex": (ulps_pairs.COMPLEX, ulps_pairs.SINGLE, ulps_pairs.worst_complex),
    }
    functions, dtypes, judge = pairs[kind]
    for f in functions:
        if re.search(pattern, f.name):
            yield str(f), [(judge(f, d, count, seed), getattr(f, d)) for d in dtypes]


def line(row: Row, cells: int) -> str:
    """A row of a table of docs/accuracy.md with so many cells a dtype."""
    name, parts = row
    texts = [
        text
        for found, _ in parts
        for text in [f"{error:.3g}" for error, _ in found] + ["–"] * (cells - len(found))
    ]
    return f"| `{name}` | {' | '.join(texts)} |"


def told(row: Row) -> str:
    name, parts = row
    return f"{name}: " + "; ".join(
        f"{error:.3g} of {bound:g} at {at!r}"
        for found, bounds in parts
        for (error, at), bound in zip(found, bounds, strict=True)
    )


CELLS = {"one": 3, "two": 3, "complex": 2}
PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"


def put(page: str, kind: str, lines: list[str]) -> str:
    """The page with new rows in its table of a kind: behind the line of dashes after `<!-- kind -->`."""
    before, mark, rest = page.partition(f"<!-- {kind} -->")
    head, dashes, after = rest.partition("---|\n")
    assert mark and dashes, f"{PAGE} has no table <!-- {kind} -->"
    after = re.sub(r"\A(\|.*\n)*", "", after)
    return "".join((before, mark, head, dashes, *(f"{row}\n" for row in lines), after))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="?", default="", help="a pattern of names")
    parser.add_argument("--count", type=int, default=400, help="points an interval")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--kind", choices=CELLS, help="functions of one number, of two, or of complex ones"
    )
    parser.add_argument("--write", action="store_true", help="the tables of docs/accuracy.md")
    options = parser.parse_args()
    if options.write and options.names:
        parser.error("--write replaces whole tables: leave the pattern of names out")
    above = 0
    for kind in [options.kind] if options.kind else CELLS:
        lines = []
        for row in rows(kind, options.names, options.count, options.seed):
            print(told(row), flush=True)
            lines.append(line(row, CELLS[kind]))
            above += sum(
                exceeds(error, bound)
                for found, bounds in row[1]
                for (error, _), bound in zip(found, bounds, strict=True)
            )
        if options.write:
            PAGE.write_text(put(PAGE.read_text(), kind, lines))
    print(f"{above} above their bounds", file=sys.stderr)
    return int(above > 0)


if __name__ == "__main__":
    sys.exit(main())
