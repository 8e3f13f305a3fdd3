"""Averaged stochastic gradient descent."""

from __future__ import annotations

from typing import Any, ClassVar

import taeda
from taeda import Tensor

from ._base import (
    COMMON_OPTIONS,
    Algorithm,
    Group,
    State,
    check_lr,
    check_not_negative,
    next_step,
    number,
    scalar_dtype,
    step_counter,
)
from ._formulas import add_scaled
from .optimizer import ParamsT

__all__ = ["ASGD"]


class ASGD(Algorithm):
    """Gradient descent that keeps a running average, by Polyak and Juditsky (1992).

    The rate falls as `lr / (1 + lambd * lr * t) ** alpha`; from step `t0` on the state "ax" of a
    parameter is the average of its values.

    Args:
        params: the tensors to optimise: an iterable of them, of (name, tensor) pairs, or of dicts
            with own options for each group.
        lr: the learning rate, a number or a tensor of one element, at least 0 (0.01).
        lambd: how fast the rate falls, and how strongly parameters shrink (1e-4).
        alpha: exponent of the fall (0.75).
        t0: step from which values are averaged (1e6).
        weight_decay: factor of the parameter that is added to its gradient, at least 0 (0).
        foreach: whether lists of tensors are updated together (None: chosen); the values are the
            same.
        maximize: whether steps go up the gradient instead of down (False).
        differentiable: whether a step is itself recorded for autograd (False).
        capturable: whether step counts are tensors beside the parameters, so that a graph of the
            device can record a step (False); refused where the device has none.

    >>> weight = taeda.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = ASGD([weight])
    >>> weight.square().sum().backward()
    >>> optimizer.step()
    """

    _later_options: ClassVar[dict[str, Any]] = COMMON_OPTIONS

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for entry in self.state.values():  # plain numbers in states of early versions
            for name in ("eta", "mu"):
                if isinstance(entry.get(name), (int, float)):
                    entry[name] = taeda.tensor(entry[name], dtype=scalar_dtype())

    def _start(self, param: Tensor, group: Group) -> State:
        rate = number(group["lr"])
        return {
            "step": step_counter(param, group),
            "eta": taeda.full((), rate, dtype=scalar_dtype(), device=param.device),
            "mu": taeda.ones((), dtype=scalar_dtype(), device=param.device),
            "ax": taeda.zeros_like(param),
        }

    def _update(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        t = next_step(state, group)
        eta, mu, average = state["eta"], state["mu"], state["ax"]
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        rate = eta if group["capturable"] else eta.item()
        param.mul_(1 - group["lambd"] * rate)
        add_scaled(param, grad, -rate)
        average.copy_(_mean(average, param, mu, group["capturable"]))
        lr = group["lr"] if group["capturable"] else number(group["lr"])
        _put(eta, lr / (1 + group["lambd"] * lr * t) ** group["alpha"])
        _put(mu, 1 / _at_least_one(t - group["t0"]))


def _mean(average: Tensor, param: Tensor, mu: Tensor, capturable: bool) -> Tensor:
    """The average of the values since step t0; before it, where mu is 1, the value itself."""
    if capturable:
        return taeda.where(mu == 1, param, average + (param - average) * mu)
    return param if mu.item() == 1 else average + (param - average) * mu


def _at_least_one(x: Any) -> Any:
    return x.clamp(min=1) if isinstance(x, Tensor) else max(1, x)


def _put(to: Tensor, value: Any) -> None:
    if isinstance(value, Tensor):
        to.copy_(value)
    else:
        to.fill_(value)
