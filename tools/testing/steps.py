"""An optimizer against its formula: a test file gives the formula in numpy, and inherits what every
algorithm has to hold.

    def sgd(p, g, s, t, *, lr=1e-3): return p - lr * g

    class TestSGD(Steps):
        algorithm, formula = optim.SGD, staticmethod(sgd)
        cases = ({}, {"lr": 0.1})

A formula is a function (parameter, gradient, state, number of the step, **options) -> new
parameter; it keeps what it needs in the dict `state`.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

import taeda

__all__ = ["START", "TARGET", "Steps", "decoupled", "expected", "means", "walk"]

STEPS = 12
START = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, -1.5]])
TARGET = np.array([[0.5, 1.0, 0.25], [-1.0, 2.0, -2.0]])


def means(g: Any, s: dict[str, Any], betas: tuple[float, float]) -> tuple[Any, Any]:
    """Running means of the gradient and of its square."""
    s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
    s["v"] = betas[1] * s.get("v", 0) + (1 - betas[1]) * g * g
    return s["m"], s["v"]


def decoupled(p: Any, g: Any, lr: float, weight_decay: float, apart: bool) -> tuple[Any, Any]:
    """Weight decay of the parameter itself, or added to the gradient."""
    return (p * (1 - lr * weight_decay), g) if apart else (p, g + weight_decay * p)


def walk(
    cls: Any,
    options: dict[str, Any],
    dtype: Any = taeda.float64,
    shape: Any = START.shape,
    **flags: Any,
) -> Iterator[np.ndarray]:
    """The values after each step of the optimizer, on the square of the distance to TARGET."""
    param = taeda.tensor(START.reshape(shape), dtype=dtype).requires_grad_()
    optimizer = cls([param], **options, **flags)
    target = taeda.tensor(TARGET.reshape(shape), dtype=dtype)
    for _ in range(STEPS):
        param.grad = (param.detach() - target) * 2
        optimizer.step()
        yield np.array(param.tolist())


def expected(
    formula: Callable[..., Any], options: dict[str, Any], sign: int = 1
) -> Iterator[np.ndarray]:
    """The values after each step by the formula."""
    p, state = START, {}
    for t in range(1, STEPS + 1):
        p = formula(p, sign * 2 * (p - TARGET), state, t, **options)
        yield p


def quadratic(values: Iterable[float]) -> Any:
    return taeda.tensor(list(values), dtype=taeda.float64).requires_grad_()


def advance(optimizer: Any, params: list[Any], steps: int) -> list[list[float]]:
    for _ in range(steps):
        for p in params:
            p.grad = p.detach() * 2 - 1
        optimizer.step()
    return [p.tolist() for p in params]


class Steps:
    """What every algorithm that updates each parameter by itself has to hold."""

    algorithm: ClassVar[Any]
    formula: ClassVar[Callable[..., Any]]
    #: options of one test case each
    cases: ClassVar[Iterable[dict[str, Any]]] = ({},)
    #: options that are refused, and what the message says
    refused: ClassVar[Iterable[tuple[dict[str, Any], str]]] = ()
    #: whether a step has a derivative by its gradient
    smooth: ClassVar[bool] = True
    #: what float32 cannot follow, as its epsilon is that of the dtype
    only_double: ClassVar[Iterable[dict[str, Any]]] = ()

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """One test for each case."""
        if "options" in metafunc.fixturenames:
            metafunc.parametrize("options", list(self.cases), ids=str)

    def takes(self, flag: str) -> bool:
        return flag in inspect.signature(self.algorithm.__init__).parameters

    def flags(self) -> list[dict[str, Any]]:
        every = [{}, {"foreach": False}, {"foreach": True}, {"fused": True}, {"fused": False}]
        return [flag for flag in every if all(self.takes(name) for name in flag)]

    @pytest.mark.parametrize(("name", "tolerance"), [("float64", 1e-7), ("float32", 1e-4)])
    def test_formula(self, options, name, tolerance):
        """Whichever implementation is asked for."""
        if name == "float32" and options in self.only_double:
            return
        wanted = list(expected(type(self).formula, options))
        for flags in self.flags():
            found = list(walk(self.algorithm, options, getattr(taeda, name), **flags))
            np.testing.assert_allclose(found, wanted, tolerance, tolerance, err_msg=str(flags))

    def test_maximize_steps_the_other_way(self, options):
        wanted = list(expected(type(self).formula, options, sign=-1))
        np.testing.assert_allclose(
            list(walk(self.algorithm, options, maximize=True)), wanted, 1e-7, 1e-7
        )

    def test_a_saved_state_goes_on(self, options):
        """In an optimizer that was made with other options, bit for bit."""
        whole = quadratic([1.0, -2.0])
        wanted = advance(self.algorithm([whole], **options), [whole], 6)
        first = quadratic([1.0, -2.0])
        optimizer = self.algorithm([first], **options)
        advance(optimizer, [first], 3)
        second = first.detach().clone().requires_grad_()
        fresh = self.algorithm([second], lr=0.7)
        fresh.load_state_dict(copy.deepcopy(optimizer.state_dict()))
        assert advance(fresh, [second], 3) == wanted

    def test_groups_have_their_own_options(self, options):
        one, two = quadratic([1.0, -2.0]), quadratic([0.5, 3.0])
        both = self.algorithm(
            [{"params": [one], "lr": 0.03}, {"params": two}], **{**options, "lr": 0.2}
        )
        together = advance(both, [one, two], 4)
        apart = []
        for values, lr in (([1.0, -2.0], 0.03), ([0.5, 3.0], 0.2)):
            alone = quadratic(values)
            apart += advance(self.algorithm([alone], **{**options, "lr": lr}), [alone], 4)
        assert together == apart

    def test_a_closure_computes_the_gradient(self):
        p, q = quadratic([3.0]), quadratic([3.0])
        optimizer, plain = self.algorithm([p], lr=0.1), self.algorithm([q], lr=0.1)

        def closure():
            optimizer.zero_grad()
            loss = (p * p).sum()
            loss.backward()
            return loss

        with taeda.no_grad():
            assert optimizer.step(closure).item() == 9.0
        q.grad = 2 * q.detach()
        assert plain.step() is None
        assert p.tolist() == q.tolist() != [3.0]

    def test_capturable_steps_want_an_accelerator(self):
        if not self.takes("capturable"):
            with pytest.raises(TypeError, match="capturable"):
                self.algorithm([quadratic([1.0])], capturable=True)
            return
        p = quadratic([1.0])
        optimizer = self.algorithm([p], capturable=True)
        p.grad = taeda.ones_like(p.detach())
        with pytest.raises(AssertionError, match="capturable=True"):
            optimizer.step()

    def test_implementations_exclude_one_another(self):
        p = quadratic([1.0])
        if not self.takes("fused"):
            with pytest.raises(TypeError, match="fused"):
                self.algorithm([p], fused=True)
            return
        with pytest.raises(RuntimeError, match="together"):
            self.algorithm([p], foreach=True, fused=True)
        with pytest.raises(RuntimeError, match="`differentiable`"):
            self.algorithm([p], differentiable=True, fused=True)

    def test_steps_can_be_differentiated(self, options):
        """By the scale of the gradients, against differences."""
        if not self.takes("differentiable"):
            with pytest.raises(TypeError, match="differentiable"):
                self.algorithm([quadratic([1.0])], differentiable=True)
            return

        def stepped(scale: Any) -> Any:
            param = taeda.ones(2, dtype=taeda.float64).requires_grad_().clone()
            optimizer = self.algorithm([param], differentiable=True, **options)
            for _ in range(3):
                param.grad = param.clone() * scale
                optimizer.step()
            return param.sum()

        scale = taeda.tensor(0.7, dtype=taeda.float64).requires_grad_()
        (found,) = taeda.autograd.grad(stepped(scale), [scale])
        assert found.isfinite()
        if self.smooth:
            with taeda.no_grad():
                wanted = (stepped(scale + 1e-6).item() - stepped(scale - 1e-6).item()) / 2e-6
            np.testing.assert_allclose(found.item(), wanted, 1e-4, 1e-6)

    def test_refused_options(self):
        always = [
            ({"lr": -1.0}, "earning rate.*-1"),
            ({"lr": float("nan")}, "earning rate.*nan"),
            ({"lr": taeda.ones(2)}, "1-element"),
        ]
        for options, fact in (*always, *self.refused):
            with pytest.raises(ValueError, match=fact):
                self.algorithm([quadratic([1.0])], **options)

    def test_a_rate_as_a_tensor(self):
        p, q = quadratic([1.0, 2.0]), quadratic([1.0, 2.0])
        number = advance(self.algorithm([p], lr=0.25), [p], 3)
        rate = taeda.tensor(0.25, dtype=taeda.float64)
        np.testing.assert_allclose(advance(self.algorithm([q], lr=rate), [q], 3), number, 1e-12)
