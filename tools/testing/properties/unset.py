"""No result shows memory as it was found: of numbers alone, empty tensors, and counts of 0 and 1 as well."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from outcomes import array, outcome_of
from samples import Row, Sample, samples

import taeda

__all__ = ["faults"]

#: rows whose results are memory as it was found
UNSET = re.compile(r"(new_)?empty(_like|_strided|_permuted|_quantized)?(\.|$)|resize_|set_")
CHANGES = {
    "as it is": lambda t: t,
    "of one number": lambda t: t.flatten()[0] if t.numel() else t,
    "of size 1": lambda t: t[:1] if t.ndim else t,
    "of size 0": lambda t: t[:0] if t.ndim else t,
}
BLOCKS = [64 << k for k in range(8)]  # bytes


def faults(row: Row, dtype: str, *, seed: int = 0, **sizes: int) -> Iterator[str]:
    """Every sample of the row, and those at its edges."""
    if UNSET.match(row.schema.qualified):
        return
    for sample in samples(row, dtype, seed=seed, **sizes):
        for how, edge in edges(sample):
            zeros, ones = (_bytes(edge, byte) for byte in (0, 0xFF))
            if zeros != ones:
                yield f"{sample}, {how}: a result shows memory that nobody wrote"


def edges(sample: Sample) -> Iterator[tuple[str, Sample]]:
    """The sample with other tensors, and each of these with every count of it 0 and 1."""
    for how, change in CHANGES.items():
        changed = sample.map(lambda t, change=change: change(t).clone())
        yield how, changed
        for place, value in enumerate(sample.args):
            if isinstance(value, int) and not isinstance(value, bool):
                for count in (0, 1):
                    args = (*changed.args[:place], count, *changed.args[place + 1 :])
                    yield f"{how}, {count} at {place}", replace(changed, args=args)


def _bytes(sample: Sample, byte: int) -> list[Any]:
    """What the call gives where free memory holds `byte`; nothing if it refuses."""
    fresh = sample.map(taeda.Tensor.clone)
    taeda.manual_seed(1)
    _fill(byte)
    results = outcome_of(fresh.call).results
    return [array(r).tobytes() if isinstance(r, taeda.Tensor) else repr(r) for r in results]


def _fill(byte: int) -> None:
    blocks = [taeda.full((n,), byte, dtype=taeda.uint8) for n in BLOCKS for _ in range(16)]
    del blocks
