"""Thousands of equal terms that come to one place add up in 16 bits as in 64: results and gradients.

Every tensor of numbers is filled with one number, every index names place 0, and again the places
that were drawn. What rounds after each term stops at 256 in bfloat16 and at 2048 in float16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from outcomes import DOCUMENTED, array, flat
from samples import Row, Sample, samples

import taeda

__all__ = ["APART", "ELSEWHERE", "SIZES", "faults"]

Tensor = taeda.Tensor
#: rows that this does not hold for, and why
APART = {
    **dict.fromkeys(
        ("view.dtype", "view_copy.dtype"), "reads the bits of its elements as another dtype"
    ),
}
_CANCEL = "differences of equal numbers: what is left is rounding in any dtype"
_ONE = "an element of the result comes from one element of each argument"
_SQUARE = "matrices of this many rows take minutes, and what they add up is no place"
#: families that this is not asked of, and why
ELSEWHERE = {
    **dict.fromkeys(("softmax", "loss", "norm", "attention", "distance"), _CANCEL),
    **dict.fromkeys(("activation", "pointwise", "creation", "join", "random", "optim"), _ONE),
    **dict.fromkeys(("fft", "recurrent", "matmul", "conv"), _SQUARE),
    **dict.fromkeys(
        ("linalg", "linalg_factor", "linalg_legacy", "linalg_norm", "linalg_product"), _SQUARE
    ),
    "linalg_solve": _SQUARE,
}
#: of the samples: many terms, few places
SIZES = {"n": 4000, "m": 3, "k": 2}
_ELEMENTS = 1 << 18  # of one argument; what is larger is not about places
_NUMBERS = (1.0, 0.25)
_LARGEST = {"float16": 6e4, "bfloat16": 1e38}
_ALLOWED = 0.02  # of the largest number: steps that round are fine, sums that stop are not
_LEAST = 1e-4  # smaller largest numbers are what cancellation left


def faults(row: Row, dtype: str, *, seed: int = 0, **sizes: int) -> Iterator[str]:
    """Every sample of the row that writes into none of its arguments, in a 16-bit dtype."""
    if row.random or row.family in ELSEWHERE or row.schema.qualified in APART:
        return
    for sample in samples(row, dtype, seed=seed, **{**SIZES, **sizes}):
        if sample.written() or any(t.numel() > _ELEMENTS for t in sample.tensors()):
            continue
        for number in _NUMBERS:
            for places in (taeda.zeros_like, taeda.clone):
                said = _compared(sample, number, places)
                if said:
                    yield f"{sample} of {number}: {said}"
                    break


def _compared(sample: Sample, number: float, places: Callable[[Tensor], Tensor]) -> str:
    def filled(dtype: taeda.dtype | None) -> Sample:
        return sample.map(
            lambda t: (
                taeda.full_like(t, number, dtype=dtype or t.dtype)
                if t.is_floating_point()
                else places(t)
                if t.dtype is taeda.int64
                else t
            )
        )

    try:
        found, wanted = _run(filled(None)), _run(filled(taeda.float64))
    except (*DOCUMENTED, AssertionError):
        return ""  # places that the row does not take, or no such dtype
    for name, ours in found.items():
        said = _apart(ours, wanted.get(name), _LARGEST[sample.dtype])
        if said:
            return f"{name}: {said}"
    return ""


def _run(sample: Sample) -> dict[str, np.ndarray]:
    """Its results and the gradients of their sum, by name."""
    leaves = [t for t in sample.tensors() if t.is_floating_point()]
    for t in leaves:
        t.requires_grad_()
    results = [r for r in flat(sample.call()) if isinstance(r, Tensor) and r.is_floating_point()]
    made = {f"result {k}": array(r) for k, r in enumerate(results)}
    derived = [r for r in results if r.requires_grad]
    if derived:
        grads = taeda.autograd.grad(
            derived, leaves, [taeda.ones_like(r) for r in derived], allow_unused=True
        )
        made |= {f"gradient {k}": array(g) for k, g in enumerate(grads) if g is not None}
    return made


def _apart(ours: np.ndarray, theirs: np.ndarray | None, largest: float) -> str:
    if theirs is None or ours.shape != theirs.shape:
        return "of another shape"
    with np.errstate(all="ignore"):
        ordinary = np.abs(theirs) < largest  # not NaN
        scale = np.abs(theirs[ordinary]).max(initial=0)
        worst = np.abs(ours - theirs)[ordinary].max(initial=0)
    return (
        ""
        if worst <= _ALLOWED * max(scale, _LEAST)
        else f"apart by {worst:.3g}, largest {scale:.3g}"
    )
