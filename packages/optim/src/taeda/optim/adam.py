"""Adam: steps scaled by running means of the gradient and of its square."""

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
    check_implementation,
    check_lr,
    check_not_negative,
    count_steps,
    next_step,
    number,
    step_counter,
    uncount_steps,
)
from ._formulas import add_ratio, decayed, first_moments, next_moments
from .optimizer import ParamsT

__all__ = ["Adam"]


class Adam(Algorithm):
    """Adam, by Kingma and Ba (arXiv:1412.6980).

    With `amsgrad` the divisor never shrinks. Weight decay is added to the gradient, or with
    `decoupled_weight_decay` applied to the parameter itself (that is AdamW).

    Args:
        params: the tensors to optimise: an iterable of them, of (name, tensor) pairs, or of dicts
            with own options for each group.
        lr: the learning rate, a number or a tensor of one element, at least 0 (0.001).
        betas: decay rates of the means of gradients and of their squares, both in [0, 1) (0.9,
            0.999); two numbers or two tensors of one element.
        eps: added to the divisor, at least 0 (1e-8).
        weight_decay: factor of the parameter that is added to its gradient, at least 0 (0).
        amsgrad: whether the divisor is the largest so far, by Reddi and others (arXiv:1904.09237)
            (False).
        foreach: whether lists of tensors are updated together (None: chosen); the values are the
            same.
        maximize: whether steps go up the gradient instead of down (False).
        capturable: whether step counts are tensors beside the parameters, so that a graph of the
            device can record a step (False); refused where the device has none.
        differentiable: whether a step is itself recorded for autograd (False).
        fused: whether one kernel does the whole step (None: chosen); not together with `foreach`.
        decoupled_weight_decay: whether the decay multiplies the parameter by 1 - lr · weight_decay
            instead of changing the gradient (False).

    >>> weight = taeda.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = Adam([weight], lr=0.1)
    >>> weight.square().sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    tensor([ 0.9000, -1.9000])
    """

    _sparse_advice = ", please consider SparseAdam instead"
    _later_options: ClassVar[dict[str, Any]] = {
        **COMMON_OPTIONS,
        "amsgrad": False,
        "decoupled_weight_decay": False,
        "fused": None,
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_lr(lr, foreach=foreach, capturable=capturable)
        check_not_negative(epsilon=eps, weight_decay=weight_decay)
        check_betas(betas)
        _check_beta_tensors(betas, foreach, capturable)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        check_implementation(foreach, fused, differentiable)
        self._step_supports_amp_scaling = bool(fused)

    def _start(self, param: Tensor, group: Group) -> State:
        state = {
            "step": step_counter(param, group),
            **first_moments(param),
        }
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = taeda.zeros_like(param)
        return state

    def _update(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        t = next_step(state, group)
        lr, (beta1, beta2) = group["lr"], group["betas"]
        if group["weight_decay"] != 0:
            grad = decayed(param, grad, group)
        mean, square = next_moments(state, grad, beta1, beta2)
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            pair = (largest, square)
            if group["differentiable"]:  # the graph keeps both, and both are written to later
                pair = (largest.clone(), square.clone())
            square = largest.copy_(taeda.maximum(*pair))
        divisor = (square.sqrt() / (1 - beta2**t) ** 0.5).add_(group["eps"])
        add_ratio(param, mean, divisor, -lr / (1 - beta1**t))

    def _fused_update(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> bool:
        steps = [state["step"] for state in states]
        if group["capturable"] and not _numbers_are_here(group, steps):
            return False
        amsgrad = group["amsgrad"]
        beta1, beta2 = group["betas"]
        found_inf = getattr(self, "found_inf", None)
        operation = taeda._fused_adamw_ if group["decoupled_weight_decay"] else taeda._fused_adam_
        count_steps(steps)
        operation(
            params,
            grads,
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [state["max_exp_avg_sq"] for state in states] if amsgrad else [],
            steps,
            lr=number(group["lr"]),
            beta1=number(beta1),
            beta2=number(beta2),
            weight_decay=number(group["weight_decay"]),
            eps=group["eps"],
            amsgrad=amsgrad,
            maximize=group["maximize"],
            grad_scale=getattr(self, "grad_scale", None),
            found_inf=found_inf,
        )
        if found_inf is not None:  # a step left out is not counted
            uncount_steps(steps, found_inf)
        return True


def _numbers_are_here(group: Group, steps: list[Tensor]) -> bool:
    """Whether the fused step of a capturable group reads counters only, and those on the device."""
    numbers = (group["lr"], *group["betas"], group["weight_decay"])
    return not any(isinstance(x, Tensor) for x in numbers) and all(
        step.dtype == taeda.float32 and step.device.type != "cpu" for step in steps
    )


def _check_beta_tensors(betas: Any, foreach: bool | None, capturable: bool) -> None:
    tensors = [isinstance(beta, Tensor) for beta in betas]
    if any(tensors) and not all(tensors):
        raise ValueError("betas must be either both floats or both Tensors")
    for i, beta in enumerate(betas):
        if not isinstance(beta, Tensor):
            continue
        if foreach and not capturable:
            raise ValueError(
                f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True"
            )
        if beta.numel() != 1:
            raise ValueError(f"Tensor betas[{i}] must be 1-element, got shape {tuple(beta.shape)}")
