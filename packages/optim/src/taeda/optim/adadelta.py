"""Adadelta: step lengths from running means of squared gradients and squared steps."""

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
from ._formulas import add_scaled, add_square
from .optimizer import ParamsT

__all__ = ["Adadelta"]


class Adadelta(Algorithm):
    """Adadelta, by Zeiler (arXiv:1212.5701).

    A step is the gradient times sqrt(mean of squared steps) / sqrt(mean of squared gradients), both
    means with the decay `rho`, times `lr`.

    Args:
        params: the tensors to optimise: an iterable of them, of (name, tensor) pairs, or of dicts
            with own options for each group.
        lr: factor of each step, a number or a tensor of one element, at least 0 (1).
        rho: decay of both means, in [0, 1] (0.9).
        eps: added to both means before the root, at least 0 (1e-6).
        weight_decay: factor of the parameter that is added to its gradient, at least 0 (0).
        foreach: whether lists of tensors are updated together (None: chosen); the values are the
            same.
        capturable: whether step counts are tensors beside the parameters, so that a graph of the
            device can record a step (False); refused where the device has none.
        maximize: whether steps go up the gradient instead of down (False).
        differentiable: whether a step is itself recorded for autograd (False).

    >>> weight = taeda.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = Adadelta([weight])
    >>> weight.square().sum().backward()
    >>> optimizer.step()
    """

    _later_options: ClassVar[dict[str, Any]] = COMMON_OPTIONS

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}, it must lie in [0, 1]")
        check_not_negative(epsilon=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _start(self, param: Tensor, group: Group) -> State:
        return {
            "step": step_counter(param, group),
            "square_avg": taeda.zeros_like(param),
            "acc_delta": taeda.zeros_like(param),
        }

    def _update(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        count_step(state)
        rho, eps = group["rho"], group["eps"]
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        squares, deltas = state["square_avg"], state["acc_delta"]
        add_square(squares.mul_(rho), grad, 1 - rho)
        delta = (deltas + eps).sqrt() / (squares + eps).sqrt() * grad
        add_square(deltas.mul_(rho), delta, 1 - rho)
        lr = group["lr"]
        add_scaled(param, delta, -lr)
