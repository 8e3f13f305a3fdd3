"""L-BFGS."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda import optim


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


def test_lbfgs_wants_a_closure():
    param = taeda.ones(2).requires_grad_()
    param.grad = taeda.full((2,), 0.5)
    with pytest.raises(TypeError, match="closure"):
        optim.LBFGS([param]).step()
    with pytest.raises(RuntimeError, match="strong_wolfe"):
        optim.LBFGS([param], line_search_fn="golden").step(lambda: taeda.tensor(1.0))


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_a_square_is_solved_at_once(search):
    """Of n variables in about n iterations, as conjugate gradients would."""
    matrix = taeda.tensor([[3.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]], dtype=taeda.float64)
    wanted = taeda.tensor([1.0, -2.0, 0.5], dtype=taeda.float64)
    x = taeda.zeros(3, dtype=taeda.float64).requires_grad_()
    optimizer = optim.LBFGS([x], lr=1.0 if search else 0.5, max_iter=60, line_search_fn=search)

    def closure():
        optimizer.zero_grad()
        gap = x - wanted
        loss = gap @ matrix @ gap / 2
        loss.backward()
        return loss

    optimizer.step(closure)
    np.testing.assert_allclose(x.tolist(), wanted.tolist(), atol=1e-4)


def test_iterations_and_evaluations_are_bounded():
    calls = []
    x = taeda.tensor([-1.2, 1.0], dtype=taeda.float64).requires_grad_()
    optimizer = optim.LBFGS([x], lr=1e-3, max_iter=50, max_eval=7)

    def closure():
        optimizer.zero_grad()
        calls.append(1)
        loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
        loss.backward()
        return loss

    optimizer.step(closure)
    assert len(calls) <= 7
    (state,) = optimizer.state_dict()["state"].values()
    assert state["func_evals"] == len(calls)


def test_refusals():
    p, q = taeda.ones(2).requires_grad_(), taeda.ones(2).requires_grad_()
    with pytest.raises(ValueError, match="groups"):
        optim.LBFGS([{"params": [p]}, {"params": [q]}])
    with pytest.raises(ValueError, match="learning rate: -1"):
        optim.LBFGS([p], lr=-1.0)
