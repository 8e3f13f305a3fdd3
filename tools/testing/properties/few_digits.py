"""In a dtype of few digits a call gives what it gives for the same numbers in many digits, rounded;
gradients too.

How far rounding may carry is measured: the call in many digits is made again with every input moved
by one unit of the short dtype.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from outcomes import DOCUMENTED, EPSILON, array, flat
from samples import Row, Sample, samples

import taeda

__all__ = ["APART", "faults"]

#: rows that this does not hold for, and why
APART = {
    **dict.fromkeys(
        ("view.dtype", "view_copy.dtype"), "reads the bits of its elements as another dtype"
    ),
    **dict.fromkeys(
        ("_linalg_eig", "eig", "eigvals"), "the order of eigenvalues is open where rounding decides"
    ),
    **dict.fromkeys(
        (
            "fake_quantize_per_tensor_affine",
            "fake_quantize_per_tensor_affine.tensor_qparams",
            "fake_quantize_per_channel_affine",
            "_fake_quantize",
            "fused_moving_avg_obs_fake_quant",
        ),
        "halves of a step: the last digit of an element or of the scale decides for a whole step",
    ),
}
_SMALLEST = {"float16": 2.0**-24, "complex32": 2.0**-24, "bfloat16": 2.0**-133,
    "complex64": 2.0**-149}  # fmt: skip
#: beyond, a number that is right within rounding may be infinite
_LARGEST = {"float16": 32752.0, "complex32": 32752.0}
# of the largest number of a result; computed in wider numbers where it is 2
_EPSILONS = {"complex64": 64.0, "complex32": 8.0}
#: rows whose every step rounds, or whose results close numbers turn: times as much
_STEPS = {
    **dict.fromkeys(("matrix_exp", "eigh", "_linalg_eigh", "std", "logcumsumexp", "prod"), 4.0),
    **dict.fromkeys(("layer_norm", "cosine_embedding_loss"), 4.0),
}
#: rows whose complex results are vectors of which only the sizes of elements are fixed: any phase is as right
_FREE_PHASE = {"_linalg_eigh", "eigh", "_linalg_svd", "svd"}
#: rows whose slope rounding chooses, as of equal distances any may count and of two numbers the
#: correlation is 1 or -1
_FREE_SLOPE = {"cdist", "triplet_margin_loss", "corrcoef"}
_MOVED = 2.0  # times what the moved inputs change


def faults(row: Row, dtype: str, *, seed: int = 0, **sizes: int) -> Iterator[str]:
    """Every sample of the row that draws nothing at random and writes into none of its arguments."""
    if row.family in ("random", "creation") or row.schema.qualified in APART:
        return
    for sample in samples(row, dtype, seed=seed, **sizes):
        said = "" if sample.written() else _compared(sample)
        if said:
            yield f"{sample}: {said}"


def _compared(sample: Sample) -> str:
    unit, wide = EPSILON[sample.dtype], sample.map(_wide)
    shifted = [sample.map(_moved(unit, n)) for n in (1, 2, 3)]
    for chosen in _choices(sample):
        try:
            found, wanted, *moved = (_run(s, sample, chosen) for s in (sample, wide, *shifted))
        except DOCUMENTED:
            continue  # no such dtype, or no derivative
        for name in found:
            numbers = [outcomes[name] for outcomes in (found, wanted, *moved)]
            if sample.row.schema.name in _FREE_SLOPE and name.startswith("gradient"):
                continue
            if sample.row.schema.name in _FREE_PHASE and numbers[1].dtype.kind == "c":
                if name.startswith("gradient"):
                    continue  # it depends on the phase
                numbers = [np.abs(n) for n in numbers]
            said = _apart(*numbers[:2], numbers[2:], sample)
            if said:
                return f"{name}: {said}"
        if len(chosen) == len(sample.tensors()):
            break
    return ""


def _choices(sample: Sample) -> Iterator[tuple[int, ...]]:
    """By which tensors to derive: all; where that is refused, one after another."""
    numbers = tuple(range(len(sample.tensors())))
    yield numbers
    if len(numbers) > 1:
        yield from ((n,) for n in numbers)
    yield ()


def _apart(ours: Any, theirs: Any, moved: list[Any], sample: Sample) -> str:
    dtype = sample.dtype
    if ours.shape != theirs.shape:
        return f"of shape {ours.shape}, not {theirs.shape}"
    if theirs.dtype.kind not in "fc":
        return ""
    unit = EPSILON[dtype]
    ordinary = np.abs(theirs) < _LARGEST.get(dtype, np.inf)  # not NaN
    if any(other.shape != theirs.shape for other in moved):
        return ""  # how many there are depends on the values
    for other in moved:
        ordinary &= np.isfinite(other)
    with np.errstate(all="ignore"):
        scale = np.abs(theirs[ordinary]).max(initial=0)
        shift = max(np.abs(other - theirs)[ordinary].max(initial=0) for other in moved)
        worst = np.abs(ours - theirs)[ordinary].max(initial=0)  # NaN if there is one
    steps = _STEPS.get(sample.row.schema.name, 1.0)
    units = _EPSILONS.get(dtype, 2.0) * steps
    allowed = units * unit * scale + _MOVED * shift + 2.0 * steps * _SMALLEST.get(dtype, 0.0)
    if worst <= allowed:
        return ""
    return f"apart by {worst:.3g}, allowed {allowed:.3g}, largest number {scale:.3g}"


def _run(sample: Sample, named: Sample, chosen: tuple[int, ...]) -> dict[str, Any]:
    """Values and gradients by name."""
    leaves: list[taeda.Tensor] = []
    numbers = itertools.count()

    def leaf(t: taeda.Tensor) -> taeda.Tensor:
        if next(numbers) not in chosen or not (t.is_floating_point() or t.is_complex()):
            return t.clone()
        leaves.append(t.detach().clone().requires_grad_())
        return leaves[-1]

    made = [r for r in flat(sample.map(leaf).call()) if isinstance(r, taeda.Tensor)]
    known = {f"result {i}": array(r) for i, r in enumerate(made)}
    results = [r for r in made if r.requires_grad]
    if not results:
        return known
    cotangents = [_cotangent(r, named, i) for i, r in enumerate(results)]
    grads = taeda.autograd.grad(results, leaves, cotangents, allow_unused=True)
    return known | {f"gradient {i}": array(g) for i, g in enumerate(grads) if g is not None}


def _cotangent(result: taeda.Tensor, named: Sample, number: int) -> taeda.Tensor:
    """Numbers that every dtype here holds exactly, and that depend on the sample alone."""
    rng = np.random.default_rng(zlib.crc32(f"{named} {number}".encode()))
    values = _eighths(rng, result.shape)
    if result.is_complex():
        values = values + 1j * _eighths(rng, result.shape)
    return taeda.from_numpy(np.array(values)).to(result.dtype)


def _eighths(rng: Any, shape: Any) -> Any:
    """From -2 to 2 but for 0, with which a slope beyond the largest number would make NaN."""
    return rng.integers(1, 17, shape) / 8.0 * rng.choice([-1, 1], shape)


def _wide(t: taeda.Tensor) -> taeda.Tensor:
    if t.is_complex():
        return t.to(taeda.complex128)
    return t.to(taeda.float64) if t.is_floating_point() else t


def _moved(unit: float, seed: int) -> Any:
    rng = np.random.default_rng(seed)

    def move(t: taeda.Tensor) -> taeda.Tensor:
        whole = t.is_floating_point() and taeda.equal(t, t.round())  # signs choose a branch
        if whole or not (t.is_floating_point() or t.is_complex()):
            return t
        return _wide(t) * taeda.from_numpy(np.array(1 + unit * rng.choice([-1.0, 1.0], t.shape)))

    return move
