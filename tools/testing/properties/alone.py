"""The gradient of one input asked for alone is the one among those of all inputs, for every row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from outcomes import DOCUMENTED, array, flat
from samples import Row, Sample, samples

import taeda

__all__ = ["faults"]

_ALLOWED = {"float64": 1e-10, "complex128": 1e-10, "float32": 1e-4, "complex64": 1e-4}


def faults(row: Row, dtype: str, *, seed: int = 0, **sizes: int) -> Iterator[str]:
    """Every sample of the row that has a derivative and writes into none of its arguments."""
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

    taeda.manual_seed(1)
    try:
        made = flat(sample.map(leaf).call())
        results = [r for r in made if isinstance(r, taeda.Tensor) and r.requires_grad]
        if not results or len(leaves) < 2:
            return ""
        ones = [taeda.ones_like(r) for r in results]
        options = {"allow_unused": True, "retain_graph": True}
        together = taeda.autograd.grad(results, leaves, ones, **options)
    except DOCUMENTED:
        return ""  # no derivative, or no such dtype
    for k, t in enumerate(leaves):
        (alone,) = taeda.autograd.grad(results, [t], ones, **options)
        if said := _differ(alone, together[k], _ALLOWED.get(sample.dtype, 1e-2)):
            return f"input {k}: {said}"
    return ""


def _differ(alone: taeda.Tensor | None, among: taeda.Tensor | None, allowed: float) -> str:
    if alone is None or among is None:
        return "" if alone is among else f"alone {alone}, among all {among}"
    a, b = array(alone), array(among)
    scale = np.abs(b[np.isfinite(b)]).max(initial=1e-30)
    same = np.isclose(a, b, rtol=allowed, atol=allowed * scale, equal_nan=True)
    return "" if same.all() else f"{(~same).sum()} of {same.size} numbers differ"
