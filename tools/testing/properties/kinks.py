"""At 0, at ties and at equal inputs the gradient is one that numbers nearby have, or lies between.

A function that is smooth there has one, and a formula made of pieces with kinks may give another:
the kinks of |x| and max(-x, 0) cancel in the value, and not in the derivative. The tangent is the
gradient's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from outcomes import DOCUMENTED, array, flat
from samples import Row, Sample, samples

import taeda
from properties.magnitude import cotangent

__all__ = ["APART", "faults"]

Tensor = taeda.Tensor
#: rows that this does not hold for, and why
APART: dict[str, str] = {
    **dict.fromkeys(
        ("_linalg_lu", "_linalg_qr", "qr", "qr.legacy", "lu", "lu_factor", "lu_factor_ex", "lu_solve"),
        "factors of a singular matrix have no derivative",
    ),
    **dict.fromkeys(
        ("eigvalsh", "svdvals", "matrix_norm.str_ord", "norm.ord_str", "norm.str", "nuclear_norm",
         "nuclear_norm.dim", "_linalg_cholesky", "cholesky_ex"),
        "of equal values any directions are as right: one hundred nearby do not reach them all",
    ),
    **dict.fromkeys(
        ("hinge_embedding_loss", "cosine_embedding_loss"), "targets are 1 and -1, and none nearby is"
    ),
    **dict.fromkeys(
        ("max_pool3d", "max_pool3d_with_indices", "max_pool3d_backward", "adaptive_max_pool3d"),
        "the first of 27 equal ones is rarely the largest nearby",
    ),
}  # fmt: skip
_POINTS = {"zeros": lambda t: taeda.zeros_like(t), "ones": lambda t: taeda.ones_like(t),
    "halves": lambda t: taeda.full_like(t, 0.5)}  # fmt: skip
_NEAR = 1e-4
_FEW, _MANY = 4, 100  # draws nearby: many only where few do not reach
_SIZES = {"n": 4, "m": 3, "k": 2}
_SLACK = 0.02
_STEEP = 50.0  # steeper ones are those of poles


def faults(row: Row, dtype: str = "float64", *, seed: int = 0, **sizes: int) -> Iterator[str]:
    """Every sample of the row that draws nothing at random and writes into none of its arguments."""
    if row.random or row.family in ("random", "creation", "optim") or row.schema.qualified in APART:
        return
    for sample in samples(row, dtype, seed=seed, **{**_SIZES, **sizes}):
        leaves = [k for k, t in enumerate(sample.tensors()) if t.is_floating_point()]
        if sample.written() or not leaves:
            continue
        for name, fill in _POINTS.items():
            for place in (*leaves, None) if len(leaves) > 1 else (None,):  # one tensor, or all
                filled = _changed(sample, place, fill)
                said = _compared(filled, place)
                if said:
                    yield f"{sample} at {name} in {'all' if place is None else place}: {said}"


def _changed(sample: Sample, place: int | None, fill: Callable[[Tensor], Tensor]) -> Sample:
    numbers = iter(range(1 << 20))

    def change(t: Tensor) -> Tensor:
        here = next(numbers)
        return fill(t) if t.is_floating_point() and place in (None, here) else t

    return sample.map(change)


def _compared(sample: Sample, place: int | None) -> str:
    said = ""
    for count in (_FEW, _MANY):
        try:
            at = _slopes(sample)
            near = [_slopes(_changed(sample, place, _nearby(n))) for n in range(count)]
        except (*DOCUMENTED, AssertionError):
            return ""
        if at is None or any(n is None or len(n) != len(at) for n in near):
            return ""
        said = _outside(at, [n for n in near if n is not None])
        if not said:
            break
    return said


def _outside(at: list[np.ndarray], near: list[list[np.ndarray]]) -> str:
    for k, ours in enumerate(at):
        around = np.array([n[k] for n in near])
        with np.errstate(all="ignore"):
            known = np.isfinite(around).all(0) & (np.abs(around).max(0, initial=0) < _STEEP)
            low, high = around.min(0), around.max(0)
            slack = _SLACK * (1 + np.maximum(np.abs(low), np.abs(high)))
            bad = known & ~((low - slack <= ours) & (ours <= high + slack))
        if bad.any():
            j = np.unravel_index(np.argmax(bad), bad.shape)
            return (
                f"gradient {k} is {ours[j]:.6g}, nearby {low[j]:.6g} to {high[j]:.6g} "
                f"({bad.sum()} of {bad.size})"
            )
    return ""


def _slopes(sample: Sample) -> list[np.ndarray] | None:
    """Gradients of a weighted sum of the results."""
    leaves: list[Tensor] = []

    def leaf(t: Tensor) -> Tensor:
        if not t.is_floating_point():
            return t.clone()
        leaves.append(t.detach().clone().requires_grad_())
        return leaves[-1]

    made: list[Any] = flat(sample.map(leaf).call())
    results = [
        r for r in made if isinstance(r, Tensor) and r.requires_grad and r.is_floating_point()
    ]
    if not results or not all(r.isfinite().all() for r in results):
        return None
    given = [
        cotangent(tuple(r.shape), sample.row.schema.name, k).to(r.dtype)
        for k, r in enumerate(results)
    ]
    grads = taeda.autograd.grad(results, leaves, given, allow_unused=True)
    pairs = zip(leaves, grads, strict=True)
    return [np.zeros(tuple(t.shape)) if g is None else array(g) for t, g in pairs]


def _nearby(seed: int) -> Callable[[Tensor], Tensor]:
    rng = np.random.default_rng(seed)
    return lambda t: t + taeda.from_numpy(np.array(_NEAR * rng.uniform(-1, 1, t.shape))).to(t.dtype)
