"""Rules in float16 and bfloat16: of whatever steps they are made, the gradient is rounded once."""

from __future__ import annotations

from typing import Any

import pytest
from samples import ROWS, fits, samples, tensors

import taeda
from taeda._native import core
from taeda.autograd.rules import _registry

pytestmark = pytest.mark.filterwarnings("ignore")

DTYPES = (taeda.float16, taeda.bfloat16)
#: units in the last place: of formulas that are given a result, which is off by half of one, and of others
OF_RESULTS, ALLOWED = 4.0, 1.01


def floating(found: Any) -> list[taeda.Tensor]:
    return [t for t in tensors(found) if t.is_floating_point()]


def as_leaves(sample: Any, dtype: Any) -> Any:
    return sample.map(
        lambda t: t.detach().to(dtype).requires_grad_() if t.is_floating_point() else t
    )


def gradients(sample: Any, cotangents: list[taeda.Tensor]) -> list[taeda.Tensor | None] | None:
    """Of all floating arguments; None if nothing has a gradient."""
    results = [r for r in floating(sample.call()) if r.requires_grad]
    leaves = [t for t in sample.tensors() if t.requires_grad]
    if not results or not leaves:
        return None
    given = []
    for k, r in enumerate(results):
        if k == len(cotangents):
            taeda.manual_seed(k)
            cotangents.append((taeda.rand(r.shape) + 0.5).to(taeda.bfloat16))
        given.append(cotangents[k].to(r.dtype))
    return list(taeda.autograd.grad(results, leaves, given, allow_unused=True))


def exactly(short: Any, cotangents: list[taeda.Tensor]) -> list[taeda.Tensor | None] | None:
    """The gradients in float64, or in float32 of a row that computes in no wider type."""
    for dtype in (taeda.float64, taeda.float32):
        try:
            return gradients(as_leaves(short, dtype), cotangents)
        except NotImplementedError:
            if dtype is taeda.float32:
                raise
    return None


def units(made: taeda.Tensor, exact: taeda.Tensor, each: bool) -> float:
    """The largest error in units of the last place of `made`'s dtype: of each element, or of the largest."""
    finfo, exact = taeda.finfo(made.dtype), exact.double()
    known = exact.isfinite() & (exact.abs() < finfo.max)
    made, exact = made.double()[known], exact[known]
    if not made.numel():
        return 0.0
    size = exact.abs().clamp_min(finfo.smallest_normal)
    unit = taeda.exp2((size if each else size.max()).log2().floor()) * finfo.eps
    return float(((made - exact).abs() / unit).max())


taeda.ones(1, requires_grad=True)  # the first that needs a rule loads them all
CASES = [
    name
    for name, row in ROWS.items()
    if core.has_rule(name) and fits(row, "float32") and not row.random
    if not any(a.mutated for a in row.schema.arguments)
]


def of_results(name: str) -> bool:
    """Is a formula given the result, as 16 bits kept it?"""
    formulas = _registry.rules[name].formulas.values()
    return any(p.startswith("result") for _, parameters in formulas for p in parameters)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_a_gradient_is_rounded_once(name, dtype):
    for sample in samples(name, "float32"):
        short = as_leaves(sample, dtype)
        cotangents: list[taeda.Tensor] = []
        try:
            found = gradients(short, cotangents)
        except (NotImplementedError, RuntimeError) as error:
            if not refuses(error):
                raise
            continue
        if found is None:
            continue
        for made, exact in zip(found, exactly(short, cotangents), strict=True):
            if made is not None and exact is not None:
                assert made.dtype is dtype
                each = ROWS[name].kind == "pointwise" and not of_results(name)
                assert units(made, exact, each) <= (OF_RESULTS if of_results(name) else ALLOWED), (
                    sample
                )


def refuses(error: Exception) -> bool:
    """Does it say that the operation, or its derivative, is not for these dtypes?"""
    return any(
        word in str(error)
        for word in ("not implemented", "no derivative", "float16", "Half", "BFloat16")
    )


# ---- means of more elements than float16 can count ----

MANY = 70_000
MEANS = {
    "mean": lambda x: x.mean(),
    "mean of rows": lambda x: x.reshape(1, -1).mean(1),
    "nanmean": lambda x: x.nanmean(),
    "max": lambda x: x.max(),
    "min": lambda x: x.min(),
    "amax": lambda x: x.amax(0),
    "amin": lambda x: x.amin(),
    "aminmax": lambda x: sum(x.aminmax()) / 2,
    "median": lambda x: x.median(),
    "infinite norm": lambda x: taeda.linalg.vector_norm(x, float("inf")),
    "norm over its length": lambda x: x.norm() / MANY**0.5 * MANY**0.5 / MANY**0.5,
    "layer_norm": lambda x: taeda.nn.functional.layer_norm(x * 0 + x, (MANY,)).mean() + x.mean(),
    "mse_loss": lambda x: taeda.nn.functional.mse_loss(x, x.detach() - 0.5),
    "l1_loss": lambda x: taeda.nn.functional.l1_loss(x, x.detach() - 0.5),
    "kl_div": lambda x: -taeda.nn.functional.kl_div(x, taeda.ones_like(x)),
    "poisson_nll_loss": lambda x: taeda.nn.functional.poisson_nll_loss(x, x.detach() * 0 + 1.71828),
    "margin_ranking_loss": lambda x: taeda.nn.functional.margin_ranking_loss(
        x, taeda.zeros_like(x), -taeda.ones_like(x)
    ),
    "hinge_embedding_loss": lambda x: taeda.nn.functional.hinge_embedding_loss(
        x, taeda.ones_like(x)
    ),
    "var": lambda x: x.var() + x.mean(),
}


