"""Write csrc/cpu/special_cells.h: the special functions as polynomials, one for each cell of an interval.

    python tools/hold/fit_cells.py            rewrite the header, some minutes
    python tools/hold/fit_cells.py --check    say whether the header is what this file would write

A function (or what is left of it without its exponential, power or logarithm) is smooth on its
interval, which is cut into cells of equal width. On each cell it is interpolated at Chebyshev's
points from mpmath's values, and written in powers of the distance from the cell's centre. Where a
zero of the function lies in a cell or near it, the zero is the centre and the constant term is 0:
the relative error stays small beside the zero. The degree is the least one with which all cells are
within `goal` of the exact values, relative, at points between.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath as mp

HEADER = Path(__file__).parents[2] / "packages/core/csrc/cpu/special_cells.h"
DIGITS = 45
GOAL = 2e-17  # an eighth of what a double's last place holds
Exact = Callable[[Any], Any]


@dataclass(frozen=True)
class Piece:
    """A function on an interval in `cells` equal cells, of numbers of C's `kind`."""

    name: str
    exact: Exact
    low: float
    high: float
    cells: int
    goal: float = GOAL
    zeros: tuple[Any, ...] = ()
    kind: str = "double"
    scale: float = 0  # errors are relative to the function, or to this where it is larger


@dataclass(frozen=True)
class Table:
    """Pieces side by side, with one degree for all: cells 0 to 7 on one interval, 8 to 15 on another, say."""

    name: str
    about: str
    pieces: tuple[Piece, ...]

    @property
    def has_zeros(self) -> bool:
        return any(piece.zeros for piece in self.pieces)


def chebyshev(exact: Exact, low: Any, high: Any, centre: Any, degree: int) -> list[Any]:
    """Coefficients in powers of x - centre of the polynomial that meets `exact` at Chebyshev's
    points of [low, high].
    """
    half, middle, n = (high - low) / 2, (high + low) / 2, degree + 1
    angles = [mp.pi * (2 * k + 1) / (2 * n) for k in range(n)]
    values = [exact(middle + half * mp.cos(a)) for a in angles]
    series = [
        (2 if j else 1)
        * mp.fsum(v * mp.cos(j * a) for v, a in zip(values, angles, strict=True))
        / n
        for j in range(n)
    ]
    # Clenshaw's sum with polynomials in d = x - centre for numbers: s = (d + centre - middle) / half
    shift = (centre - middle) / half

    def times_s(p: list[Any]) -> list[Any]:
        out = [shift * c for c in p] + [mp.mpf(0)]
        for k, c in enumerate(p):
            out[k + 1] += c / half
        return out

    def plus(p: list[Any], q: list[Any]) -> list[Any]:
        size = max(len(p), len(q))
        p, q = p + [mp.mpf(0)] * (size - len(p)), q + [mp.mpf(0)] * (size - len(q))
        return [a + b for a, b in zip(p, q, strict=True)]

    one: list[Any] = [mp.mpf(0)]
    two: list[Any] = [mp.mpf(0)]
    for c in reversed(series[1:]):
        one, two = plus(plus([2 * x for x in times_s(one)], [-x for x in two]), [c]), one
    made = plus(plus(times_s(one), [-x for x in two]), [series[0]])
    return (made + [mp.mpf(0)] * n)[:n]


@dataclass
class Cell:
    """A polynomial of x - centre; the centre in two numbers of the kind."""

    centre: Any
    coefficients: list[Any]
    error: float


def narrowed(x: Any, kind: str) -> Any:
    """x as a number of C's double or float."""
    if kind == "double":
        return mp.mpf(float(x))
    with mp.workprec(24):
        return +x


