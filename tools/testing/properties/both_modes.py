"""Forward and backward mode are one derivative: <v, J t> of a tangent t equals <J* v, t> of the
cotangent v, for every row.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from outcomes import DOCUMENTED, array, flat
from samples import Row, Sample, samples

import taeda
from taeda.autograd import forward_ad

__all__ = ["APART", "faults"]

#: rows whose gradient is by definition not the derivative's, and why
APART = {
    "embedding": "padding_idx and scale_grad_by_freq change the gradient alone",
}
_ALLOWED = {"float64": 1e-8, "complex128": 1e-8}  # a decomposition may lose half of the digits
_LOW = 1e-3  # of dtypes with fewer
# read a half of the matrix, and mean a symmetric one
_ONE_TRIANGLE = ("cholesky", "eigh", "eigvalsh")


def faults(row: Row, dtype: str, *, seed: int = 0, **sizes: int) -> Iterator[str]:
    """Every sample of the row that has a derivative and writes into none of its arguments."""
    if row.schema.qualified in APART:
        return
    for sample in samples(row, dtype, seed=seed, **sizes):
        said = "" if sample.written() else _compared(sample)
        if said:
            yield f"{sample}: {said}"


def _compared(sample: Sample) -> str:
    leaves: list[taeda.Tensor] = []

    def leaf(t: taeda.Tensor) -> taeda.Tensor:
        if not (t.is_floating_point() or t.is_complex()):
            return t
        leaves.append(t.detach().requires_grad_())
        return leaves[-1]

    try:
        results = _differentiable(sample.map(leaf))
        cotangents = [_numbers(r, f"{sample} {i}") for i, r in enumerate(results)]
        grads = (
            taeda.autograd.grad(results, leaves, cotangents, allow_unused=True) if results else ()
        )
    except DOCUMENTED:
        return ""  # no derivative, or no such dtype
    tangents = [_tangent(sample, t, i) for i, t in enumerate(leaves)]
    try:
        slopes = _slopes(sample, leaves, tangents, len(results)) if results else []
    except DOCUMENTED as error:
        return f"forward mode refuses: {type(error).__name__}: {error}"
    pairs = [(g, t) for g, t in zip(grads, tangents, strict=False) if g is not None]
    ahead = sum(_product(v, s) for v, s in zip(cotangents, slopes, strict=False) if s is not None)
    back = sum(_product(g, t) for g, t in pairs)
    scale = sum(_length(g) * _length(t) for g, t in pairs)
    allowed = _ALLOWED.get(sample.dtype, _LOW) * max(scale, abs(back), 1e-6)
    same = abs(ahead - back) <= allowed or (ahead != ahead and back != back)
    return "" if same else f"forward {ahead:.12g}, backward {back:.12g}"


def _tangent(sample: Sample, t: taeda.Tensor, number: int) -> taeda.Tensor:
    made = _numbers(t, f"tangent {sample} {number}")
    half = any(word in sample.row.schema.name for word in _ONE_TRIANGLE)
    return made + made.mH if half and t.dim() > 1 and t.shape[-1] == t.shape[-2] else made


def _length(t: taeda.Tensor) -> float:
    return float(np.linalg.norm(array(t).ravel()))


def _differentiable(sample: Sample) -> list[taeda.Tensor]:
    taeda.manual_seed(1)
    found = flat(sample.call())
    return [r for r in found if isinstance(r, taeda.Tensor) and r.requires_grad]


def _slopes(sample: Sample, leaves: Any, tangents: Any, count: int) -> list[Any]:
    """The tangents of the results that have a derivative."""
    with forward_ad.dual_level():
        duals = {
            id(t): forward_ad.make_dual(t.detach(), tangent)
            for t, tangent in zip(leaves, tangents, strict=True)
        }
        order = iter(leaves)

        def dual(t: taeda.Tensor) -> taeda.Tensor:
            return duals[id(next(order))] if t.is_floating_point() or t.is_complex() else t

        taeda.manual_seed(1)
        made = [r for r in flat(sample.map(dual).call()) if isinstance(r, taeda.Tensor)]
        smooth = [r for r in made if r.is_floating_point() or r.is_complex()]
        slopes = [forward_ad.unpack_dual(r).tangent for r in smooth]
    known = [s for s in slopes if s is not None]
    return known if len(known) == count else slopes[:count]


def _product(a: taeda.Tensor, b: taeda.Tensor) -> float:
    """The real inner product."""
    return float(np.sum(np.conj(array(a)) * array(b)).real)


def _numbers(like: taeda.Tensor, seed: str) -> taeda.Tensor:
    rng = np.random.default_rng(zlib.crc32(seed.encode()))
    values = rng.standard_normal(like.shape)
    if like.is_complex():
        values = values + 1j * rng.standard_normal(like.shape)
    return taeda.from_numpy(np.array(values)).to(like.dtype)
