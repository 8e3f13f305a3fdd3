"""Every algorithm against its formula, written down a second time in numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taeda
from taeda import optim

STEPS = 12
START = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, -1.5]])
TARGET = np.array([[0.5, 1.0, 0.25], [-1.0, 2.0, -2.0]])


def gradient(p):
    return 2 * (p - TARGET)


# A formula is a function (p, g, s, t, **options) -> new p; `s` is a dict that it keeps its state in.


def sgd(p, g, s, t, *, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False):
    g = g + weight_decay * p
    if momentum:
        s["v"] = g if t == 1 else momentum * s["v"] + (1 - dampening) * g
        g = g + momentum * s["v"] if nesterov else s["v"]
    return p - lr * g


def means(g, s, betas):
    s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
    s["v"] = betas[1] * s.get("v", 0) + (1 - betas[1]) * g * g
    return s["m"], s["v"]


def adam(
    p, g, s, t, *, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False,
    decoupled_weight_decay=False,
):  # fmt: skip
    if decoupled_weight_decay:
        p = p * (1 - lr * weight_decay)
    else:
        g = g + weight_decay * p
    m, v = means(g, s, betas)
    if amsgrad:
        v = s["max"] = np.maximum(s.get("max", 0), v)
    return p - lr * (m / (1 - betas[0] ** t)) / (np.sqrt(v / (1 - betas[1] ** t)) + eps)


def adamw(p, g, s, t, *, weight_decay=1e-2, **options):
    return adam(p, g, s, t, weight_decay=weight_decay, decoupled_weight_decay=True, **options)


def adadelta(p, g, s, t, *, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0):
    g = g + weight_decay * p
    s["v"] = rho * s.get("v", 0) + (1 - rho) * g * g
    step = np.sqrt(s.get("d", 0) + eps) / np.sqrt(s["v"] + eps) * g
    s["d"] = rho * s.get("d", 0) + (1 - rho) * step * step
    return p - lr * step


def adagrad(
    p, g, s, t, *, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10
):
    g = g + weight_decay * p
    s["sum"] = s.get("sum", initial_accumulator_value) + g * g
    return p - lr / (1 + (t - 1) * lr_decay) * g / (np.sqrt(s["sum"]) + eps)


def adamax(p, g, s, t, *, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0):
    g = g + weight_decay * p
    s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
    s["u"] = np.maximum(betas[1] * s.get("u", 0), np.abs(g) + eps)
    return p - lr / (1 - betas[0] ** t) * s["m"] / s["u"]


def asgd(p, g, s, t, *, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0):
    g = g + weight_decay * p
    eta, mu = s.get("eta", lr), s.get("mu", 1)
    p = p * (1 - lambd * eta) - eta * g
    s["ax"] = p if mu == 1 else s["ax"] + mu * (p - s["ax"])
    s["eta"] = lr / (1 + lambd * lr * t) ** alpha
    s["mu"] = 1 / max(1, t - t0)
    return p


def nadam(
    p, g, s, t, *, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
    decoupled_weight_decay=False,
):  # fmt: skip
    if decoupled_weight_decay:
        p = p * (1 - lr * weight_decay)
    else:
        g = g + weight_decay * p
    mu = betas[0] * (1 - 0.5 * 0.96 ** (t * momentum_decay))
    following = betas[0] * (1 - 0.5 * 0.96 ** ((t + 1) * momentum_decay))
    product = s["product"] = s.get("product", 1) * mu
    m, v = means(g, s, betas)
    ahead = following * m / (1 - product * following) + (1 - mu) * g / (1 - product)
    return p - lr * ahead / (np.sqrt(v / (1 - betas[1] ** t)) + eps)


def radam(
    p, g, s, t, *, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0,
    decoupled_weight_decay=False,
):  # fmt: skip
    if decoupled_weight_decay:
        p = p * (1 - lr * weight_decay)
    else:
        g = g + weight_decay * p
    m, v = means(g, s, betas)
    m = m / (1 - betas[0] ** t)
    most = 2 / (1 - betas[1]) - 1
    rho = most - 2 * t * betas[1] ** t / (1 - betas[1] ** t)
    if rho <= 5:
        return p - lr * m
    r = math.sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho))
    return p - lr * m * r * math.sqrt(1 - betas[1] ** t) / (np.sqrt(v) + eps)


def rmsprop(
    p, g, s, t, *, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False
):
    g = g + weight_decay * p
    v = s["v"] = alpha * s.get("v", 0) + (1 - alpha) * g * g
    if centered:
        s["a"] = alpha * s.get("a", 0) + (1 - alpha) * g
        v = v - s["a"] ** 2
    s["b"] = momentum * s.get("b", 0) + g / (np.sqrt(v) + eps)
    return p - lr * s["b"]


def rprop(p, g, s, t, *, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50)):
    sign = np.sign(g * s.get("g", 0 * g))
    factor = np.choose(sign.astype(int) + 1, [etas[0], 1.0, etas[1]])
    s["size"] = np.clip(s.get("size", lr) * factor, *step_sizes)
    g = np.where(sign < 0, 0, g)
    s["g"] = g
    return p - np.sign(g) * s["size"]


def adafactor(p, g, s, t, *, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0):
    least = np.finfo(p.dtype).eps if eps[0] is None else eps[0]
    rms = lambda x: math.sqrt((x * x).mean())  # noqa: E731
    step = max(eps[1], rms(p)) * min(lr, 1 / math.sqrt(t))
    p = p * (1 - lr * weight_decay)
    w = t**beta2_decay
    if p.ndim > 1:
        s["r"] = (1 - w) * s.get("r", 0) + w * (g * g).mean(-1, keepdims=True)
        s["c"] = (1 - w) * s.get("c", 0) + w * (g * g).mean(-2, keepdims=True)
        v = s["r"] @ s["c"] / np.maximum(s["r"].mean(-2, keepdims=True), least)
    else:
        v = s["v"] = (1 - w) * s.get("v", 0) + w * g * g
    update = g / np.sqrt(np.maximum(v, least**2))
    return p - step / max(1, rms(update) / d) * update


CASES = [
    (optim.SGD, sgd, {}),
    (optim.SGD, sgd, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}),
    (optim.SGD, sgd, {"lr": 0.1, "momentum": 0.9, "dampening": 0.5}),
    (optim.SGD, sgd, {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    (optim.Adam, adam, {}),
    (optim.Adam, adam, {"lr": 0.3, "betas": (0.5, 0.9), "weight_decay": 0.1}),
    (optim.Adam, adam, {"lr": 0.3, "amsgrad": True, "betas": (0.5, 0.6)}),
    (optim.Adam, adam, {"lr": 0.3, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    (optim.AdamW, adamw, {"lr": 0.3}),
    (optim.AdamW, adamw, {"lr": 0.3, "weight_decay": 0.5, "amsgrad": True}),
    (optim.Adadelta, adadelta, {}),
    (optim.Adadelta, adadelta, {"lr": 3.0, "rho": 0.5, "weight_decay": 0.1}),
    (optim.Adagrad, adagrad, {}),
    (optim.Adagrad, adagrad, {"lr": 0.5, "lr_decay": 0.1, "initial_accumulator_value": 0.1}),
    (optim.Adagrad, adagrad, {"lr": 0.5, "weight_decay": 0.1}),
    (optim.Adamax, adamax, {"lr": 0.1, "weight_decay": 0.1}),
    (optim.ASGD, asgd, {"lr": 0.1, "lambd": 0.1, "weight_decay": 0.1}),
    (optim.ASGD, asgd, {"lr": 0.1, "t0": 3}),
    (optim.NAdam, nadam, {"lr": 0.1, "weight_decay": 0.1}),
    (optim.NAdam, nadam, {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    (optim.RAdam, radam, {"lr": 0.1, "weight_decay": 0.1}),
    (optim.RAdam, radam, {"lr": 0.1, "betas": (0.8, 0.99), "decoupled_weight_decay": True}),
    (optim.RMSprop, rmsprop, {}),
    (optim.RMSprop, rmsprop, {"lr": 0.1, "momentum": 0.5, "weight_decay": 0.1}),
    (optim.RMSprop, rmsprop, {"lr": 0.1, "centered": True, "alpha": 0.9}),
    (optim.Rprop, rprop, {"lr": 0.5}),
    (optim.Rprop, rprop, {"lr": 0.5, "etas": (0.3, 2.0), "step_sizes": (0.01, 0.8)}),
    (optim.Adafactor, adafactor, {}),
    (optim.Adafactor, adafactor, {"lr": 0.5, "weight_decay": 0.1, "d": 1.5, "eps": (1e-3, 0.1)}),
]


def walk(cls, options, dtype, shape=START.shape, **flags):
    """The values after each step of the optimizer."""
    param = taeda.tensor(START.reshape(shape), dtype=dtype).requires_grad_()
    optimizer = cls([param], **options, **flags)
    target = taeda.tensor(TARGET.reshape(shape), dtype=dtype)
    for _ in range(STEPS):
        param.grad = (param.detach() - target) * 2
        optimizer.step()
        yield np.array(param.tolist())


def expected(formula, options, sign=1):
    p, state = START, {}
    for t in range(1, STEPS + 1):
        p = formula(p, sign * gradient(p), state, t, **options)
        yield p


def ident(case):
    return f"{case[0].__name__}-{case[2]}"


@pytest.mark.parametrize("case", CASES, ids=ident)
@pytest.mark.parametrize("foreach", [None, False])  # the fused call where there is one, and not
@pytest.mark.parametrize(("name", "tolerance"), [("float64", 1e-7), ("float32", 1e-4)])
def test_formula(case, foreach, name, tolerance):
    cls, formula, options = case
    if "eps" not in options and cls is optim.Adafactor and name == "float32":
        pytest.skip("its eps is the dtype's, and the formula is computed in float64")
    found = walk(cls, options, getattr(taeda, name), foreach=foreach)
    for step, (ours, wanted) in enumerate(zip(found, expected(formula, options), strict=True)):
        np.testing.assert_allclose(ours, wanted, tolerance, tolerance, err_msg=f"step {step + 1}")


@pytest.mark.parametrize("case", CASES, ids=ident)
def test_maximize_steps_the_other_way(case):
    cls, formula, options = case
    found = [*walk(cls, options, taeda.float64, maximize=True)]
    np.testing.assert_allclose(found, [*expected(formula, options, sign=-1)], 1e-7, 1e-7)


@pytest.mark.parametrize("cls", [optim.SGD, optim.Adam, optim.AdamW, optim.Adagrad])
@pytest.mark.parametrize("foreach", [None, False])
def test_complex_parameters_are_pairs(cls, foreach):
    parts = taeda.tensor([[1.0, 2.0], [-3.0, 0.5]], dtype=taeda.float64)
    pair = parts.clone().requires_grad_()
    number = taeda.view_as_complex(parts.clone()).requires_grad_()
    optimizers = [cls([p], lr=0.1, foreach=foreach) for p in (pair, number)]
    for _ in range(3):
        for p, optimizer in zip((pair, number), optimizers, strict=True):
            p.grad = p.detach() * 2
            optimizer.step()
    np.testing.assert_allclose(taeda.view_as_real(number.detach()).tolist(), pair.tolist(), 1e-12)


def test_adafactor_of_a_vector_keeps_every_square():
    found = [*walk(optim.Adafactor, {"lr": 0.1}, taeda.float64, shape=(6,))]
    p, state = START.reshape(6), {}
    for t, ours in enumerate(found, 1):
        p = adafactor(p, 2 * (p - TARGET.reshape(6)), state, t, lr=0.1)
        np.testing.assert_allclose(ours, p, 1e-7)


def test_muon_steps_along_a_nearly_orthogonal_matrix():
    param = taeda.zeros(3, 5).requires_grad_()
    optimizer = optim.Muon([param], lr=1.0, weight_decay=0, momentum=0, nesterov=False)
    generator = taeda.Generator().manual_seed(0)
    param.grad = taeda.randn(3, 5, generator=generator)
    optimizer.step()
    values = np.linalg.svd(np.array(param.tolist()), compute_uv=False)
    assert 0.5 < values.min() <= values.max() < 1.3
    u, _, v = np.linalg.svd(np.array(param.grad.tolist()), full_matrices=False)
    assert np.linalg.norm(np.array(param.tolist()) + u @ v) < 0.8


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_finds_the_bottom_of_a_valley(search):
    """Rosenbrock's function, whose minimum at (1, 1) lies at the end of a bent valley."""
    point = taeda.tensor([-1.2, 1.0], dtype=taeda.float64).requires_grad_()
    options = {"lr": 1.0 if search else 0.1, "max_iter": 200, "history_size": 10}
    optimizer = optim.LBFGS([point], line_search_fn=search, **options)

    def closure():
        optimizer.zero_grad()
        x, y = point
        loss = (1 - x) ** 2 + 100 * (y - x * x) ** 2
        loss.backward()
        return loss

    first = optimizer.step(closure).item()
    assert first == pytest.approx(24.2)
    if search:
        assert np.allclose(point.tolist(), [1.0, 1.0], atol=1e-4)
    else:
        assert closure().item() < 4.2
