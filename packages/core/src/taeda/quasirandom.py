"""Sobol's sequence: points that fill the unit cube evenly.

The direction numbers are those that S. Joe and F. Y. Kuo published in 2008 ("Constructing Sobol
sequences with better two-dimensional projections", the set D6), for the first 2000 dimensions.
"""

from __future__ import annotations

import zlib
from functools import cache
from typing import Any

import taeda
from taeda import Tensor
from taeda._parts.data import read

__all__ = ["SobolEngine"]


@cache
def _numbers() -> list[tuple[int, list[int]]]:
    """For each dimension after the first: its primitive polynomial with all coefficients as bits,
    and its first numbers.
    """
    data = zlib.decompress(read("taeda", "_sobol.z"))
    words = memoryview(data).cast("H")
    found, at = [], 0
    while at < len(words):
        degree = words[at].bit_length() - 1
        found.append((words[at], list(words[at + 1 : at + 1 + degree])))
        at += 1 + degree
    return found


class SobolEngine:
    """Draws points of Sobol's sequence in (0 to 1) ** dimension, from its beginning; with
    `scramble` in random linear order.

    ValueError for a dimension below 1 or above 2000.

    >>> SobolEngine(2).draw(3).tolist()
    [[0.0, 0.0], [0.5, 0.5], [0.75, 0.25]]
    """

    MAXBIT = 30
    MAXDIM = 2000

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}], got {dimension}"
            )
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self.sobolstate = _directions(dimension, self.MAXBIT)
        self.shift = taeda.zeros(dimension, dtype=taeda.int64)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self.num_generated = 0

    def _scramble(self) -> None:
        generator = None
        if self.seed is not None:
            generator = taeda.Generator()
            generator.manual_seed(self.seed)
        bits = self.MAXBIT
        powers = taeda.ones(bits, dtype=taeda.int64) << taeda.arange(bits - 1, -1, -1)
        shift = taeda.randint(2, (self.dimension, bits), generator=generator)
        self.shift = (shift * powers).sum(1)
        lower = taeda.randint(2, (self.dimension, bits, bits), generator=generator).tril(-1)
        lower = lower + taeda.eye(bits, dtype=taeda.int64)
        digits = (self.sobolstate.unsqueeze(1) >> taeda.arange(bits - 1, -1, -1)[:, None]) & 1
        self.sobolstate = (((lower @ digits) & 1) * powers[:, None]).sum(1)

    def draw(
        self, n: int = 1, out: Tensor | None = None, dtype: taeda.dtype | None = None
    ) -> Tensor:
        """The next `n` points, as (n, dimension) in `dtype` or the default one; written to `out` if
        that is given.
        """
        kind = taeda.get_default_dtype() if dtype is None else dtype
        made = self._points(n).to(taeda.float64) * 2.0**-self.MAXBIT
        made = made.to(kind)
        self._advance(n)
        if out is None:
            return made
        out.resize_(made.shape).copy_(made)
        return out

    def draw_base2(
        self, m: int, out: Tensor | None = None, dtype: taeda.dtype | None = None
    ) -> Tensor:
        """The next 2 ** m points. ValueError unless the number drawn in all is a power of 2 then."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. "
                "If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Back to the first point; the scrambling stays. Returns the engine."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Past the next `n` points. Returns the engine."""
        if n < 0:
            raise ValueError(f"fast_forward: n must not be negative, got {n}")
        self._advance(n)
        return self

    def _points(self, n: int) -> Tensor:
        """The next points as whole numbers of MAXBIT bits."""
        if n < 0 or self.num_generated + n > 1 << self.MAXBIT:
            raise ValueError(
                f"SobolEngine has 2**{self.MAXBIT} points, of which {self.num_generated} are drawn; got n={n}"
            )
        places = taeda.arange(self.num_generated, self.num_generated + n)
        gray = places ^ (places >> 1)
        made = self.shift.expand(n, self.dimension).clone()
        for bit in range((self.num_generated + n).bit_length()):
            chosen = (gray >> bit) & 1
            made ^= chosen.unsqueeze(1) * self.sobolstate[:, min(bit, self.MAXBIT - 1)]
        return made

    def _advance(self, n: int) -> None:
        if n:
            self.num_generated += n - 1
            self.quasi = self._points(1)[0]
            self.num_generated += 1

    def __repr__(self) -> str:
        shown = [f"dimension={self.dimension}"]
        if self.scramble:
            shown.append("scramble=True")
        if self.seed is not None:
            shown.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(shown)})"


def _directions(dimension: int, bits: int) -> Tensor:
    """The numbers that bits of an index add, (dimension, bits), each of `bits` binary digits."""
    rows: list[Any] = [[1 << (bits - 1 - i) for i in range(bits)]]
    for polynomial, first in _numbers()[: dimension - 1]:
        degree = len(first)
        m = list(first)
        for i in range(degree, bits):
            new = m[i - degree] ^ (m[i - degree] << degree)
            for j in range(1, degree):
                if polynomial >> (degree - j) & 1:
                    new ^= m[i - j] << j
            m.append(new)
        rows.append([m[i] << (bits - 1 - i) for i in range(bits)])
    return taeda.tensor(rows)
