"""An operation of a tensor equals that of its contiguous copy, however the tensor lies in memory;
gradients too.

Bit by bit where elements are computed or moved one by one, or drawn at random; where many are
summed, the order of sums may follow memory, and the values are close.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
from layouts import LAYOUTS, OVERLAPPING, copy_of, mixed
from outcomes import Outcome, array, flat, outcome_of, unlike
from samples import Row, Sample, samples

import taeda

__all__ = ["APART", "epsilons_of", "faults"]

#: rows whose result is about memory, not values, and why
APART = {
    **dict.fromkeys(
        ("as_strided", "as_strided_", "as_strided_copy", "as_strided_scatter"),
        "reads memory by strides of its own",
    ),
    **dict.fromkeys(
        (
            "empty.memory_format",
            "empty_strided",
            "empty_permuted",
            "empty_like",
            "new_empty",
            "new_empty_strided",
        ),
        "what it gives holds no values",
    ),
}
#: views that exist for some layouts only, and kernels that take what another kernel made as it is;
#: both refuse the rest
_PARTIAL = {
    *(
        "view",
        "view.dtype",
        "view_as",
        "view_as_complex",
        "view_copy",
        "view_copy.dtype",
        "view_as_complex_copy",
    ),
    *(
        "view_as_real",
        "view_as_real_copy",
        "_fused_attention_backward",
        "_ragged_attention_backward",
    ),
    *("_lstm_backward", "_gru_backward", "_rnn_backward"),
}
#: families whose results have the same bits for every layout
_EXACT = {
    *(
        "activation",
        "comparison",
        "creation",
        "indexing",
        "join",
        "padding",
        "pointwise",
        "random",
        "sorting",
    ),
    *("special", "view", "view_copies", "windows"),
}
#: and those of them that add, in the order of memory: windows that overlap
_ADDS = {"unfold_backward"}
_MATRICES = {
    "linalg",
    "linalg_factor",
    "linalg_legacy",
    "linalg_norm",
    "linalg_product",
    "linalg_solve",
}
#: rows that mean nothing for rows of equal numbers: what is left of those without their mean is rounding
_VARIANCES = {"corrcoef", "cov"}
#: rows whose gradient divides by what is left of numbers without their mean
_DIVIDING = ("std",)
_LOOSE = 64.0  # epsilons of the largest number
_LOOSER = 4096.0  # of what solves or decomposes

Change = Callable[[taeda.Tensor], "taeda.Tensor | None"]


def faults(
    row: Row, dtype: str, *, seed: int = 0, backward: bool = True, **sizes: int
) -> Iterator[str]:
    """Every sample of the row in every layout, and in two mixtures."""
    if row.schema.qualified in APART:
        return
    for sample in samples(row, dtype, seed=seed, **sizes):
        random = Random(f"{sample} {seed}")
        for name, layout in [
            *LAYOUTS.items(),
            ("mixed", mixed(random)),
            ("mixed again", mixed(random)),
        ]:
            for said in _one(sample, name, layout, random, backward):
                yield f"{sample}, {name}: {said}"


def _one(
    sample: Sample, name: str, layout: Change, random: Random, backward: bool
) -> Iterator[str]:
    moved, copied = _moved(sample, layout)
    if moved is None:
        return
    epsilons, least = epsilons_of(sample.row), _largest(sample) / 4
    wanted, found = _run(copied), _run(moved)
    if sample.row.schema.qualified in _PARTIAL and found.error and not wanted.error:
        return
    said = unlike(found, wanted, epsilons, least)
    if said:
        yield said
    elif backward and not wanted.error:
        yield from _backward(
            copied, moved, layout if random.random() < 0.5 else (lambda t: None), epsilons, least
        )


def _moved(sample: Sample, layout: Change) -> tuple[Sample | None, Sample]:
    """The sample with tensors laid out otherwise, and with contiguous copies of those; None if
    nothing changes.
    """
    written = {id(t) for t in sample.written()}
    changed = False

    def change(t: taeda.Tensor) -> taeda.Tensor:
        nonlocal changed
        made = None if _whole(sample, t, layout) else layout(t)
        if made is None or (id(t) in written and _overlaps(made)):
            return copy_of(t)
        changed = True
        return made

    moved = sample.map(change)
    return (moved if changed else None), moved.map(copy_of)


def _whole(sample: Sample, t: taeda.Tensor, layout: Change) -> bool:
    """Whether repeated numbers would make the call another: places that are written twice, matrices
    without inverse.
    """
    repeats = layout not in LAYOUTS.values() or layout.__name__ in OVERLAPPING
    named = sample.row.family in _MATRICES or sample.row.schema.name in _VARIANCES
    special = named or not (t.is_floating_point() or t.is_complex())
    return repeats and special


def _overlaps(t: taeda.Tensor) -> bool:
    return any(n > 1 and s == 0 for n, s in zip(t.shape, t.stride(), strict=True))


def epsilons_of(row: Row) -> float | None:
    """How far results in other layouts may be from each other, of the largest number; None: not at all."""
    if row.family in _EXACT and row.schema.name not in _ADDS:
        return None
    loose = row.family in _MATRICES or row.schema.name.startswith(_DIVIDING)
    return _LOOSER if loose else _LOOSE


def _largest(sample: Sample) -> float:
    """The largest ordinary number among the inputs."""
    sizes = [abs(array(t)) for t in sample.tensors() if t.is_floating_point() or t.is_complex()]
    return max((float(a[np.isfinite(a)].max(initial=0)) for a in sizes), default=0.0)


def _run(sample: Sample) -> Outcome:
    taeda.manual_seed(1)
    made = outcome_of(sample.call)
    return made if made.error else Outcome([*made.results, *sample.written()])


# ---- gradients ----


def _backward(
    copied: Sample, moved: Sample, layout: Change, epsilons: float | None, least: float
) -> Iterator[str]:
    """Gradients of all inputs, for cotangents that lie as results do or otherwise."""
    if copied.written():
        return
    wanted = outcome_of(lambda: _gradients(copied, lambda t: None))
    found = outcome_of(lambda: _gradients(moved, layout))
    bound = max(epsilons or 0.0, _LOOSE)  # of broadcast inputs they are sums
    said = unlike(found, wanted, bound, least)
    if said:
        yield f"gradients: {said}"


def _gradients(sample: Sample, layout: Change) -> list[Any]:
    leaves: list[taeda.Tensor] = []

    def leaf(t: taeda.Tensor) -> taeda.Tensor:
        if not (t.is_floating_point() or t.is_complex()):
            return t
        leaves.append(t.detach().requires_grad_())
        return leaves[-1]

    taeda.manual_seed(1)
    results = [
        r for r in flat(sample.map(leaf).call()) if isinstance(r, taeda.Tensor) and r.requires_grad
    ]
    if not results:
        return []
    cotangents = [_cotangent(r, layout, f"{sample} {i}") for i, r in enumerate(results)]
    grads = taeda.autograd.grad(results, leaves, cotangents, allow_unused=True)
    return [taeda.zeros(0) if g is None else g for g in grads]


def _cotangent(result: taeda.Tensor, layout: Change, seed: str) -> taeda.Tensor:
    """Numbers that depend on the call alone, so that both ways get the same."""
    generator = taeda.Generator()
    generator.manual_seed(zlib.crc32(seed.encode()))
    plain = taeda.randn(result.shape, generator=generator, dtype=taeda.float64)
    made = plain.to(result.dtype)
    laid = None if layout in (LAYOUTS["expanded"], LAYOUTS["expanded_last"]) else layout(made)
    return made if laid is None or not taeda.equal(copy_of(laid), made) else laid
