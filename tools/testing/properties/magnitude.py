"""Numbers of any size, numbers that the type cannot hold, and one odd number among ordinary ones: a
call gives what it gives for the same inputs in float64.

    scaled   every tensor of numbers times 1e-30 to 1e30 (as far as the dtype goes)
    numbers  in 16 bits: arguments that are plain numbers become 70000 and 1e-9
    odd      one element is NaN, infinite or -9999: elements that do not see it keep their digits

Seed 0 takes these from a table. Another seed draws them: a scale for all, and one for each tensor of its own
(the kind `scales`), any numbers that are far from 1, the place of the odd element, and how the tensors lie
in memory.

How far rounding may carry is measured, as `few_digits` does: the call in float64 is made again with
every input moved by one unit of the short dtype. What fits the type may not become infinite or NaN
on the way. Values beyond the type, and below its normal numbers, are not compared.
"""

from __future__ import annotations

import itertools
import math
import random
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from outcomes import DOCUMENTED, EPSILON, array, flat
from samples import Row, Sample, samples

import taeda

__all__ = ["APART", "DTYPES", "Case", "cases", "compared", "faults", "outcome"]

Tensor = taeda.Tensor
Outcome = dict[str, np.ndarray]
DTYPES = ("float32", "float16", "bfloat16")
_RANGE = {
    "float16": (2.0**-14, 65504.0),
    "bfloat16": (2.0**-126, 3.3e38),
    "float32": (2.0**-126, 3.4e38),
}
_SCALES = {
    "float32": (1e-30, 1e-20, 1e-10, 1.0, 1e10, 1e20, 1e30),
    "bfloat16": (1e-30, 1e-10, 1.0, 1e10, 1e30),
    "float16": (1e-6, 1e-3, 1.0, 1e2, 1e4),
}  # fmt: skip
_ODD = (float("nan"), float("inf"), -9999.0)
_NUMBERS = (70000.0, 1e-9)
_UNITS = {"float32": 64.0, "float16": 8.0, "bfloat16": 8.0}
_MOVED = 4.0  # times what the moved inputs change
#: of factors of matrices and of many steps: few moves rarely show how far gaps and products carry
_MOVED_FAR = 16.0
#: families whose elements stand each for itself: their errors are measured by the element
_EACH = ("pointwise", "activation", "comparison")
_ALL = ("scaled", "scales", "numbers", "odd")
_SCALED = ("scaled", "scales")
#: results in blocks that are as long as a vector of their dtype: two dtypes have two orders
_BLOCKS = {"_lstm": "result 3", "_gru": "result 1"}
#: a row, the kinds that it is not asked for, and why
APART: dict[str, tuple[tuple[str, ...], str]] = {
    **dict.fromkeys(
        ("softsign", "tanhshrink", "i0e", "i1e"),
        (_ALL, "a difference of nearly equal numbers: its error is one of those numbers"),
    ),
    **dict.fromkeys(
        ("logit_backward", "soft_margin_loss_backward", "_linalg_svd",
         "svd", "svd.legacy", "lstsq", "lu_solve", "vander", "vander.linalg", "istft",
         "cosine_embedding_loss", "_lstm", "_gru", "_rnn", "corrcoef", "cov",
         "convolution_backward", "native_batch_norm_backward"),
        (_SCALED, "products of inputs, or their squares, are beyond the type, though results are not"),
    ),
    **dict.fromkeys(
        ("scatter_reduce.two", "index_reduce"),
        (_SCALED, "the gradient of a product is the rounded product over an element"),
    ),
    **dict.fromkeys(
        ("trapezoid.x", "trapz.x", "gradient.tensorarrayint", "gradient.tensorarray"),
        (("odd", *_SCALED), "a weight is a sum of steps, which cancel where they pass the odd number"),
    ),
    **dict.fromkeys(
        ("gradient.scalarint", "gradient.scalararray"), (("numbers",), "quotients by it are beyond the type")
    ),
    **dict.fromkeys(
        ("triangular_solve", "ormqr"), (("odd",), "the half that is not read is 0 times its numbers")
    ),
    **dict.fromkeys(
        ("hypot", "norm.linalg", "vector_norm", "frobenius_norm.dim", "std.dim", "std.correction",
         "std_mean.dim", "std_mean.correction"),
        (_SCALED, "the gradient divides by the result, which may be below the normal numbers of float16"),
    ),
    **dict.fromkeys(
        ("tanh", "sigmoid"), (_SCALED, "the gradient is made of the result, which is rounded beside 1")
    ),
    "matrix_exp.linalg": (("odd",), "powers of the odd number are beyond the type, though the result is not"),
    "histogram.bin_ct": (_SCALED, "edges are rounded to the dtype, and numbers fall beside them"),
    "histogram.bins_tensor": (_SCALED, "counts are of the dtype, and their sum is beyond it"),
    **dict.fromkeys(("logit",), (("numbers",), "1 - eps is 1 in float32, and its logit infinite")),
    **dict.fromkeys(("poisson_nll_loss",), (_SCALED, "its terms are 46 times their sum")),
    "scaled_dot_product_attention": (
        ("odd", *_SCALED),
        "products are beyond the type; gradients multiply the 0 of a hidden place, and 0 times NaN is NaN",
    ),
    "margin_ranking_loss": (_SCALED, "the sign of a product that is below the type"),
    "triplet_margin_loss": (_ALL, "a difference of distances that eps makes equal"),
    **dict.fromkeys(
        ("layer_norm", "batch_norm", "group_norm", "instance_norm", "native_layer_norm",
         "native_group_norm"),
        (_ALL, "gradients across the norm are what cancellation leaves of those that arrive"),
    ),
    "rms_norm": (_ALL, "its eps is that of the dtype"),
    "mvlgamma": (_SCALED, "below its domain"),
    "sinc": (_SCALED, "pi times the number is rounded before its sine"),
    **dict.fromkeys(
        ("_grid_sample", "_grid_sample_backward"), (_SCALED, "at 0 the grid is between two pixels")
    ),
    "logcumsumexp": (_SCALED, "the gradient's logarithm is added to the numbers"),
    **dict.fromkeys(
        ("view.dtype", "view_copy.dtype"), (_ALL, "reads the bits of its elements as another dtype")
    ),
}  # fmt: skip
#: the same where scales and places are drawn
DRAWN_APART: dict[str, tuple[tuple[str, ...], str]] = {
    **dict.fromkeys(
        ("_linalg_eigh", "eigh", "_linalg_svd", "svd", "svd.legacy"), (_ALL, "vectors may have either sign")
    ),
    **dict.fromkeys(
        ("_linalg_lu_solve", "lu_solve"), (("odd", *_SCALED), "such factors are those of no matrix near by")
    ),
    **dict.fromkeys(
        ("matrix_exp", "matrix_power", "matrix_power.linalg"),
        (("odd",), "powers of the odd number are beyond the type, though the result is not"),
    ),
    "matrix_norm.str_ord": (_SCALED, "the gradient divides by the result, which may be beyond the type"),
    **dict.fromkeys(
        ("_binary_cross_entropy_backward", "tanh_backward", "sigmoid_backward"),
        (_SCALED, "outside of its domain"),
    ),
    "_fused_rms_norm_backward": (_SCALED, "the statistics are of other numbers"),
    "polygamma": (_SCALED, "a power of the number is beyond the type, though the result is not"),
    "_softmax": (_SCALED, "the gradient of the largest is what cancellation leaves of the others"),
    **dict.fromkeys(
        ("_cross_entropy_backward", "native_layer_norm_backward", "native_group_norm_backward"),
        (("scales",), "the statistics are of other numbers"),
    ),
    **dict.fromkeys(
        ("binary_cross_entropy_with_logits", "multi_margin_loss"),
        (("scales",), "products without the weights are beyond the type, though results are not"),
    ),
    **dict.fromkeys(
        ("add.Tensor", "sub.Tensor", "rsub.Tensor"),
        (("numbers",), "terms of a gradient that are beyond the type, and whose sum is 0"),
    ),
    **dict.fromkeys(
        ("_lstm_backward", "_gru_backward"),
        (_ALL, "gates lie in blocks that are as long as a vector of the dtype that made them"),
    ),
    **dict.fromkeys(
        ("silu_backward", "mish_backward", "log_sigmoid_backward", "softplus_backward",
         "gelu_backward", "elu_backward"),
        (_SCALED, "e to the number is below the type where its product is not"),
    ),
    "_segment_softmax": (_SCALED, "the gradient of the largest is what cancellation leaves of the others"),
    **dict.fromkeys(
        ("cond", "cond.p_str"), (_ALL, "of a matrix of one element the gradient is what cancellation leaves")
    ),
    "corrcoef": (("odd",), "of one number in a row the gradient is what cancellation leaves"),
    "hinge_embedding_loss": (_SCALED, "of targets other than 1 and -1 both parts are added, and cancel"),
    "_grid_sample_backward": (("odd",), "a slope is a difference of pixels, of which one is odd"),
    "_linalg_pinv": (("scales",), "the parts are those of one matrix, and have its scale"),
    "matrix_norm": (_SCALED, "vectors of singular values that are close to each other turn with rounding"),
    "renorm": (("numbers",), "of an order near 0 the norm's square is beyond float32"),
    "cdist": (("scales",), "the largest of differences that round alike is any of them"),
    "chain_matmul": (("scales",), "a product of two is below the type, though that of all is not"),
    **dict.fromkeys(
        ("solve_triangular", "_linalg_triangular", "_linalg_lu", "_linalg_cholesky",
         "cholesky", "cholesky_ex", "cholesky.legacy", "cholesky_inverse", "cholesky_solve"),
        (("odd",), "the library multiplies zeros beside a triangle by its numbers"),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A changed call, and the ordinary one it was made from."""

    kind: str
    said: str
    sample: Sample
    plain: Sample | None = None


def faults(row: Row, dtype: str, *, seed: int = 0, **sizes: int) -> Iterator[str]:
    """Every sample of the row that draws nothing at random and writes into none of its arguments."""
    for case in cases(row, dtype, seed=seed, **sizes):
        said = compared(case)
        if said:
            yield f"{case.sample}, {case.kind} {case.said}: {said}"


def cases(row: Row, dtype: str, *, seed: int = 0, **sizes: int) -> Iterator[Case]:
    """All changed calls of a row."""
    if row.random or row.family in ("random", "creation", "optim"):
        return
    name = row.schema.qualified
    without = APART.get(name, ((), ""))[0] + (DRAWN_APART.get(name, ((), ""))[0] if seed else ())
    for sample in samples(row, dtype, seed=seed, **sizes):
        if sample.written() or not any(t.is_floating_point() for t in sample.tensors()):
            continue
        draw = random.Random(f"{sample} {seed}") if seed else None
        laid = sample if draw is None else sample.map(lambda t: _laid(t, draw))  # noqa: B023 - called at once
        for made in (_scaled, _numbers, _odd):
            yield from (case for case in made(laid, draw) if case.kind not in without)


# ---- what another seed draws ----


def _laid(t: Tensor, draw: random.Random) -> Tensor:
    """The same numbers, somehow in memory."""
    if not t.dim() or draw.random() < 0.4:
        return t
    turned = draw.sample(range(t.dim()), t.dim())
    steps = [draw.choice((1, 1, 2)) for _ in turned]
    room = taeda.zeros(
        [t.shape[d] * step for d, step in zip(turned, steps, strict=True)], dtype=t.dtype
    )
    view = room[tuple(slice(None, None, step) for step in steps)]
    view = view.permute([turned.index(d) for d in range(t.dim())])
    return view.copy_(t)


def _drawn_scale(dtype: str, draw: random.Random) -> float:
    least, most = math.log10(min(_SCALES[dtype])), math.log10(max(_SCALES[dtype]))
    return float(draw.choice((-1, 1)) * 10 ** draw.uniform(least, most))


def _drawn_scales(sample: Sample, draw: random.Random) -> Iterator[Case]:
    for shared in (True, True, False):
        scale = _drawn_scale(sample.dtype, draw)
        given = [scale if shared else _drawn_scale(sample.dtype, draw) for _ in sample.tensors()]
        order = iter(given)

        def change(t: Tensor, order: Iterator[float] = order) -> Tensor:
            by = next(order)
            return t * by if t.is_floating_point() else t

        said = f"{given[0]:g}" if shared else ", ".join(f"{by:g}" for by in given)
        yield Case("scaled" if shared else "scales", f"by {said}", sample.map(change))


# ---- the kinds ----


def _scaled(sample: Sample, draw: random.Random | None) -> Iterator[Case]:
    if draw is not None:
        yield from _drawn_scales(sample, draw)
        return
    for scale in _SCALES[sample.dtype]:

        def change(t: Tensor, scale: float = scale) -> Tensor:
            return t * scale if t.is_floating_point() else t

        yield Case("scaled", f"by {scale:g}", sample.map(change))


def _numbers(sample: Sample, draw: random.Random | None) -> Iterator[Case]:
    if sample.dtype == "float32":
        return
    for place, argument in enumerate(sample.row.schema.arguments):
        named = place >= len(sample.args)
        given = sample.kwargs.get(argument.name) if named else sample.args[place]
        if argument.base not in ("Scalar", "float") or type(given) not in (int, float):
            continue
        numbers = _NUMBERS if draw is None else [_drawn_scale("float32", draw) for _ in range(2)]
        for number in numbers:
            if named:
                made = replace(sample, kwargs={**sample.kwargs, argument.name: number})
            else:
                made = replace(
                    sample, args=(*sample.args[:place], number, *sample.args[place + 1 :])
                )
            yield Case("numbers", f"{argument.name}={number:g}", made)


def _odd(sample: Sample, draw: random.Random | None) -> Iterator[Case]:
    for place, t in enumerate(sample.tensors()):
        if not t.is_floating_point() or not 1 < t.numel() <= 1 << 16:
            continue
        for odd in _ODD if draw is None else (*_ODD, -math.inf, 9999.0):
            at = t.numel() // 2 if draw is None else draw.randrange(t.numel())
            count = itertools.count()

            def change(
                t: Tensor, place: int = place, odd: float = odd, at: int = at, count: Any = count
            ) -> Tensor:
                if next(count) != place:
                    return t
                made = t.clone()
                made[tuple(int(k) for k in np.unravel_index(at, t.shape))] = odd
                return made

            yield Case("odd", f"{odd:g} in tensor {place}", sample.map(change), sample)


def compared(case: Case, short: Callable[[Sample, tuple[int, ...]], Outcome] | None = None) -> str:
    """What is wrong with the case in its dtype (or as another library, `short`, computes it)."""
    sample = case.sample
    for chosen in _choices(sample):
        try:
            wanted = outcome(sample.map(_wide), chosen)
            if case.plain:
                units = (0.0, EPSILON[sample.dtype])
                moved = [outcome(case.plain.map(_moved(unit, 1)), chosen) for unit in units]
            else:
                moved = [
                    outcome(sample.map(_moved(EPSILON[sample.dtype], n)), chosen) for n in (1, 2, 3)
                ]
            found = (short or outcome)(sample, chosen)
        except (*DOCUMENTED, AssertionError):
            continue  # no such dtype, no derivative, or numbers that the row refuses
        for name, ours in found.items():
            others = [m.get(name) for m in moved]
            if name == _BLOCKS.get(sample.row.schema.qualified):
                continue
            compare = _locally if case.plain else _apart
            said = compare(ours, wanted.get(name), others, sample)
            if said:
                return f"{name}: {said}"
        if chosen:
            break
    return ""


def outcome(sample: Sample, chosen: tuple[int, ...]) -> Outcome:
    """Values and gradients, in float64, by name."""
    leaves: list[Tensor] = []
    numbers = itertools.count()

    def leaf(t: Tensor) -> Tensor:
        if next(numbers) not in chosen or not t.is_floating_point():
            return t.clone()
        leaves.append(t.detach().clone().requires_grad_())
        return leaves[-1]

    made = [r for r in flat(sample.map(leaf).call()) if isinstance(r, Tensor)]
    known = {f"result {k}": array(r) for k, r in enumerate(made)}
    results = [r for r in made if r.requires_grad and r.is_floating_point()]
    if not results or not leaves:
        return known
    name = sample.row.schema.name
    cotangents = [cotangent(tuple(r.shape), name, k).to(r.dtype) for k, r in enumerate(results)]
    grads = taeda.autograd.grad(results, leaves, cotangents, allow_unused=True)
    return known | {f"gradient {k}": array(g) for k, g in enumerate(grads) if g is not None}


def cotangent(shape: tuple[int, ...], name: str, number: int) -> Tensor:
    """Eighths from -2 to 2, without 0: every dtype holds them."""
    rng = np.random.default_rng(zlib.crc32(f"{name} {number}".encode()))
    return taeda.from_numpy(np.array(rng.integers(1, 17, shape) / 8.0 * rng.choice([-1, 1], shape)))


def _choices(sample: Sample) -> Iterator[tuple[int, ...]]:
    numbers = tuple(k for k, t in enumerate(sample.tensors()) if t.is_floating_point())
    yield numbers
    yield ()


def _comparable(theirs: np.ndarray | None, ours: np.ndarray, others: list[Any]) -> bool:
    if theirs is None or theirs.dtype.kind != "f" or ours.dtype.kind != "f":
        return False
    return all(o is not None and o.shape == theirs.shape == ours.shape for o in others)


def _apart(ours: Any, theirs: Any, others: list[Any], sample: Sample) -> str:
    if not _comparable(theirs, ours, others):
        return ""
    unit, (least, most) = EPSILON[sample.dtype], _RANGE[sample.dtype]
    terms = max(t.numel() for t in sample.tensors())
    # a gradient that is smaller than the inputs is made of sums
    each = sample.row.family in _EACH and ours.size >= terms
    with np.errstate(all="ignore"):
        kept = np.abs(theirs) < most / 4
        for other in others:
            kept &= np.abs(other) < most / 4
        if not each:  # a mean is a sum first
            kept &= np.abs(theirs) * terms < most / 4
        # what is beyond the type in one place was formed of terms that are
        if not kept.any() or not (each or kept.all()):
            return ""
        shift = np.max([np.abs(o - theirs) for o in others], axis=0)
        size = np.abs(theirs)
        if not each:
            shift, size = shift[kept].max(initial=0), size[kept].max(initial=0)
        below = 4 if each else max(4, terms)  # of terms that are
        allowed = _UNITS[sample.dtype] * unit * size + _moves(sample.row) * shift + below * least
        allowed = np.broadcast_to(allowed, theirs.shape)
        off = np.abs(ours - theirs)
        bad = kept & ~(off <= allowed)
    if not bad.any():
        return ""
    at = np.unravel_index(np.argmax(np.where(bad, np.nan_to_num(off, nan=np.inf), 0)), bad.shape)
    return (
        f"{ours[at]:.6g} where float64 has {theirs[at]:.6g}, allowed {allowed[at]:.3g} "
        f"({bad.sum()} of {bad.size})"
    )


def _locally(ours: Any, theirs: Any, others: list[Any], sample: Sample) -> str:
    """Of an odd number: what is no number stays where it belongs, and the rest keeps its digits."""
    if not _comparable(theirs, ours, others):
        return ""
    (plain, near), unit, (least, most) = others, EPSILON[sample.dtype], _RANGE[sample.dtype]
    with np.errstate(all="ignore"):
        strange = np.isnan(ours) & ~np.isnan(theirs) & (np.abs(theirs) < most / 4)
        blind = (plain == theirs) & (np.abs(plain) < most / 4)  # they do not see it
        size = np.abs(plain)[np.isfinite(plain)].max(initial=0)
        shift = np.abs(near - plain)
        shift = shift[np.isfinite(shift)].max(initial=0)
        off = np.abs(ours - theirs)
        allowed = 2 * _UNITS[sample.dtype] * unit * size + _moves(sample.row) * shift + 4 * least
        bad = strange | (blind & ~(off <= allowed))
    if not bad.any():
        return ""
    at = np.unravel_index(np.argmax(bad), bad.shape)
    return f"{ours[at]:.6g} where float64 has {theirs[at]:.6g} ({bad.sum()} of {bad.size})"


def _moves(row: Row) -> float:
    return _MOVED_FAR if row.family.startswith(("linalg", "recurrent")) else _MOVED


def _wide(t: Tensor) -> Tensor:
    return t.to(taeda.float64) if t.is_floating_point() else t


def _moved(unit: float, seed: int) -> Callable[[Tensor], Tensor]:
    rng = np.random.default_rng(seed)

    def move(t: Tensor) -> Tensor:
        if not t.is_floating_point():
            return t
        return _wide(t) * taeda.from_numpy(np.array(1 + unit * rng.choice([-1.0, 1.0], t.shape)))

    return move
