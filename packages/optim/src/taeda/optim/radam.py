"""RAdam: Adam that waits with its division until the variance of the divisor is known."""

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
from ._formulas import add_scaled, decayed, first_moments, next_moments
from .optimizer import ParamsT

__all__ = ["RAdam"]


class RAdam(Algorithm):
    """Rectified Adam, by Liu and others (arXiv:1908.03265).

    In the first steps, while too few gradients were seen, it is plain momentum.

    Args:
        params: the tensors to optimise: an iterable of them, of (name, tensor) pairs, or of dicts
            with own options for each group.
        lr: the learning rate, a number or a tensor of one element, at least 0 (0.001).
        betas: decay rates of the means of gradients and of their squares, both in [0, 1) (0.9,
            0.999).
        eps: added to the divisor, at least 0 (1e-8).
        weight_decay: factor of the parameter that is added to its gradient, at least 0 (0).
        decoupled_weight_decay: whether the decay multiplies the parameter by 1 - lr · weight_decay
            instead of changing the gradient (False).
        foreach: whether lists of tensors are updated together (None: chosen); the values are the
            same.
        maximize: whether steps go up the gradient instead of down (False).
        capturable: whether step counts are tensors beside the parameters, so that a graph of the
            device can record a step (False); refused where the device has none.
        differentiable: whether a step is itself recorded for autograd (False).

    >>> weight = taeda.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = RAdam([weight])
    >>> weight.square().sum().backward()
    >>> optimizer.step()
    """

    _later_options: ClassVar[dict[str, Any]] = {**COMMON_OPTIONS, "decoupled_weight_decay": False}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(epsilon=eps, weight_decay=weight_decay)
        check_betas(betas)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _start(self, param: Tensor, group: Group) -> State:
        return {
            "step": step_counter(param, group),
            **first_moments(param),
        }

    def _update(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        t = next_step(state, group)
        lr, (beta1, beta2) = group["lr"], group["betas"]
        if group["weight_decay"] != 0:
            grad = decayed(param, grad, group)
        mean, square = next_moments(state, grad, beta1, beta2)
        update = mean / (1 - beta1**t)
        adaptive = (1 - beta2**t) ** 0.5 / (square.sqrt() + group["eps"])
        add_scaled(param, _rectified(update, adaptive, t, beta2), -lr)


def _rectified(update: Tensor, adaptive: Tensor, t: Any, beta2: float) -> Tensor:
    """The update, divided as in Adam from the step on at which the variance of the divisor is known."""
    longest = 2 / (1 - beta2) - 1  # length of the average in the long run
    length = longest - 2 * t * beta2**t / (1 - beta2**t)
    if not isinstance(t, Tensor):
        return (
            update * adaptive * _rectification(length, longest) ** 0.5 if length > 5.0 else update
        )
    rectified = update * adaptive * _rectification(length, longest).sqrt()
    return taeda.where(length > 5.0, rectified, update)


def _rectification(length: Any, longest: float) -> Any:
    above = (length - 4) * (length - 2) * longest
    return above / ((longest - 4) * (longest - 2) * length)