def summed(coefficients: Sequence[Any], x: Any) -> Any:
    total = mp.mpf(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def fit_cell(piece: Piece, number: int, degree: int) -> Cell:
    width = (mp.mpf(piece.high) - mp.mpf(piece.low)) / piece.cells
    low = piece.low + width * number
    high = low + width
    near = [z for z in piece.zeros if low - width / 2 <= z <= high + width / 2]
    zero = min(near, key=lambda z: abs(z - (low + high) / 2), default=None)
    if zero is None:  # one cell alone is in powers of the variable itself
        centre = narrowed((low + high) / 2, piece.kind) if piece.cells > 1 else mp.mpf(0)
        made = chebyshev(piece.exact, low, high, centre, degree)
    else:
        centre = zero
        made = [
            mp.mpf(0),
            *chebyshev(lambda x: piece.exact(x) / (x - zero), low, high, zero, degree - 1),
        ]
    worst = 0.0
    rounded = [narrowed(c, piece.kind) if k > 1 else c for k, c in enumerate(made)]
    for k in range(41):
        x = low + width * (k + mp.mpf("0.317")) / 41
        exact = piece.exact(x)
        got = summed(rounded, x - centre)
        worst = max(worst, float(abs(got - exact) / max(abs(exact), piece.scale)))
    return Cell(centre, made, worst)


def fit(table: Table) -> tuple[list[Cell], float]:
    """The cells of all pieces in order, with the least degree that does, and their worst error."""
    for degree in range(2, 40):
        cells: list[Cell] = []
        for piece in table.pieces:
            for number in range(piece.cells):
                cell = fit_cell(piece, number, degree)
                if cell.error > piece.goal:
                    break
                cells.append(cell)
            else:
                continue
            break
        else:
            return cells, max(cell.error for cell in cells)
    raise SystemExit(f"{table.name}: no degree below 40 does")


# ---- the functions ----


def hankel(order: int, which: int) -> Exact:
    """P (0) or x Q (1) of the Bessel functions at large x, as a function of 1 / x^2."""

    def value(w: Any) -> Any:
        if w == 0:
            return mp.mpf(1) if which == 0 else (mp.mpf(4) * order**2 - 1) / 8
        with mp.workdps(DIGITS + 20):
            x = 1 / mp.sqrt(w)
            j, y = mp.besselj(order, x), mp.bessely(order, x)
            angle, k = x - mp.pi / 4 - order * mp.pi / 2, mp.sqrt(mp.pi * x / 2)
            c, s = mp.cos(angle), mp.sin(angle)
            return k * (c * j + s * y) if which == 0 else k * x * (c * y - s * j)

    return value


def airy_left(which: int) -> Exact:
    """The even (0) or the odd (1) part, times zeta, of Ai at large negative x, as a function of 1 /
    zeta^2.
    """

    def value(w: Any) -> Any:
        if w == 0:
            return mp.mpf(1) if which == 0 else mp.mpf(5) / 72
        with mp.workdps(DIGITS + 20):
            zeta = 1 / mp.sqrt(w)
            z = (zeta * 3 / 2) ** (mp.mpf(2) / 3)
            k, angle = mp.sqrt(mp.pi) * mp.root(z, 4), zeta - mp.pi / 4
            c, s, a, b = mp.cos(angle), mp.sin(angle), mp.airyai(-z), mp.airybi(-z)
            return k * (c * a - s * b) if which == 0 else k * zeta * (s * a + c * b)

    return value


def airy_right(u: Any) -> Any:
    """2 sqrt(pi) x^(1/4) e^zeta Ai(x) as a function of 1 / zeta."""
    if u == 0:
        return mp.mpf(1)
    zeta = 1 / u
    x = (zeta * 3 / 2) ** (mp.mpf(2) / 3)
    return 2 * mp.sqrt(mp.pi) * mp.root(x, 4) * mp.exp(zeta) * mp.airyai(x)


def inverse(f: Exact, at_zero: Exact) -> Exact:
    """v -> f(1 / v), with its limit at 0."""
    return lambda v: f(1 / v) if v else at_zero(v)


def scaled_i(order: int) -> Exact:
    return lambda x: mp.sqrt(x) * mp.exp(-x) * mp.besseli(order, x)


def scaled_k(order: int) -> Exact:
    return lambda x: mp.sqrt(x) * mp.exp(x) * mp.besselk(order, x)


def stirling(w: Any) -> Any:
    """x (log Gamma(x) - (x - 1/2) log x + x - log(2 pi) / 2) as a function of 1 / x^2."""
    if w == 0:
        return mp.mpf(1) / 12
    with mp.workdps(DIGITS + 20):
        x = 1 / mp.sqrt(w)
        return x * (mp.loggamma(x) - (x - 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)


def digamma_tail(w: Any) -> Any:
    """x^2 (log x - 1 / (2 x) - psi(x)) as a function of 1 / x^2."""
    if w == 0:
        return mp.mpf(1) / 12
    with mp.workdps(DIGITS + 20):
        x = 1 / mp.sqrt(w)
        return x * x * (mp.log(x) - 0.5 / x - mp.digamma(x))


def trigamma_tail(w: Any) -> Any:
    """x^3 (psi'(x) - 1 / x - 1 / (2 x^2)) as a function of 1 / x^2."""
    if w == 0:
        return mp.mpf(1) / 6
    with mp.workdps(DIGITS + 20):
        x = 1 / mp.sqrt(w)
        return x**3 * (mp.psi(1, x) - 1 / x - 0.5 / (x * x))


def of_square(f: Exact, at_zero: Exact) -> Exact:
    """z -> f(sqrt z), with its value at 0."""
    return lambda z: f(mp.sqrt(z)) if z else at_zero(z)


def k0_rest(x: Any) -> Any:
    return mp.besselk(0, x) + mp.log(x) * mp.besseli(0, x)


def k1_rest(x: Any) -> Any:
    return (mp.besselk(1, x) - 1 / x - mp.log(x) * mp.besseli(1, x)) / x


def y0_rest(x: Any) -> Any:
    return mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x)


def y1_rest(x: Any) -> Any:
    return (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x


def erfinv_of_root(s: Any) -> Any:
    """erfinv(y) / y as a function of sqrt(-log(1 - y^2))."""
    if s == 0:
        return mp.sqrt(mp.pi) / 2
    y = mp.sqrt(-mp.expm1(-s * s))
    if s < 3:
        return mp.erfinv(y) / y
    left = mp.exp(-s * s) / (1 + y)  # 1 - y, with all its digits
    return mp.findroot(lambda x: mp.log(mp.erfc(x)) - mp.log(left), s) / y


HALF_PI = mp.sqrt(mp.pi / 2)
ROOT_2_PI = mp.sqrt(2 * mp.pi)


def tables() -> Sequence[Table]:
    gamma = mp.euler
    zeros = {
        "j0": tuple(mp.besseljzero(0, k) for k in range(1, 4)),
        "j1": (mp.mpf(0), *(mp.besseljzero(1, k) for k in range(1, 4))),
        "y0": tuple(mp.besselyzero(0, k) for k in range(1, 5)),
        "y1": tuple(mp.besselyzero(1, k) for k in range(1, 5)),
        "airy": tuple(mp.airyaizero(k) for k in range(1, 8)),
        "digamma": (mp.findroot(mp.digamma, 1.46),),
    }

    def i_table(order: int, divide: bool, kind: str = "double") -> Table:
        def near(x: Any) -> Any:
            if divide and x == 0:
                return mp.mpf(0.5)
            return mp.exp(-x) * mp.besseli(order, x) / (x if divide else 1)

        far = inverse(scaled_i(order), lambda v: 1 / ROOT_2_PI)
        shape = "e^-x I1(x) / x" if divide else "e^-x I0(x)"
        name, goal = (f"i{order}", GOAL) if kind == "double" else (f"i{order}_float", 1e-8)
        return Table(
            name,
            f"{shape} for x < 8; sqrt(x) e^-x I{order}(x) of 1 / x <= 1/8",
            (
                Piece("near", near, 0, 8, 8, goal, kind=kind),
                Piece("far", far, 0, 0.125, 8, goal, kind=kind),
            ),
        )

    return (
        i_table(0, False),
        i_table(1, True),
        i_table(0, False, "float"),
        i_table(1, True, "float"),
        *(
            Table(f"k{n}", f"sqrt(x) e^x K{n}(x) of 1 / x <= 1",
                  (Piece("all", inverse(scaled_k(n), lambda v: HALF_PI), 0, 1, 16),))
            for n in (0, 1)
        ),
        Table("i0_square", "I0 of x^2 <= 1",
              (Piece("all", of_square(lambda x: mp.besseli(0, x), lambda z: mp.mpf(1)), 0, 1, 1),)),
        Table("i1_square", "I1(x) / x of x^2 <= 1",
              (Piece("all", of_square(lambda x: mp.besseli(1, x) / x, lambda z: mp.mpf(0.5)), 0, 1, 1),)),
        Table("k0_square", "K0(x) + log(x) I0(x) of x^2 <= 1",
              (Piece("all", of_square(k0_rest, lambda z: mp.log(2) - gamma), 0, 1, 1),)),
        Table("k1_square", "(K1(x) - 1 / x - log(x) I1(x)) / x of x^2 <= 1",
              (Piece("all", of_square(k1_rest, lambda z: (2 * gamma - 1 - 2 * mp.log(2)) / 4), 0, 1, 1),)),
        Table("erfcx", "(1 + x) e^(x^2) erfc(x) of 1 / (1 + x)",
              (Piece("all", lambda u: mp.exp((1 / u - 1) ** 2) * mp.erfc(1 / u - 1) / u if u > 1e-12
                     else 1 / mp.sqrt(mp.pi), 0, 1, 16),)),
        Table("lgamma", "log Gamma(x), 1/2 <= x <= 9/2",
              (Piece("all", mp.loggamma, 0.5, 4.5, 16, zeros=(mp.mpf(1), mp.mpf(2))),)),
        Table("stirling", "x (log Gamma(x) - (x - 1/2) log x + x - log(2 pi) / 2) of 1 / x^2 <= 4/81",
              (Piece("all", stirling, 0, 4 / 81, 1, 1e-15),)),
        Table("digamma", "psi(x), 1 <= x <= 5",
            (Piece("all", mp.digamma, 1, 5, 16, zeros=zeros["digamma"]),)),
        Table("digamma_tail", "x^2 (log x - 1 / (2 x) - psi(x)) of 1 / x^2 <= 1/25",
              (Piece("all", digamma_tail, 0, 0.04, 1, 1e-14),)),
        Table("trigamma", "psi'(x), 1 <= x <= 5", (Piece("all", lambda x: mp.psi(1, x), 1, 5, 16),)),
        Table("trigamma_tail", "x^3 (psi'(x) - 1 / x - 1 / (2 x^2)) of 1 / x^2 <= 1/25",
              (Piece("all", trigamma_tail, 0, 0.04, 1, 1e-15),)),
        Table("airy", "Ai(x), -8 <= x <= 2", (Piece("all", mp.airyai, -8, 2, 32, zeros=zeros["airy"]),)),
        Table("airy_right", "2 sqrt(pi) x^(1/4) e^zeta Ai(x) of 1 / zeta, zeta = 2/3 x^(3/2) >= 15/8",
              (Piece("all", airy_right, 0, 8 / 15, 16),)),
        Table("airy_even", "the cosine's factor in Ai(x), x < -8, of 1 / zeta^2",
              (Piece("all", airy_left(0), 0, 0.0044, 1),)),
        Table("airy_odd", "the sine's, times zeta", (Piece("all", airy_left(1), 0, 0.0044, 1, 1e-15),)),
        *(
            table
            for n in (0, 1)
            for table in (
                Table(f"j{n}", f"J{n}(x), x < 8",
                      (Piece("all", lambda x, n=n: mp.besselj(n, x), 0, 8, 16, zeros=zeros[f"j{n}"]),)),
                Table(f"y{n}", f"Y{n}(x), 2 <= x < 10",
                      (Piece("all", lambda x, n=n: mp.bessely(n, x), 2, 10, 16, zeros=zeros[f"y{n}"]),)),
                Table(f"bessel_p{n}", f"the even part of J{n} and Y{n} at x >= 8, of 1 / x^2",
                      (Piece("all", hankel(n, 0), 0, 1 / 64, 1, 1e-16),)),
                Table(f"bessel_q{n}", "the odd part, times x",
                      (Piece("all", hankel(n, 1), 0, 1 / 64, 1, 1e-15),)),
            )
        ),
        Table("y0_square", "Y0(x) - 2/pi log(x) J0(x) of x^2 <= 4",
              (Piece("all", of_square(y0_rest, lambda z: 2 / mp.pi * (gamma - mp.log(2))), 0, 4, 1,
                  1e-16, scale=1),)),
        Table("y1_square", "(Y1(x) - 2/pi (log(x) J1(x) - 1 / x)) / x of x^2 <= 4",
              (Piece("all", of_square(y1_rest,
                  lambda z: (2 * gamma - 1 - 2 * mp.log(2)) / (2 * mp.pi)), 0, 4, 1, 1e-16, scale=1),)),
        Table("erfinv", "erfinv(y) / y of sqrt(-log(1 - y^2))",
              (Piece("all", erfinv_of_root, 0, 4.25, 16, 1.5e-8, kind="float"),)),
    )  # fmt: skip


# ---- the header ----

INTRO = """\
/* special_cells.h - special functions as polynomials, one for each cell of an interval: written by
 * tools/hold/fit_cells.py, which says how. Rows: the centres of the cells (in tables with zeros also what
 * their doubles left out), then the coefficients of the powers of the distance from the centre, one
 * column a cell. Where one cell is all: the coefficients of the powers of the variable. */
#ifndef TD_SPECIAL_CELLS_H
#define TD_SPECIAL_CELLS_H
#include "cpu/simd/cells.h"
"""


def literal(x: Any, kind: str) -> str:
    if kind == "float":
        return f"{float(narrowed(x, kind)):.9g}".replace("inf", "INFINITY")
    return repr(float(x))


def written(table: Table) -> str:
    cells, error = fit(table)
    kind = table.pieces[0].kind
    suffix = "f" if kind == "float" else ""
    alone = len(cells) == 1
    rows = [] if alone else [[cell.centre for cell in cells]]
    if table.has_zeros:
        rows.append([cell.centre - narrowed(cell.centre, kind) for cell in cells])
    degree = len(cells[0].coefficients) - 1
    rows += [[cell.coefficients[k] for cell in cells] for k in range(degree + 1)]

    def number(x: Any) -> str:
        text = literal(x, kind)
        return text + suffix if not suffix or "." in text or "e" in text else f"{text}.0{suffix}"

    lines = [f"/* {table.about}: degree {degree}, {error:.0e} */"]
    shape = f"[{len(rows)}]" if alone else f"[{len(rows)}][{len(cells)}]"
    lines.append(f"TD_CELLS({kind}, td_cells_{table.name}, {shape}) = {{")
    for row in rows:
        text, line = [number(x) for x in row], "    " if alone else "    {"
        for k, word in enumerate(text):
            piece = word + ("," if alone or k < len(text) - 1 else "},")
            if len(line) + len(piece) > 110:
                lines.append(line.rstrip())
                line = "     "
            line += piece + " "
        lines.append(line.rstrip())
    lines.append("};")
    print(
        f"{table.name}: degree {degree}, {len(cells)} cells, {error:.1e}",
        file=sys.stderr,
        flush=True,
    )
    return "\n".join(lines)


def header() -> str:
    with mp.workdps(DIGITS):
        return "\n".join([INTRO, *(written(table) + "\n" for table in tables()), "#endif\n"])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    made = header()
    if parser.parse_args().check:
        return int(HEADER.read_text() != made)
    HEADER.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
