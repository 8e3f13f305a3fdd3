"""The names in the texts of samples: tensors of numbers drawn from a seed."""

from __future__ import annotations

import zlib
from typing import Any

import ml_dtypes
import numpy as np

import taeda
from taeda._C import _nn

__all__ = ["Maker"]

_SINGLE = {"complex128": "float64", "complex64": "float32", "complex32": "float16"}
_PAIR = {"float64": "complex128", "float32": "complex64", "float16": "complex32"}
_SAME_SIZE = {1: "int8", 2: "int16", 4: "int32", 8: "int64", 16: "complex128"}


class Maker:
    """Evaluates the arguments of one call."""

    def __init__(self, seed: str, dtype: str, sizes: dict[str, int]) -> None:
        self.rng = np.random.default_rng(zlib.crc32(seed.encode()))
        self.dtype = dtype
        self.sizes = sizes

    def arguments(self, text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What stands between the parentheses of a call."""
        names = {name: getattr(self, name) for name in dir(self) if not name.startswith("_")}
        names |= {**self.sizes, "t": taeda, "dtype": getattr(taeda, self.dtype)}
        names["same_size"] = getattr(taeda, _SAME_SIZE[names["dtype"].itemsize])
        return eval(f"given({text})", {**names, "given": lambda *args, **kwargs: (args, kwargs)})

    # ---- numbers of the call's dtype ----

    def x(self, *shape: int) -> taeda.Tensor:
        """Any numbers: normal ones; small integers; both truth values."""
        return self._draw(shape, lambda: self.rng.standard_normal(shape), -4, 5)

    def p(self, *shape: int) -> taeda.Tensor:
        """Positive numbers from 0.5 to 3, or from 1 to 5."""
        return self._draw(shape, lambda: self.rng.uniform(0.5, 3, shape), 1, 6)

    def u(self, *shape: int) -> taeda.Tensor:
        """Numbers within (0.1, 0.9); integers 0 and 1."""
        return self._draw(shape, lambda: self.rng.uniform(0.1, 0.9, shape), 0, 2)

    def spd(self, *shape: int) -> taeda.Tensor:
        """Symmetric (Hermitian) positive definite matrices of order `shape[-1]`."""
        square = (*shape, shape[-1])
        a = self.rng.standard_normal(square)
        if self.dtype.startswith("complex"):
            a = a + 1j * self.rng.standard_normal(square)
        return self._tensor(a @ np.conj(np.swapaxes(a, -1, -2)) + shape[-1] * np.eye(shape[-1]))

    # ---- of other dtypes ----

    def f(self, *shape: int) -> taeda.Tensor:
        """Real numbers: `x`, or of the parts of the call's complex dtype."""
        return Maker._other(self, _SINGLE.get(self.dtype, self.dtype)).x(*shape)

    def c(self, *shape: int) -> taeda.Tensor:
        """Complex numbers whose parts have the call's dtype."""
        pair = (
            self.dtype if self.dtype.startswith("complex") else _PAIR.get(self.dtype, "complex64")
        )
        return Maker._other(self, pair).x(*shape)

    def i(self, high: int, *shape: int) -> taeda.Tensor:
        """Integers from 0 to `high` - 1, int64."""
        return taeda.from_numpy(np.array(self.rng.integers(0, high, shape), dtype="int64"))

    def b(self, *shape: int) -> taeda.Tensor:
        """Truth values."""
        return taeda.from_numpy(np.array(self.rng.random(shape) < 0.6))

    def perm(self, count: int) -> taeda.Tensor:
        """The numbers below `count` in some order, int64."""
        return taeda.from_numpy(self.rng.permutation(count).astype("int64"))

    def perms(self, count: int, columns: int) -> taeda.Tensor:
        """A permutation in every column."""
        return taeda.stack([self.perm(count) for _ in range(columns)], 1)

    def step(self) -> taeda.Tensor:
        """How many steps an optimizer has made."""
        return taeda.tensor(3.0)

    # ---- what another call gives ----

    def lu(self, m: int) -> tuple[Any, ...]:
        return tuple(taeda.linalg.lu_factor(self.x(m, m)))

    def pinv_parts(self, m: int, n: int) -> tuple[Any, ...]:
        a = self.x(m, n)
        u, values, vh = taeda.linalg.svd(a, full_matrices=False)
        return a, u, 1 / values, vh

    def attended(self, batch: int, heads: int, rows: int, width: int) -> tuple[Any, ...]:
        q, k, v, grad = (self.x(batch, heads, rows, width) for _ in range(4))
        output, total = _nn._fused_attention(q, k, v, None, False, 0.5)
        return grad, q, k, v, None, output, total, False, 0.5

    def attended_ragged(self, heads: int, rows: int, width: int) -> tuple[Any, ...]:
        q, k, v, grad = (self.x(heads, rows, width) for _ in range(4))
        ends = [0, rows // 2, rows]
        output, total = _nn._ragged_attention(q, k, v, ends, ends, False, 0.5)
        return grad, q, k, v, output, total, ends, ends, False, 0.5

    def crossed(self, rows: int, classes: int) -> tuple[Any, ...]:
        given = self.x(rows, classes), self.i(classes, rows), self.p(classes), 1, -100
        _, statistics, weight = _nn._cross_entropy(*given)
        return self.x(), *given, statistics, weight

    def lstm(self, steps: int, width: int) -> tuple[Any, ...]:
        share, hidden, cell = self.x(steps, 2, 4 * width), self.x(2, width), self.x(2, width)
        weight = self.x(4 * width, width)
        _, _, cells, gates = _nn._lstm(share, hidden, cell, weight, False)
        return self.x(steps, 2, width), self.x(2, width), cell, weight, cells, gates, False

    def gru(self, steps: int, width: int) -> tuple[Any, ...]:
        share, hidden, weight = (
            self.x(steps, 2, 3 * width),
            self.x(2, width),
            self.x(3 * width, width),
        )
        output, gates = _nn._gru(share, hidden, weight, None, False)
        return self.x(steps, 2, width), hidden, weight, output, gates, False

    def pooled(self, name: str, x: taeda.Tensor, *rest: Any) -> tuple[Any, ...]:
        pool = getattr(taeda, name, None) or getattr(_nn, name)
        return self.x(*pool(x, *rest).shape), x, *rest

    # ---- inside ----

    def _other(self, dtype: str) -> Maker:
        made = Maker("", dtype, self.sizes)
        made.rng = self.rng
        return made

    def _draw(self, shape: tuple[int, ...], inexact: Any, low: int, high: int) -> taeda.Tensor:
        if self.dtype.startswith("complex"):
            return self._tensor(inexact() + 1j * inexact())
        if "float" in self.dtype:
            return self._tensor(inexact())
        if self.dtype == "bool":
            return self._tensor(self.rng.random(shape) < 0.6)
        return self._tensor(
            self.rng.integers(max(low, 0) if "u" in self.dtype else low, high, shape)
        )

    def _tensor(self, values: Any) -> taeda.Tensor:
        if self.dtype == "complex32":  # numpy has none
            return taeda.from_numpy(np.array(values, dtype="complex64")).to(taeda.complex32)
        return taeda.from_numpy(np.array(values, dtype=getattr(ml_dtypes, self.dtype, self.dtype)))
