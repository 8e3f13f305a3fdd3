"""Pieces of the formulas of several algorithms: weight decay, running means, scaled sums."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

__all__ = [
    "add_ratio",
    "add_scaled",
    "add_square",
    "decayed",
    "first_moments",
    "next_moments",
]


def decayed(param: Tensor, grad: Tensor, group: dict[str, Any]) -> Tensor:
    """The gradient with weight decay added; decoupled decay shrinks the parameter instead."""
    if group["decoupled_weight_decay"]:
        param.mul_(1 - group["lr"] * group["weight_decay"])
        return grad
    return grad.add(param, alpha=group["weight_decay"])


def first_moments(param: Tensor) -> dict[str, Tensor]:
    """The running means of a gradient and of its square before the first step: zeros."""
    return {"exp_avg": taeda.zeros_like(param), "exp_avg_sq": taeda.zeros_like(param)}


def next_moments(
    state: dict[str, Any], grad: Tensor, beta1: Any, beta2: Any
) -> tuple[Tensor, Tensor]:
    """Take a gradient into both running means, and return them; they do not know the step yet."""
    mean, square = state["exp_avg"], state["exp_avg_sq"]
    mean.lerp_(grad, 1 - beta1)
    add_square(square.mul_(beta2), grad, 1 - beta2)
    return mean, square


def add_square(total: Tensor, x: Tensor, weight: Any) -> None:
    """total += weight * x * x, where the weight may be a tensor."""
    if isinstance(weight, Tensor):
        total.add_(x * x * weight)
    else:
        total.addcmul_(x, x, value=weight)


def add_ratio(param: Tensor, above: Tensor, below: Tensor, scale: Any) -> None:
    """param += scale * above / below, where the scale may be a tensor."""
    if isinstance(scale, Tensor):
        param.add_(scale * above / below)
    else:
        param.addcdiv_(above, below, value=scale)


def add_scaled(param: Tensor, update: Tensor, scale: Any) -> None:
    """param += scale * update, where the scale may be a tensor (that may want a gradient)."""
    if isinstance(scale, Tensor):
        param.add_(scale * update)
    else:
        param.add_(update, alpha=scale)
