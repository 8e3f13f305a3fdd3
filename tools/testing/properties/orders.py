"""A second derivative is one number, whichever mode takes which step: <v, D²f[s, t]> by backward twice,
forward over backward, backward over forward and forward twice, with and without recording. A third one by
forward over backward twice is that by backward three times. Gradients are linear in what they are pulled
from, and slopes in their tangents, at 0 as well.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

import numpy as np
from outcomes import DOCUMENTED, array, flat
from samples import Row, Sample, samples

import taeda
from taeda import func

from .both_modes import _ONE_TRIANGLE, APART

__all__ = ["Tensors", "differing", "faults", "function", "inner", "numbers", "walked"]

Tensor = taeda.Tensor
Tensors = tuple[Tensor, ...]
_ALLOWED = {"float64": 1e-7}  # of numbers of about 1
_LOW = 1e-2  # of dtypes with fewer digits
_MOST = 4096  # numbers of one call: second derivatives of rows are squares of them


def faults(row: Row, dtype: str, *, seed: int = 0, **sizes: int) -> Iterator[str]:
    """Every sample of the row that has a derivative, draws nothing and writes into none of its arguments."""
    if row.schema.qualified in APART or row.random or row.family == "random":
        return
    for sample in samples(row, dtype, seed=seed, **sizes):
        few = sum(t.numel() for t in sample.tensors()) <= _MOST
        said = _compared(sample) if few and not sample.written() else ""
        if said:
            yield f"{sample}: {said}"


def function(sample: Sample) -> tuple[Callable[..., Tensors], Tensors]:
    """The call as a function of its floating-point tensors to such results, and those tensors."""
    given = tuple(t for t in sample.tensors() if t.is_floating_point())

    def run(*tensors: Tensor) -> Tensors:
        rest = iter(tensors)
        made = sample.map(lambda t: next(rest) if t.is_floating_point() else t).call()
        return tuple(r for r in flat(made) if isinstance(r, Tensor) and r.is_floating_point())

    return run, given


def numbers(like: Tensor, seed: str, half: bool = False) -> Tensor:
    rng = np.random.default_rng(zlib.crc32(seed.encode()))
    made = taeda.from_numpy(np.array(rng.standard_normal(like.shape))).to(like.dtype)
    square = half and made.dim() > 1 and made.shape[-1] == made.shape[-2]
    return made + made.mH if square else made


def inner(a: Tensors, b: Tensors) -> float:
    pairs = zip(a, b, strict=True)
    return float(sum(np.sum(array(x.detach()) * array(y.detach())) for x, y in pairs))


def walked(f: Callable[..., Tensors], x: Tensors, v: Tensors) -> Tensors:
    """Backward, by the engine alone."""
    results = [(r, g) for r, g in zip(f(*x), v, strict=True) if r.requires_grad]
    if not results:
        return tuple(map(taeda.zeros_like, x))
    made: Tensors = taeda.autograd.grad(
        [r for r, _ in results],
        x,
        [g for _, g in results],
        create_graph=True,
        materialize_grads=True,
    )
    return made


def _ways(
    f: Callable[..., Tensors], x: Tensors, v: Tensors, s: Tensors, t: Tensors
) -> dict[str, Callable[[], float]]:
    """The same number in several ways; the first needs nothing but the engine."""

    def back(*z: Tensor) -> Tensors:
        made: Tensors = func.vjp(f, *z)[1](v)
        return made

    def ahead(*z: Tensor) -> Tensors:
        made: Tensors = func.jvp(f, z, t)[1]
        return made

    def leaves() -> Tensors:
        return tuple(z.detach().clone().requires_grad_() for z in x)

    def twice(z: Tensors) -> Tensors:
        return walked(lambda *y: walked(f, y, v), z, t)

    def unrecorded(call: Callable[[], float]) -> Callable[[], float]:
        return taeda.no_grad()(call)

    ways: dict[str, Callable[[], float]] = {
        "backward twice": lambda: inner(twice(leaves()), s),
        "forward over backward": lambda: inner(func.jvp(back, x, s)[1], t),
        "backward over forward": lambda: inner(func.vjp(ahead, *x)[1](v), s),
        "forward twice": lambda: inner(func.jvp(ahead, x, s)[1], v),
    }
    return ways | {f"{name}, unrecorded": unrecorded(way) for name, way in list(ways.items())[1:]}


def _thirds(
    f: Callable[..., Tensors], x: Tensors, v: Tensors, s: Tensors, t: Tensors
) -> dict[str, Callable[[], float]]:
    def twice(*z: Tensor) -> Tensors:
        made: Tensors = func.vjp(lambda *y: func.vjp(f, *y)[1](v), *z)[1](t)
        return made

    def thrice() -> float:
        z = tuple(y.detach().clone().requires_grad_() for y in x)
        return inner(walked(lambda *y: walked(lambda *w: walked(f, w, v), y, t), z, s), s)

    return {
        "backward three times": thrice,
        "forward over backward twice": lambda: inner(func.jvp(twice, x, s)[1], s),
    }


def _linear(
    f: Callable[..., Tensors], x: Tensors, v: Tensors, s: Tensors, t: Tensors
) -> dict[str, Callable[[], float]]:
    def zeros(like: Tensors) -> Tensors:
        return tuple(taeda.zeros_like(z).requires_grad_() for z in like)

    def slope(product: Tensors, by: Tensors, along: Tensors, weights: Tensors) -> float:
        pairs = zip(product, weights, strict=True)
        total = sum(((p * w).sum() for p, w in pairs), taeda.zeros((), requires_grad=True))
        made = taeda.autograd.grad(total, by, allow_unused=True, materialize_grads=True)
        return inner(made, along)

    def pulled() -> float:
        z, c = tuple(y.detach().clone().requires_grad_() for y in x), zeros(v)
        return slope(walked(f, z, c), c, v, t)

    def pushed() -> float:
        c = zeros(t)
        return slope(func.jvp(f, x, c)[1], c, t, v)

    return {
        "backward": lambda: inner(func.vjp(f, *x)[1](v), t),
        "the slope of backward at a gradient of 0": pulled,
        "the slope of forward at a tangent of 0": pushed,
    }


def _compared(sample: Sample) -> str:
    f, x = function(sample)
    half = any(word in sample.row.schema.name for word in _ONE_TRIANGLE)
    try:
        plain = f(*x)
    except DOCUMENTED:
        return ""  # not for this dtype
    if not x or not plain:
        return ""
    s, t = (tuple(numbers(z, f"{k} {n}", half) for n, z in enumerate(x)) for k in "st")
    v = tuple(numbers(r, f"v {n}") for n, r in enumerate(plain))
    for made in (_linear, _ways, _thirds):
        said = differing(made(f, x, v, s, t), _ALLOWED.get(sample.dtype, _LOW))
        if said:
            return said
    return ""


def differing(ways: dict[str, Callable[[], float]], allowed: float) -> str:
    (first, reference), *others = ways.items()
    try:
        wanted = reference()
    except DOCUMENTED:
        return ""  # no such derivative
    for name, way in others:
        try:
            found = way()
        except DOCUMENTED as error:
            return f"{name} refuses, {first} does not: {type(error).__name__}: {error}"
        same = abs(found - wanted) <= allowed * max(abs(wanted), abs(found), 1.0)
        if not same and not (found != found and wanted != wanted):
            return f"{name} {found:.12g}, {first} {wanted:.12g}"
    return ""
