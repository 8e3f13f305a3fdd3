"""Where a result is finite, its first three derivatives are numbers, at any magnitude of an argument.

A formula that chooses between two branches computes both, and an infinity of the one that does not count
becomes NaN in the next derivative.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from outcomes import DOCUMENTED, flat
from samples import Row, Sample, samples

import taeda

from .both_modes import APART

__all__ = ["faults"]

Tensor = taeda.Tensor
MAGNITUDES = (1e3, -1e3, 1e19, 1e-30)
MOST = 64  # numbers of one call
ORDERS = 3


def faults(row: Row, dtype: str, *, seed: int = 0, **sizes: int) -> Iterator[str]:
    """Every sample of the row that draws nothing and writes nothing, by each of its arguments."""
    if row.schema.qualified in APART or row.random or row.family == "random":
        return
    for sample in samples(row, dtype, seed=seed, **sizes):
        if sum(t.numel() for t in sample.tensors()) > MOST or sample.written():
            continue
        for place, given in enumerate(sample.args):
            if not isinstance(given, Tensor) or not given.is_floating_point():
                continue
            for size in MAGNITUDES:
                counts = _nans(sample, place, (given * size).requires_grad_())
                if any(counts):
                    yield f"{sample}, argument {place} times {size:g}: NaN in its derivatives, {counts}"


def _nans(sample: Sample, place: int, x: Tensor) -> list[int]:
    """How many elements of each derivative are NaN; none of a result that is not finite or has none."""
    args = (*sample.args[:place], x * 1, *sample.args[place + 1 :])
    counts: list[int] = []
    try:
        made = [t for t in flat(replace(sample, args=args).call()) if isinstance(t, Tensor)]
        made = [t for t in made if t.is_floating_point() and t.requires_grad]
        if not made or not all(bool(t.isfinite().all()) for t in made):
            return counts
        total = sum((t.sum() for t in made), taeda.zeros((), dtype=x.dtype))
        for _ in range(ORDERS):
            if not total.requires_grad:
                break
            (slope,) = taeda.autograd.grad(total, x, create_graph=True)
            counts.append(int(slope.isnan().sum()))
            total = (slope * taeda.arange(1.0, slope.numel() + 1).to(slope).view(slope.shape)).sum()
    except DOCUMENTED:
        pass  # no further derivative
    return counts