@pytest.mark.parametrize("name", MEANS)
def test_a_mean_of_more_elements_than_float16_counts(name):
    """The gradients of each of these sum to 1."""
    x = taeda.ones(MANY, dtype=taeda.float16, requires_grad=True)
    MEANS[name](x).backward()
    assert float(x.grad.double().sum()) == pytest.approx(1, rel=0.01)


def test_a_scaled_loss_of_float16():
    scaler = taeda.amp.GradScaler("cpu", init_scale=65536.0)
    loss = taeda.tensor([0.5, 0.25], dtype=taeda.float16)
    assert scaler.scale(loss).tolist() == [32768.0, 16384.0]


def test_a_norm_of_tiny_numbers_keeps_its_gradient():
    x = taeda.full((600,), 1e-6, dtype=taeda.float16, requires_grad=True)
    (x.norm() * 2).backward()
    assert x.grad[0].item() == pytest.approx(0.0817, rel=2**-9)


def test_a_row_whose_norm_float16_cannot_hold_is_scaled():
    x = taeda.full((1, 1000), 1e4, dtype=taeda.float16, requires_grad=True)
    made = taeda.renorm(x, 2, 0, 0.5)
    assert made[0, 0].item() == pytest.approx(0.5 / 1000**0.5, rel=2**-9)
    made.sum().backward()
    assert bool(x.grad.isfinite().all())


def test_the_slope_of_sinc_far_out():
    x = taeda.tensor(179.5, dtype=taeda.float16, requires_grad=True)
    x.sinc().backward()
    assert x.grad.item() == pytest.approx(9.886e-6, rel=0.01)


def test_there_are_such_rules():
    assert len(CASES) > 200


def test_samples_without_dimensions_are_numbers_in_vmap():
    x = taeda.tensor([[1e-3, 2e-3], [1e-3, 2e-3]], dtype=taeda.float16)
    s = taeda.tensor([70000.0, 0.1], dtype=taeda.float64)
    made = taeda.vmap(lambda x, s: x * s)(x, s)
    assert made.dtype is taeda.float16
    assert made.tolist() == [(x[0] * 70000.0).tolist(), (x[1] * 0.1).tolist()]
    rows = x.clone()
    taeda.vmap(lambda x, s: x.mul_(s))(rows, s)
    assert rows.tolist() == made.tolist()
    assert taeda.vmap(lambda x, s: x < s)(x, s).tolist() == [
        (x[0] < 7e4).tolist(),
        (x[1] < 0.1).tolist(),
    ]


# ---- results that 16 bits cannot hold, or that they round ----

LARGE = {
    "norm": lambda x: x.norm(),
    "norm of order 3": lambda x: x.norm(3),
    "norm of order 0.5": lambda x: taeda.linalg.vector_norm(x, 0.5),
    "largest norm": lambda x: taeda.linalg.vector_norm(x, float("inf")),
    "matrix norm": lambda x: taeda.linalg.matrix_norm(x.view(2, 3)),
    "dist": lambda x: taeda.dist(x, -x.detach()),
    "hypot": lambda x: taeda.hypot(x, x.flip(0)),
    "std": lambda x: (x * taeda.tensor([1, -1, 1, -1, 1, -1])).std(),
    "std along": lambda x: (x.view(2, 3) * taeda.tensor([1, -1, 1])).std(1, correction=0),
    "std_mean": lambda x: sum(taeda.std_mean(x * taeda.tensor([1, -1, 1, -1, 1, -1]))),
    "logsumexp": lambda x: x.logsumexp(0),
    "logcumsumexp": lambda x: x.logcumsumexp(0),
    "logaddexp": lambda x: taeda.logaddexp(x, x.flip(0)),
    "cumprod": lambda x: (x * 2**-8).cumprod(0),
}


@pytest.mark.parametrize("of_tangents", [False, True])
@pytest.mark.parametrize("size", [1e-5, 3.0, 100.0, 60_000.0])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", LARGE)
def test_derivatives_are_of_the_result_before_it_is_rounded(name, dtype, size, of_tangents):
    f, made = LARGE[name], []
    short = (taeda.tensor([1.0, 0.99, 0.5, 1.0, 0.97, 0.75]) * size).to(dtype)
    direction = taeda.tensor([1, 0.5, 0.25, -0.5, 0.75, 1], dtype=dtype)
    for x in (short, short.double()):
        if of_tangents:
            made.append(taeda.func.jvp(f, (x,), (direction.to(x.dtype),))[1])
        else:
            made.append(taeda.func.grad(lambda x: f(x).sum())(x))
    wanted = made[1].to(dtype).double()  # a derivative may be beyond the type as well
    known = wanted[wanted.isfinite()]
    atol = 8 * taeda.finfo(dtype).eps * float(known.abs().max()) if known.numel() else 0.0
    taeda.testing.assert_close(made[0].double(), wanted, rtol=0, atol=atol)
