"""Adamax: Adam with the largest recent gradient in place of a mean of squares."""

from __future__ import annotations

from typing import Any, ClassVar

import taeda
from taeda import Tensor

from ._base import (
    COMMON_OPTIONS,
    Algorithm,
    Group,
    State,
    check_betas,
    check_lr,
    check_not_negative,
    next_step,
    step_counter,
)
from ._formulas import add_ratio
from .optimizer import ParamsT

__all__ = ["Adamax"]


class Adamax(Algorithm):
    """Adamax, the variant of Adam with the infinity norm, by Kingma and Ba (arXiv:1412.6980).

    Args:
        params: the tensors to optimise: an iterable of them, of (name, tensor) pairs, or of dicts
            with own options for each group.
        lr: the learning rate, a number or a tensor of one element, at least 0 (0.002).
        betas: decay rates of the mean of gradients and of their infinity norm, both in [0, 1) (0.9,
            0.999).
        eps: added to the divisor, at least 0 (1e-8).
        weight_decay: factor of the parameter that is added to its gradient, at least 0 (0).
        foreach: whether lists of tensors are updated together (None: chosen); the values are the
            same.
        maximize: whether steps go up the gradient instead of down (False).
        differentiable: whether a step is itself recorded for autograd (False).
        capturable: whether step counts are tensors beside the parameters, so that a graph of the
            device can record a step (False); refused where the device has none.

    >>> weight = taeda.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = Adamax([weight])
    >>> weight.square().sum().backward()
    >>> optimizer.step()
    """

    _later_options: ClassVar[dict[str, Any]] = COMMON_OPTIONS

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(epsilon=eps, weight_decay=weight_decay)
        check_betas(betas)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _start(self, param: Tensor, group: Group) -> State:
        return {
            "step": step_counter(param, group),
            "exp_avg": taeda.zeros_like(param),
            "exp_inf": taeda.zeros_like(param),
        }

    def _update(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        t = next_step(state, group)
        beta1, beta2 = group["betas"]
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        mean, largest = state["exp_avg"], state["exp_inf"]
        mean.lerp_(grad, 1 - beta1)
        largest.copy_(taeda.maximum(largest * beta2, grad.abs() + group["eps"]))
        rate = group["lr"] / (1 - beta1**t)
        add_ratio(param, mean, largest, -rate)
