"""Adagrad: steps divided by the root of the sum of all squared gradients."""

from __future__ import annotations

from typing import Any, ClassVar

import taeda
from taeda import Tensor

from ._base import (
    Algorithm,
    Group,
    State,
    check_implementation,
    check_lr,
    check_not_negative,
    count_steps,
    next_step,
    number,
    sparse,
    step_counter,
    uncount_steps,
)
from ._formulas import add_ratio, add_square
from .optimizer import ParamsT

__all__ = ["Adagrad"]


class Adagrad(Algorithm):
    """Adagrad, by Duchi, Hazan and Singer (2011). Takes sparse gradients too.

    The learning rate of step t is `lr / (1 + (t - 1) * lr_decay)`.

    Args:
        params: the tensors to optimise: an iterable of them, of (name, tensor) pairs, or of dicts
            with own options for each group.
        lr: the learning rate, a number or a tensor of one element, at least 0 (0.01).
        lr_decay: how fast the rate falls, at least 0 (0).
        weight_decay: factor of the parameter that is added to its gradient, at least 0 (0).
        initial_accumulator_value: what the sums of squares start from, at least 0 (0).
        eps: added to the divisor, at least 0 (1e-10).
        foreach: whether lists of tensors are updated together (None: chosen); the values are the
            same.
        maximize: whether steps go up the gradient instead of down (False).
        differentiable: whether a step is itself recorded for autograd (False).
        fused: whether one kernel does the whole step (None: chosen); not together with `foreach`.

    >>> weight = taeda.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = Adagrad([weight])
    >>> weight.square().sum().backward()
    >>> optimizer.step()
    """

    _later_options: ClassVar[dict[str, Any]] = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "fused": None,
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative(
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            epsilon=eps,
        )
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_implementation(foreach, fused, differentiable)
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param] = self._start(param, group)

    def _start(self, param: Tensor, group: Group) -> State:
        value = group["initial_accumulator_value"]
        start = complex(value, value) if param.is_complex() else value
        return {"step": step_counter(param, group), "sum": taeda.full_like(param, start)}

    def share_memory(self) -> None:
        """Move the sums to memory that other processes can see."""
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param]["sum"].share_memory_()

    def _update(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        rate = _rate(next_step(state, group), group)
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        total = state["sum"]
        add_square(total, grad, 1)
        add_ratio(param, grad, total.sqrt() + group["eps"], -rate)

    def _update_sparse(self, param: Tensor, grad: Any, state: State, group: Group) -> None:
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        rate = _rate(next_step(state, group), group)
        grad = grad.coalesce()
        places, values = grad._indices(), grad._values()
        if values.numel() == 0:
            return
        total = state["sum"]
        total.add_(sparse(places, values.square(), grad.shape))
        reached = total.sparse_mask(grad)._values().sqrt() + group["eps"]
        step = sparse(places, values / reached, grad.shape)
        param.add_(step, alpha=-number(rate))

    def _fused_update(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> bool:
        steps = [state["step"] for state in states]
        found_inf = getattr(self, "found_inf", None)
        count_steps(steps)
        taeda._fused_adagrad_(
            params,
            grads,
            [state["sum"] for state in states],
            steps,
            lr=number(group["lr"]),
            lr_decay=group["lr_decay"],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            maximize=group["maximize"],
            grad_scale=getattr(self, "grad_scale", None),
            found_inf=found_inf,
        )
        if found_inf is not None:  # a step left out is not counted
            uncount_steps(steps, found_inf)
        return True


def _rate(t: float, group: Group) -> Any:
    return group["lr"] / (1 + (t - 1) * group["lr_decay"])
