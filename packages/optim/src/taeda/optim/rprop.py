"""Rprop: step lengths that grow while the sign of the gradient stays, and shrink when it turns."""

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
    count_step,
    number,
    step_counter,
)
from .optimizer import ParamsT

__all__ = ["Rprop"]


class Rprop(Algorithm):
    """Resilient backpropagation, by Riedmiller and Braun (1993). Meant for full batches.

    Only the signs of gradients count. A step length is multiplied by `etas[1]` where the sign is
    that of the step before, by `etas[0]` where it is the other one (there the parameter stays), and
    kept within `step_sizes`.

    Args:
        params: the tensors to optimise: an iterable of them, of (name, tensor) pairs, or of dicts
            with own options for each group.
        lr: the first step length, a number or a tensor of one element, at least 0 (0.01).
        etas: factors that shorten and lengthen steps, 0 < etas[0] < 1 < etas[1] (0.5, 1.2).
        step_sizes: shortest and longest step (1e-6, 50).
        capturable: whether step counts are tensors beside the parameters, so that a graph of the
            device can record a step (False); refused where the device has none.
        foreach: whether lists of tensors are updated together (None: chosen); the values are the
            same.
        maximize: whether steps go up the gradient instead of down (False).
        differentiable: whether a step is itself recorded for autograd (False).

    >>> weight = taeda.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = Rprop([weight])
    >>> weight.square().sum().backward()
    >>> optimizer.step()
    """

    _later_options: ClassVar[dict[str, Any]] = COMMON_OPTIONS

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(
                f"Invalid eta values: {etas[0]}, {etas[1]}, they must lie below and above 1"
            )
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _start(self, param: Tensor, group: Group) -> State:
        length = number(group["lr"])
        first = complex(length, length) if param.is_complex() else length
        return {
            "step": step_counter(param, group),
            "prev": taeda.zeros_like(param),
            "step_size": taeda.full_like(param, first),
        }

    def _update(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        count_step(state)
        previous, length = state["prev"], state["step_size"]
        shrink, grow = group["etas"]
        agreement = grad * previous
        turned = agreement < 0
        factor = taeda.ones_like(grad).masked_fill(agreement > 0, grow).masked_fill(turned, shrink)
        shortest, longest = group["step_sizes"]
        length.copy_((length * factor).clamp(shortest, longest))
        grad = grad.masked_fill(turned, 0)
        param.addcmul_(grad.sign(), length, value=-1)
        previous.copy_(grad)
