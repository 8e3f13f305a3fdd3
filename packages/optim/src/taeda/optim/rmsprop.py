"""RMSprop: steps divided by the root of a running mean of squared gradients."""

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
    count_step,
    step_counter,
)
from ._formulas import add_ratio, add_scaled, add_square
from .optimizer import ParamsT

__all__ = ["RMSprop"]


class RMSprop(Algorithm):
    """RMSprop, by Hinton (2012); `centered` divides by an estimate of the variance instead.

    The root is taken before `eps` is added.

    Args:
        params: the tensors to optimise: an iterable of them, of (name, tensor) pairs, or of dicts
            with own options for each group.
        lr: the learning rate, a number or a tensor of one element, at least 0 (0.01).
        alpha: decay of the mean of squares, at least 0 (0.99).
        eps: added to the divisor, at least 0 (1e-8).
        weight_decay: factor of the parameter that is added to its gradient, at least 0 (0).
        momentum: factor of the former step, at least 0 (0).
        centered: whether the squared mean of the gradients is subtracted from the mean of squares
            (False).
        capturable: whether step counts are tensors beside the parameters, so that a graph of the
            device can record a step (False); refused where the device has none.
        foreach: whether lists of tensors are updated together (None: chosen); the values are the
            same.
        maximize: whether steps go up the gradient instead of down (False).
        differentiable: whether a step is itself recorded for autograd (False).

    >>> weight = taeda.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = RMSprop([weight])
    >>> weight.square().sum().backward()
    >>> optimizer.step()
    """

    _later_options: ClassVar[dict[str, Any]] = {
        **COMMON_OPTIONS,
        "momentum": 0,
        "centered": False,
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _start(self, param: Tensor, group: Group) -> State:
        state = {"step": step_counter(param, group), "square_avg": taeda.zeros_like(param)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = taeda.zeros_like(param)
        if group["centered"]:
            state["grad_avg"] = taeda.zeros_like(param)
        return state

    def _update(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        count_step(state)
        lr, alpha = group["lr"], group["alpha"]
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        square = state["square_avg"]
        add_square(square.mul_(alpha), grad, 1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(grad, 1 - alpha)
            square = square - mean * mean
        divisor = square.sqrt() + group["eps"]
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]
            add_ratio(buffer.mul_(group["momentum"]), grad, divisor, 1)
            add_scaled(param, buffer, -lr)
        else:
            add_ratio(param, grad, divisor, -lr)
