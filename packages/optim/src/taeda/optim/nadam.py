"""NAdam: Adam with Nesterov's look ahead."""

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
    scalar_dtype,
    step_counter,
)
from ._formulas import add_ratio, decayed, first_moments, next_moments
from .optimizer import ParamsT

__all__ = ["NAdam"]


class NAdam(Algorithm):
    """Adam with Nesterov momentum, by Dozat (2016).

    The momentum of step t is `beta1 * (1 - 0.96 ** (t * momentum_decay) / 2)`.

    Args:
        params: the tensors to optimise: an iterable of them, of (name, tensor) pairs, or of dicts
            with own options for each group.
        lr: the learning rate, a number or a tensor of one element, at least 0 (0.002).
        betas: decay rates of the means of gradients and of their squares, both in [0, 1) (0.9,
            0.999).
        eps: added to the divisor, at least 0 (1e-8).
        weight_decay: factor of the parameter that is added to its gradient, at least 0 (0).
        momentum_decay: how fast the momentum reaches beta1, at least 0 (0.004).
        decoupled_weight_decay: whether the decay multiplies the parameter by 1 - lr · weight_decay
            instead of changing the gradient (False).
        foreach: whether lists of tensors are updated together (None: chosen); the values are the
            same.
        maximize: whether steps go up the gradient instead of down (False).
        capturable: whether step counts are tensors beside the parameters, so that a graph of the
            device can record a step (False); refused where the device has none.
        differentiable: whether a step is itself recorded for autograd (False).

    >>> weight = taeda.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = NAdam([weight])
    >>> weight.square().sum().backward()
    >>> optimizer.step()
    """

    _later_options: ClassVar[dict[str, Any]] = {**COMMON_OPTIONS, "decoupled_weight_decay": False}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(epsilon=eps, weight_decay=weight_decay, momentum_decay=momentum_decay)
        check_betas(betas)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for entry in self.state.values():  # a plain number in states of early versions
            if isinstance(entry.get("mu_product"), (int, float)):
                entry["mu_product"] = taeda.tensor(entry["mu_product"], dtype=scalar_dtype())

    def _start(self, param: Tensor, group: Group) -> State:
        step = step_counter(param, group)
        return {
            "step": step,
            "mu_product": taeda.ones_like(step),
            **first_moments(param),
        }

    def _update(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        t = next_step(state, group)
        lr, (beta1, beta2) = group["lr"], group["betas"]
        if group["weight_decay"] != 0:
            grad = decayed(param, grad, group)
        momentum, following = (
            beta1 * (1.0 - 0.5 * 0.96 ** (n * group["momentum_decay"])) for n in (t, t + 1)
        )
        state["mu_product"].mul_(momentum)
        product = state["mu_product"] if group["capturable"] else state["mu_product"].item()
        mean, square = next_moments(state, grad, beta1, beta2)
        divisor = (square / (1 - beta2**t)).sqrt() + group["eps"]
        add_ratio(param, grad, divisor, -lr * (1.0 - momentum) / (1.0 - product))
        add_ratio(param, mean, divisor, -lr * following / (1.0 - product * following))
